// What the seccomp profile has beside the recorded names, and what it does not have although it was recorded. All names are those of
// Linux; a container runtime ignores those that the architecture of the node does not have.

/**
 * Names for the same purpose: which one a program calls depends on its libc, on the kernel and on the architecture. arm64 has only the
 * later ones of each group. If one name of a group was recorded, all are allowed.
 *
 * @type {readonly (readonly string[])[]}
 */
export const EQUIVALENTS = [
  ['open', 'openat'],
  ['access', 'faccessat', 'faccessat2'],
  ['stat', 'lstat', 'fstat', 'newfstatat', 'statx'],
  ['readlink', 'readlinkat'],
  ['getdents', 'getdents64'],
  ['unlink', 'unlinkat'],
  ['mkdir', 'mkdirat'],
  ['rename', 'renameat', 'renameat2'],
  ['chmod', 'fchmod', 'fchmodat'],
  ['read', 'readv', 'pread64', 'preadv'],
  ['write', 'writev', 'pwrite64', 'pwritev'],
  ['poll', 'ppoll'],
  ['select', 'pselect6'],
  ['epoll_create', 'epoll_create1'],
  ['epoll_wait', 'epoll_pwait', 'epoll_pwait2'],
  ['eventfd', 'eventfd2'],
  ['inotify_init', 'inotify_init1'],
  ['pipe', 'pipe2'],
  ['dup', 'dup2', 'dup3'],
  ['accept', 'accept4'],
  ['sendto', 'sendmsg', 'sendmmsg'],
  ['recvfrom', 'recvmsg', 'recvmmsg'],
  ['alarm', 'setitimer', 'getitimer'],
  ['getrlimit', 'setrlimit', 'prlimit64'],
  ['sched_getaffinity', 'getcpu'],
  ['kill', 'tkill', 'tgkill'],
  ['wait4', 'waitid'],
  ['fork', 'vfork', 'clone'],
  ['nanosleep', 'clock_nanosleep'],
  ['getpgrp', 'getpgid'],
  ['mmap', 'mremap', 'munmap', 'mprotect', 'madvise', 'brk'],
];

/**
 * Calls that a C library makes on every Linux, but not in every run: the clocks are functions of the kernel's vDSO where the machine has a
 * clock that these can read, and calls elsewhere; the kernel restarts a call that a stop interrupted.
 */
export const ALWAYS = [
  ...['clock_getres', 'clock_gettime', 'gettimeofday', 'time'],
  ...['restart_syscall', 'rt_sigaction', 'rt_sigpending', 'rt_sigprocmask', 'rt_sigreturn', 'rt_sigsuspend'],
  ...['rt_sigtimedwait', 'sigaltstack', 'sched_yield', 'futex', 'set_robust_list', 'get_robust_list', 'rseq'],
  ...['set_tid_address', 'exit', 'exit_group', 'getrandom', 'membarrier', 'arch_prctl', 'uname', 'sysinfo'],
  // Node.js 24 asks for the priority of its threads.
  ...['sched_getparam', 'sched_getscheduler', 'sched_get_priority_max', 'sched_get_priority_min'],
  ...['getpid', 'getppid', 'gettid', 'getuid', 'geteuid', 'getgid', 'getegid', 'getpgid', 'getsid', 'umask'],
];

/**
 * Calls of the container runtime between the moment at which it loads the filter and execve(2) of the command: of runc and of crun, in
 * containers and for `kubectl exec`. Without no_new_privs the runtime loads the filter earlier, before it sets user and
 * capabilities.
 */
export const RUNTIME = [
  ...[
    'execve',
    'capget',
    'capset',
    'prctl',
    'setuid',
    'setgid',
    'setgroups',
    'setresuid',
    'setresgid',
    'getgroups',
  ],
  ...[
    'chdir',
    'fchdir',
    'getcwd',
    'close',
    'close_range',
    'fcntl',
    'lseek',
    'fstatfs',
    'statfs',
    'getdents64',
  ],
  ...[
    'epoll_ctl',
    'epoll_create1',
    'epoll_pwait',
    'eventfd2',
    'nanosleep',
    'tgkill',
    'sched_getaffinity',
    'ioctl',
  ],
];

/**
 * Recorded, and not allowed: what a program does only with privileges that the container does not have, or what it can do without.
 *
 * @type {Readonly<Record<string, string>>} name → reason
 */
export const WITHHELD = {
  init_module: 'modprobe: the init container loads the modules',
  finit_module: 'modprobe: the init container loads the modules',
  delete_module: 'modprobe',
  chroot: 'the recording enters the root filesystem of the image',
  mount: 'needs CAP_SYS_ADMIN',
  umount2: 'needs CAP_SYS_ADMIN',
  setns: 'the library enters other network namespaces, with CAP_SYS_ADMIN; the agent does not',
  unshare: 'needs CAP_SYS_ADMIN, or makes a user namespace',
  ptrace: 'nothing here traces a process',
  bpf: 'needs CAP_BPF',
  perf_event_open: 'the CPU profiles of Node.js do without',
  io_uring_setup: 'Node does without where it is refused, as by RuntimeDefault of containerd',
  io_uring_enter: 'Node does without',
  io_uring_register: 'Node does without',
  userfaultfd: 'nothing here calls it',
  // Its flags are in memory, which a filter cannot read: it could make a user namespace. C libraries then call clone.
  clone3: 'answered with ENOSYS',
};
