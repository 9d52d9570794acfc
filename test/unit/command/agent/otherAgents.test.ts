// An agent detects another agent in its network namespace.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ownIdentity, watchForOtherAgents } from '../../../../src/command/agent/otherAgents.js';
import { ownerOf } from '../../../../src/command/agent/socketOwner.js';
import { PATIENCE } from '../../../laboratory/patience.js';
import { closeAfter } from '../../../support/closeAfter.js';

const MODULE = JSON.stringify(import.meta.resolve('../../../../src/command/agent/otherAgents.js'));

let names = 0;
const nextName = () => `\0knp-test-${process.pid}-${names++}`;

/** An agent of a version, and its log. */
function start(
  name: string,
  version: string,
  {
    mode = 'ipvs',
    layout,
    grace = 60_000,
    uid = 0,
  }: { mode?: string; layout?: string; grace?: number; uid?: number } = {},
) {
  const lines: string[] = [];
  const refusals: string[] = [];
  let admitted = false;
  const log = (level: string) => (fields: object | string, msg?: string) =>
    void lines.push(
      typeof fields === 'string' ? `${level} ${fields}` : `${level} ${msg} ${JSON.stringify(fields)}`,
    );
  const watch = watchForOtherAgents(
    ownIdentity(version, { mode, layout }, Date.parse('2026-11-20T17:32:31Z')),
    { warn: log('warn'), info: log('info'), debug: log('debug') },
    { name, grace, ownerOf: async () => uid, refused: (reason) => void refusals.push(reason) },
  );
  watch.admitted.then(() => {
    admitted = true;
  });
  closeAfter(watch);
  return { lines, refusals, admitted: () => admitted, close: () => watch.close() };
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `not within ${PATIENCE} ms`);
    await wait(10);
  }
}

/** Another program with the name. An agent may reset its connection. */
function strangerThat(answers: (socket: Socket) => void): Server {
  return createServer((socket) => answers(socket.on('error', () => {})));
}

const { pidNamespace } = ownIdentity('1', { mode: 'ipvs' }, 0);
const warning = (pid: number, version: string) =>
  `warn another kube-netlink-proxy runs in this network namespace ${JSON.stringify({ pid, pidNamespace, version, mode: 'ipvs', startedAt: '2026-11-20T17:32:31.000Z' })}`;
const ENDED = 'info the other kube-netlink-proxy has ended';

it('a single agent logs nothing; a second one logs the identity of the first, and its end', async () => {
  const name = nextName();
  const first = start(name, '1.0.0');
  await until(first.admitted);
  const second = start(name, '2.0.0');
  await until(() => second.lines.length > 0);
  first.close();
  await until(() => second.lines.length > 1);
  assert.deepEqual(second.lines, [warning(process.pid, '1.0.0'), ENDED]);
  assert.deepEqual(first.lines, []);
  const third = start(name, '3.0.0');
  await until(() => third.lines.length > 0);
  assert.deepEqual(third.lines, [warning(process.pid, '2.0.0')]);
});

it('the end of a killed agent is detected at once, and admits an agent of another mode', async () => {
  const name = nextName();
  const program = `
    import { ownIdentity, watchForOtherAgents } from ${MODULE};
    const log = { warn: console.log, info: console.log, debug: console.log };
    watchForOtherAgents(ownIdentity('1.0.0', { mode: 'ipvs' }, Date.parse('2026-11-20T17:32:31Z')), log, { name: '\\0' + process.env.NAME, refused() {} });
    setTimeout(() => console.log('running'), 100);
    setTimeout(() => {}, 60_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, NAME: name.slice(1) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closeAfter({ close: () => child.kill('SIGKILL') });
  const [output] = await once(child.stdout, 'data');
  assert.equal(String(output), 'running\n');
  const second = start(name, '2.0.0');
  const other = start(name, '2.0.0', { mode: 'iptables' });
  await until(() => second.admitted() && second.lines.length > 0);
  await until(() => other.lines.length > 0);
  assert.equal(other.admitted(), false);
  second.close();
  child.kill('SIGKILL');
  await until(() => other.admitted());
  assert.deepEqual(other.refusals, []);
  assert.deepEqual(other.lines, [warning(child.pid as number, '1.0.0'), ENDED]);
});

describe('agents of two modes', () => {
  it('the second one is admitted when the first has ended', async () => {
    const name = nextName();
    const first = start(name, '1.0.0');
    await until(() => first.admitted());
    const second = start(name, '2.0.0', { mode: 'iptables' });
    await until(() => second.lines.length > 0);
    assert.equal(second.admitted(), false);
    first.close();
    await until(() => second.admitted());
    assert.deepEqual(second.refusals, []);
  });

  it('the second one is refused if the first does not end in time', async () => {
    const name = nextName();
    const first = start(name, '1.0.0');
    await until(() => first.admitted());
    const second = start(name, '2.0.0', { mode: 'iptables', grace: 20 });
    await until(() => second.refusals.length > 0);
    assert.equal(second.admitted(), false);
    assert.match(
      second.refusals.join(),
      /^a kube-netlink-proxy in ipvs mode \(process \d+\) runs .* this one is in iptables mode: .* Stop one of them$/,
    );
    assert.deepEqual(first.refusals, []);
  });

  it('a process that has the name and does not answer delays no agent for long', async () => {
    const name = nextName();
    const stranger = strangerThat(() => {});
    stranger.listen({ path: name });
    await once(stranger, 'listening');
    closeAfter(stranger);
    const agent = start(name, '1.0.0', { mode: 'iptables', grace: 20 });
    await until(() => agent.admitted());
    assert.deepEqual(agent.refusals, []);
  });
});

it('a program that claims to be an agent and closes each connection is polled slowly, without a leak', async () => {
  const name = nextName();
  let asked = 0;
  const stranger = strangerThat((socket) => {
    asked++;
    socket.end(`${JSON.stringify(ownIdentity('1.0.0', { mode: 'ipvs' }, 0))}\n`);
  });
  stranger.listen({ path: name });
  await once(stranger, 'listening');
  closeAfter(stranger);
  const warnings: Error[] = [];
  const warned = (warning: Error) => void warnings.push(warning);
  process.on('warning', warned);
  const agent = start(name, '2.0.0');
  const began = performance.now();
  // Node warns of the eleventh listener that is not removed.
  await until(() => asked >= 12);
  process.off('warning', warned);
  assert.ok(performance.now() - began > 2000, 'twelve requests take three seconds');
  assert.deepEqual(warnings, []);
  assert.equal(agent.lines.length, 1);
});

it('if another program has the name, one warning without a process id is logged', async () => {
  const name = nextName();
  const stranger = strangerThat((socket) => void socket.end('{"pid":1,"version":"\\u001b[31m"}\n'));
  stranger.listen({ path: name });
  await once(stranger, 'listening');
  closeAfter(stranger);
  const agent = start(name, '1.0.0');
  await until(() => agent.lines.length > 0);
  await wait(100);
  assert.deepEqual(agent.lines, [
    'warn another kube-netlink-proxy runs in this network namespace {"pid":"unknown"}',
  ]);
});

it('agents of one mode with two layouts do not run at once; with one layout they do', async () => {
  const name = nextName();
  const nftables = { mode: 'nftables', grace: 300 };
  const first = start(name, '1.0.0', { ...nftables, layout: 'kube-proxy' });
  await until(first.admitted);
  const same = start(name, '2.0.0', { ...nftables, layout: 'kube-proxy' });
  await until(same.admitted);
  const other = start(name, '3.0.0', { ...nftables, layout: 'scalable' });
  await until(() => other.refusals.length > 0);
  assert.match(
    other.refusals[0] ?? '',
    /nftables mode with layout kube-proxy .* nftables mode with layout scalable/,
  );
  assert.equal(other.admitted(), false);
});

it('a process of an ordinary user with the identity of an agent keeps none from its work', async () => {
  const name = nextName();
  const first = start(name, '1.0.0', { mode: 'iptables' });
  await until(first.admitted);
  const second = start(name, '2.0.0', { grace: 300, uid: 65_534 });
  await until(second.admitted);
  await wait(400);
  assert.deepEqual(second.refusals, []);
  assert.match(second.lines.join('\n'), /^warn a process of an ordinary user .* \{"uid":65534\}$/);
});

it('the kernel tells who listens on a socket', async () => {
  const name = `${nextName()} owner`;
  assert.equal(await ownerOf(name), undefined);
  const server = createServer();
  server.listen({ path: name });
  await once(server, 'listening');
  closeAfter({ close: () => server.close() });
  assert.equal(await ownerOf(name), process.getuid?.());
});
