// Runs a program under a seccomp filter, as a container runtime would:
//   launcher RULES PROGRAM ARGUMENTS…
//   launcher --unknown RULES       prints the names of the rules that arm64 does not have
// Each line of RULES is one of
//   default ERRNO                       what calls without a rule return; the first line
//   allow NAME
//   masked NAME ARGUMENT MASK VALUE     allows the call if (ARGUMENT & MASK) == VALUE
//   errno NAME ERRNO
// As in runc and crun, a name that libseccomp or this architecture does not know has no effect.
#include <errno.h>
#include <inttypes.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "%63s"

static void fail(const char* what, int error) {
  fprintf(stderr, "launcher: %s: %s\n", what, strerror(error));
  exit(125);
}

static void add(scmp_filter_ctx filter, uint32_t action, const char* name, unsigned count, struct scmp_arg_cmp argument) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return;
  const int error = count == 0 ? seccomp_rule_add(filter, action, number, 0)
                               : seccomp_rule_add(filter, action, number, 1, argument);
  if (error < 0) fail(name, -error);
}

// Adds the rule of a line; returns whether it is well formed.
static int add_line(scmp_filter_ctx* filter, const char* line) {
  char name[64];
  int error;
  unsigned index;
  uint64_t mask, value;
  const struct scmp_arg_cmp none = {0};
  if (sscanf(line, "default %d", &error) == 1) {
    *filter = seccomp_init(SCMP_ACT_ERRNO(error));
    return *filter != NULL;
  }
  if (*filter == NULL) return 0;
  if (sscanf(line, "allow " NAME, name) == 1) {
    add(*filter, SCMP_ACT_ALLOW, name, 0, none);
    return 1;
  }
  if (sscanf(line, "masked " NAME " %u %" SCNu64 " %" SCNu64, name, &index, &mask, &value) == 4) {
    add(*filter, SCMP_ACT_ALLOW, name, 1, SCMP_CMP(index, SCMP_CMP_MASKED_EQ, mask, value));
    return 1;
  }
  if (sscanf(line, "errno " NAME " %d", name, &error) == 2) {
    add(*filter, SCMP_ACT_ERRNO(error), name, 0, none);
    return 1;
  }
  return 0;
}

static void print_unknown(const char* line) {
  char name[64];
  if (sscanf(line, "%*s " NAME, name) != 1 || strncmp(line, "default", 7) == 0) return;
  if (seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name) < 0) printf("%s\n", name);
}

int main(int argc, char** argv) {
  if (argc < 3) fail("RULES and PROGRAM are missing", EINVAL);
  const int unknown = strcmp(argv[1], "--unknown") == 0;
  const char* path = unknown ? argv[2] : argv[1];
  FILE* rules = fopen(path, "re");
  if (rules == NULL) fail(path, errno);
  scmp_filter_ctx filter = NULL;
  for (char line[256]; fgets(line, sizeof(line), rules) != NULL;) {
    if (unknown) print_unknown(line);
    else if (!add_line(&filter, line)) fail(line, EINVAL);
  }
  fclose(rules);
  if (unknown) return 0;
  if (filter == NULL) fail(path, ENODATA);
  // It sets no_new_privs too, as allowPrivilegeEscalation: false does.
  const int error = seccomp_load(filter);
  if (error < 0) fail("seccomp_load", -error);
  seccomp_release(filter);
  execvp(argv[2], argv + 2);
  fail(argv[2], errno);
}
