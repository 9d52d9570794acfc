// The system calls of the command on arm64, which QEMU names: all are in the seccomp profile of deploy/. QEMU offers no netlink but
// rtnetlink; the calls of the others are the same.
// Needs: package
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { node, service } from '../support/apiServer/objects.js';
import { ApiServer } from '../support/apiServer/server.js';
import { closeAfter } from '../support/closeAfter.js';
import { seccompProfile } from '../support/sealing/seccompProfile.js';
import { emptyProject, install, nodePath, type Project, succeed } from './installedPackage.js';

let project: Project;
before(() => {
  project = emptyProject('node24');
  succeed(install(project, 'npm11', '--ignore-scripts'));
});
after(() => project.remove());

/** Runs the command; returns its exit status, and the names of its calls. */
async function callsOf(
  ...args: string[]
): Promise<{ status: number | null; calls: Set<string>; text: string }> {
  const command = [
    '-L',
    '/usr/aarch64-linux-gnu',
    '-strace',
    nodePath('node24-arm64'),
    `${project.installed}/dist/command/main.js`,
  ];
  const child = spawn('qemu-aarch64-static', [...command, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  const text = (await child.stderr.setEncoding('utf8').toArray()).join('');
  const [status] = (await ended) as [number | null];
  return {
    status,
    calls: new Set([...text.matchAll(/^\d+ ([a-z_]\w*)\(/gm)].map(([, name = '']) => name)),
    text,
  };
}

test('each call of the command is allowed', async () => {
  const server = closeAfter(await new ApiServer().start());
  server.store.set(service('web', '10.96.0.1'));
  server.store.set(node('node-a'));
  const { status, calls, text } = await callsOf(
    'services',
    `--master=${server.url}`,
    '--proxy-mode=nftables',
    '--timeout=60',
  );
  // The kernel has no nftables for it, but the API server has been asked.
  assert.notEqual(status, null, text.slice(-2000));
  assert.ok(server.requests.some(({ path }) => path === '/api/v1/services'));
  for (const name of ['openat', 'socket', 'connect', 'epoll_ctl', 'mmap', 'clone'])
    assert.ok(calls.has(name), name);
  const allowed = seccompProfile().syscalls.flatMap(({ names }) => names);
  assert.deepEqual(
    [...calls].filter((name) => !allowed.includes(name)),
    [],
  );
});
