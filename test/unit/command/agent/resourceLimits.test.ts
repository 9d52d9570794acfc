// The limits that are too low, from the texts of their files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { findShortages, mostOpenFiles, NEEDED } from '../../../../src/command/agent/resourceLimits.js';
import { COMMAND } from '../../../laboratory/proxyProcess.js';

/** /proc/self/limits, as the kernel prints it. */
function limits({ data = 'unlimited', space = 'unlimited', processes = '95000' }): string {
  const row = (name: string, soft: string, unit: string) =>
    `${name.padEnd(26)}${soft.padEnd(21)}${'unlimited'.padEnd(21)}${unit}\n`;
  return [
    row('Limit', 'Soft Limit', 'Units'),
    row('Max data size', data, 'bytes'),
    row('Max stack size', '8388608', 'bytes'),
    row('Max processes', processes, 'processes'),
    row('Max open files', '1024', 'files'),
    row('Max address space', space, 'bytes'),
  ].join('');
}

function find(files: Record<string, string>, uid = 0) {
  return findShortages((path) => files[path], uid);
}

it('limits of the process: the soft one counts, and user 0 may have any number of processes', () => {
  assert.deepEqual(find({ '/proc/self/limits': limits({}) }), []);
  const low = { '/proc/self/limits': limits({ data: '100000000', space: '700000000', processes: '10' }) };
  const memory = [
    { limit: 'RLIMIT_DATA', value: 100_000_000, needed: NEEDED.data },
    { limit: 'RLIMIT_AS', value: 700_000_000, needed: NEEDED.addressSpace },
  ];
  assert.deepEqual(find(low), memory);
  assert.deepEqual(find(low, 1000), [...memory, { limit: 'RLIMIT_NPROC', value: 10, needed: NEEDED.tasks }]);
  const enough = limits({ data: `${NEEDED.data}`, processes: `${NEEDED.tasks}` });
  assert.deepEqual(find({ '/proc/self/limits': enough }, 1000), []);
});

it('the number of open files is the soft limit', () => {
  const limit = (text: string) => mostOpenFiles(() => text);
  assert.equal(limit(limits({})), 1024);
  assert.equal(limit(limits({}).replace('1024     ', 'unlimited')), undefined);
  assert.equal(limit(''), undefined);
});

it('control groups of version 2: the lowest limit of the group and of those above it', () => {
  const pod = '/sys/fs/cgroup/kubepods/pod1';
  const files = {
    '/proc/self/cgroup': '0::/kubepods/pod1/agent\n',
    [`${pod}/agent/pids.max`]: 'max\n',
    [`${pod}/agent/memory.max`]: '70000000\n',
    [`${pod}/pids.max`]: '12\n',
    '/sys/fs/cgroup/kubepods/pids.max': '18\n',
    [`${pod}/memory.max`]: '90000000\n',
  };
  assert.deepEqual(find(files), [
    { limit: `${pod}/pids.max`, value: 12, needed: NEEDED.tasks },
    { limit: `${pod}/agent/memory.max`, value: 70_000_000, needed: NEEDED.memory },
  ]);
});

it('control groups in a container, whose group is the root, and those of version 1', () => {
  const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/pids.max': '5\n' };
  assert.deepEqual(find(files), [{ limit: '/sys/fs/cgroup/pids.max', value: 5, needed: NEEDED.tasks }]);
  const first = {
    '/proc/self/cgroup': '8:pids:/a\n4:memory:/a/b\n2:cpu,cpuacct:/\n0::/\n',
    '/sys/fs/cgroup/pids/a/pids.max': '14',
    '/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': '9223372036854771712',
    '/sys/fs/cgroup/memory/a/memory.limit_in_bytes': '50000000',
    // Not the group of the process.
    '/sys/fs/cgroup/pids.max': '1',
  };
  assert.deepEqual(find(first), [
    { limit: '/sys/fs/cgroup/pids/a/pids.max', value: 14, needed: NEEDED.tasks },
    { limit: '/sys/fs/cgroup/memory/a/memory.limit_in_bytes', value: 50_000_000, needed: NEEDED.memory },
  ]);
});

it('files that are missing or unreadable are not a shortage', () => {
  assert.deepEqual(find({}), []);
  assert.deepEqual(find({ '/proc/self/limits': 'garbage', '/proc/self/cgroup': '0:' }), []);
});

it('a command under such a limit says so before it does anything else', () => {
  const run = (...limit: string[]) => {
    const words = [...limit, process.execPath, COMMAND, '--manifests', '/nonexistent', '--once'];
    const { stderr, status } = spawnSync('prlimit', words, { encoding: 'utf8' });
    assert.equal(status, 1, stderr);
    return stderr;
  };
  const value = NEEDED.data - 1_000_000;
  const warning = new RegExp(
    `WARN.* RLIMIT_DATA is ${value}, and an agent of few Services needs ${NEEDED.data}`,
  );
  assert.match(run(`--data=${value}`), warning);
  assert.doesNotMatch(run(`--data=${NEEDED.data}`), /needs/);
});
