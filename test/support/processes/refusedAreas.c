/*
 * Functions in front of the C library's, for User Mode Linux: a host whose processor has the state of AMX, on one that has not. It refuses
 * an area of PTRACE_SETREGSET, NT_X86_XSTATE, that is smaller than 11008 bytes. With UNFILLED, ptrace() is the plain system call too;
 * otherwise scripts/vm/ptraceArea.c must stand in front.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { STATE_BYTES = 11008 };

static long raw(long number, const long *a) {
  register long r10 __asm__("r10") = a[3];
  register long r8 __asm__("r8") = a[4];
  register long r9 __asm__("r9") = a[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
  va_end(rest);
  static size_t real; /* bytes of the state of this machine's processor */
  struct iovec *area = (struct iovec *)a[3];
  if (number != SYS_ptrace || a[2] != NT_X86_XSTATE) return raw(number, a);
  if (a[0] == PTRACE_GETREGSET && area->iov_len >= STATE_BYTES) {
    long result = raw(number, a);
    real = area->iov_len;
    if (real >= STATE_BYTES) return result;
    memset((char *)area->iov_base + real, 0, STATE_BYTES - real);
    area->iov_len = STATE_BYTES;
    return result;
  }
  if (a[0] != PTRACE_SETREGSET) return raw(number, a);
  if (area->iov_len < STATE_BYTES) {
    errno = EFAULT;
    return -1;
  }
  struct iovec shorter = {area->iov_base, real};
  a[3] = (long)&shorter;
  return raw(number, a);
}

#ifdef UNFILLED
long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  long pid = va_arg(rest, long);
  void *address = va_arg(rest, void *);
  void *data = va_arg(rest, void *);
  va_end(rest);
  long word = 0;
  int reads = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
  long result = syscall(SYS_ptrace, request, pid, address, reads ? &word : data, 0, 0);
  return result < 0 || !reads ? result : word;
}
#endif
