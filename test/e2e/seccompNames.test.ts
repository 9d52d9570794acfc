// The names of the seccomp profile on arm64, as libseccomp knows them.
// Needs: namespace, seccomp
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seccompProfile, unknownOnArm64 } from '../support/sealing/seccompProfile.js';

/** The calls that arm64 does not have, each with the call that programs make there instead. */
const ON_ARM64: Readonly<Record<string, string>> = {
  access: 'faccessat',
  // The register of thread-local storage needs no call there.
  arch_prctl: 'prctl',
  dup2: 'dup3',
  epoll_create: 'epoll_create1',
  epoll_wait: 'epoll_pwait',
  eventfd: 'eventfd2',
  fork: 'clone',
  getdents: 'getdents64',
  getpgrp: 'getpgid',
  inotify_init: 'inotify_init1',
  lstat: 'newfstatat',
  open: 'openat',
  pipe: 'pipe2',
  poll: 'ppoll',
  readlink: 'readlinkat',
  select: 'pselect6',
  stat: 'newfstatat',
  time: 'clock_gettime',
  vfork: 'clone',
};

test('each call that arm64 does not have is another one there, which the profile allows', () => {
  const profile = seccompProfile();
  const allowed = profile.syscalls.flatMap(({ names, action }) => (action === 'SCMP_ACT_ALLOW' ? names : []));
  assert.deepEqual(unknownOnArm64(profile).sort(), Object.keys(ON_ARM64).sort());
  for (const [name, other] of Object.entries(ON_ARM64))
    assert.ok(allowed.includes(other), `${name}: ${other}`);
  assert.deepEqual(
    Object.values(ON_ARM64).filter((name) => name in ON_ARM64),
    [],
  );
});
