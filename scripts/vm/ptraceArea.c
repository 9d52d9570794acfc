/*
 * ptrace() in front of the C library's, for User Mode Linux before 6.16.
 *
 * Such a kernel sets the extended state of its processes (PTRACE_SETREGSET, NT_X86_XSTATE) with an area that is smaller than the state of
 * a processor with AMX. The host refuses that with EFAULT, and the kernel panics at its first process. Here the area is filled up with
 * zeros: its header says which states it has, and these are the others.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_BYTES = 65536 };

static long set_state(pid_t pid, void *kind, struct iovec *given) {
  static __thread unsigned char whole[MOST_BYTES] __attribute__((aligned(64)));
  static size_t size; /* that of the processor, the same for all processes */
  struct iovec area = {whole, sizeof whole};
  if (size == 0) {
    if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, kind, &area) < 0) return -1;
    size = area.iov_len;
  }
  if (given->iov_len >= size) return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, kind, given);
  memcpy(whole, given->iov_base, given->iov_len);
  memset(whole + given->iov_len, 0, size - given->iov_len);
  area.iov_len = size;
  return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, kind, &area);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  pid_t pid = va_arg(rest, pid_t);
  void *address = va_arg(rest, void *);
  void *data = va_arg(rest, void *);
  va_end(rest);
  if (request == PTRACE_SETREGSET && (long)address == NT_X86_XSTATE) return set_state(pid, address, data);
  if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
    return syscall(SYS_ptrace, request, pid, address, data);
  /* The system call stores the word that it reads; the C library returns it. */
  long word;
  if (syscall(SYS_ptrace, request, pid, address, &word) < 0) return -1;
  errno = 0;
  return word;
}
