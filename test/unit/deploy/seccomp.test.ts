// The seccomp profile of deploy/seccomp and the component that sets it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type DaemonSet, patched, readDeployed } from '../../support/deployment/daemonSet.js';
import { ROOT } from '../../support/paths.js';
import { seccompProfile } from '../../support/sealing/seccompProfile.js';

const base = readDeployed<DaemonSet>('base/daemonset.yaml').spec.template.spec;
const sealed = patched(
  readDeployed<DaemonSet>('base/daemonset.yaml'),
  readDeployed<object>('seccomp/daemonset.yaml'),
).spec.template.spec;
const recorded = JSON.parse(readFileSync(join(ROOT, 'scripts/seccomp/recorded.json'), 'utf8')) as Record<
  string,
  { programs: string; calls: string[] }
>;
const allowed = seccompProfile().syscalls.flatMap(({ names, action }) =>
  action === 'SCMP_ACT_ALLOW' ? names : [],
);

test('the profile is that of the recorded calls', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/seccomp.mjs', 'check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});

test('each mode was recorded, with the programs of Debian 12 and with those of the image', () => {
  // In User Mode Linux, only calls are recorded that no other run makes.
  assert.match(recorded['ipvs']?.programs ?? '', /^Node v/);
  const modes = ['iptables-legacy', 'iptables-nft', 'nftables'];
  for (const run of [...modes, ...modes.map((mode) => `${mode}-image`)]) {
    const { programs, calls } = recorded[run] ?? { programs: '', calls: [] };
    assert.match(programs, /^Node v\d+\.\d+\.\d+, glibc 2\.\d+$/, run);
    for (const call of ['execve', 'socket', 'sendmsg', 'recvmsg', 'epoll_ctl', 'mmap'])
      assert.ok(calls.includes(call), `${run}: ${call}`);
  }
});

test('calls that change the machine, or lead out of the container, are refused', () => {
  const dangerous = [
    'init_module',
    'finit_module',
    'delete_module',
    'mount',
    'umount2',
    'pivot_root',
    'chroot',
    'setns',
    'unshare',
  ];
  const others = [
    'ptrace',
    'process_vm_writev',
    'bpf',
    'perf_event_open',
    'keyctl',
    'add_key',
    'reboot',
    'kexec_load',
    'swapon',
  ];
  const more = [
    'io_uring_setup',
    'userfaultfd',
    'open_by_handle_at',
    'clone3',
    'personality',
    'settimeofday',
    'quotactl',
    'fsopen',
  ];
  assert.deepEqual(
    allowed.filter((name) => [...dangerous, ...others, ...more].includes(name)),
    [],
  );
});

test('a process may clone itself, and make no namespace', () => {
  const { syscalls, defaultAction, defaultErrnoRet } = seccompProfile();
  assert.deepEqual([defaultAction, defaultErrnoRet], ['SCMP_ACT_ERRNO', 1]);
  const rules = (name: string) => syscalls.filter(({ names }) => names.includes(name));
  // CLONE_NEWNS 0x20000, NEWCGROUP 0x2000000, NEWUTS 0x4000000, NEWIPC 0x8000000, NEWUSER 0x10000000, NEWPID 0x20000000, NEWNET 0x40000000.
  const flags = 0x20000 + 0x2000000 + 0x4000000 + 0x8000000 + 0x10000000 + 0x20000000 + 0x40000000;
  assert.deepEqual(
    rules('clone').map(({ args }) => args),
    [[{ index: 0, value: flags, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }]],
  );
  assert.deepEqual(
    rules('clone3').map(({ action, errnoRet }) => [action, errnoRet]),
    [['SCMP_ACT_ERRNO', 38]],
  );
});

test('no name is in two rules, and all are in order', () => {
  const names = seccompProfile().syscalls.flatMap((rule) => rule.names);
  assert.equal(new Set(names).size, names.length);
  const [first] = seccompProfile().syscalls;
  assert.deepEqual(first?.names, first?.names.toSorted());
});

test('the component changes the profile of the proxy, and adds a container that brings it to the node', () => {
  const [container] = sealed.containers;
  assert.deepEqual(container.securityContext.seccompProfile, {
    type: 'Localhost',
    localhostProfile: 'kube-netlink-proxy.json',
  });
  const { seccompProfile: _, ...rest } = container.securityContext;
  const { seccompProfile: __, ...before } = base.containers[0].securityContext;
  assert.deepEqual(rest, before);
  assert.deepEqual({ ...container, securityContext: {} }, { ...base.containers[0], securityContext: {} });
  const added = sealed.initContainers?.filter(({ name }) => name !== 'init-only') ?? [];
  assert.deepEqual(
    added.map(({ name }) => name),
    ['seccomp-profile'],
  );
  for (const { securityContext, volumeMounts, resources } of added) {
    assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] });
    assert.equal(securityContext.privileged, false);
    assert.equal(securityContext.readOnlyRootFilesystem, true);
    assert.deepEqual(
      volumeMounts.map(({ name }) => sealed.volumes.find((volume) => volume.name === name)),
      [
        { name: 'seccomp-profile', configMap: { name: 'kube-netlink-proxy-seccomp' } },
        { name: 'seccomp', hostPath: { path: '/var/lib/kubelet/seccomp', type: 'DirectoryOrCreate' } },
      ],
    );
    assert.ok(resources?.limits?.['memory']);
  }
});
