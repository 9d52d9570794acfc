// The faults of the node that the judge makes: each has its effect on a process, and ends.
// Needs: namespace, conntrack
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { lastNodeFault, type NodeFault } from '../judge/run/nodeFaults.js';
import { JudgedProxy } from '../judge/run/proxy.js';
import { PATIENCE } from '../laboratory/patience.js';

const NAMESPACE = 'knp-judge-faults';
/** The time of each fault, in ms; of one that ends unnoticed on a busy machine, the first time. */
const LASTS = 2500;

let folder: string;
let proxy: JudgedProxy;

beforeEach(async () => {
  assert.equal(spawnSync('ip', ['netns', 'add', NAMESPACE]).status, 0);
  folder = mkdtempSync(join(tmpdir(), 'knp-judge-faults-'));
  proxy = new JudgedProxy({
    ...{
      command: ['sleep', '600'],
      mode: 'iptables',
      namespace: NAMESPACE,
      folder,
      server: '',
      syncPeriod: 1,
    },
  });
  proxy.start();
  await until(() => readFileSync(`/proc/${proxy.pid}/comm`, 'utf8').trim() === 'sleep');
});

/** Waits until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!isSo()) {
    assert.ok(performance.now() < end, `${isSo}`);
    await delay(20);
  }
}

afterEach(async () => {
  await proxy.end('SIGKILL');
  rmSync(folder, { recursive: true });
  assert.equal(spawnSync('ip', ['netns', 'delete', NAMESPACE]).status, 0);
});

/** What a function returns before a fault, within it, and after it. */
async function around<T>(fault: NodeFault, look: () => T): Promise<[T, T, T]> {
  const before = look();
  let within = before;
  for (let lasts = LASTS; within === before && lasts < PATIENCE; lasts *= 4) {
    let isOver = false;
    const lasting = lastNodeFault(fault, lasts, proxy, NAMESPACE).finally(() => {
      isOver = true;
    });
    await until(() => {
      const seen = look();
      if (!isOver) within = seen;
      return isOver || within !== before;
    });
    assert.equal(await lasting, false);
  }
  return [before, within, look()];
}

/** The soft limit of the process. */
function limit(name: string): string {
  const limits = readFileSync(`/proc/${proxy.pid}/limits`, 'utf8');
  const soft = new RegExp(`^${name} +(\\S+)`, 'm').exec(limits)?.[1];
  return soft ?? assert.fail(`no limit ${name}`);
}

/** The exit status of a command in the environment of the proxy. */
function statusOf(command: string): number | null {
  return spawnSync('sh', ['-c', command], { env: proxy.files.environment }).status;
}

it('memoryShort: the process can have no more address space than it has', async () => {
  const [before, within, after] = await around('memoryShort', () => limit('Max address space'));
  const size = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${proxy.pid}/status`, 'utf8'))?.[1];
  assert.deepEqual([before, within, after], ['unlimited', String(Number(size) * 1024), 'unlimited']);
});

it('descriptorsShort: the process can open no more descriptors', async () => {
  const [before, within, after] = await around('descriptorsShort', () => limit('Max open files'));
  // Standard input, output and error are open.
  assert.deepEqual([within, after], ['3', before]);
});

it('restoreFails: restore programs fail', async () => {
  const statuses = await around('restoreFails', () => statusOf('iptables-restore --version'));
  assert.deepEqual(statuses, [0, 1, 0]);
});

it('locksHeld: another process has the lock of iptables', async () => {
  const statuses = await around('locksHeld', () => statusOf('flock --nonblock "$XTABLES_LOCKFILE" true'));
  assert.deepEqual(statuses, [0, 1, 0]);
});

it('starts a process again that ended while its limits were low', async () => {
  const lasting = lastNodeFault('descriptorsShort', LASTS, proxy, NAMESPACE);
  const { pid } = proxy;
  await proxy.end('SIGKILL');
  assert.equal(proxy.pid, undefined);
  assert.equal(await lasting, true);
  assert.ok(proxy.pid !== undefined && proxy.pid !== pid);
});

it('clockStepped: steps the clock of User Mode Linux ahead and back, and refuses any other', async () => {
  if (readFileSync('/proc/cpuinfo', 'utf8').includes('User Mode Linux')) {
    const [before, within, after] = await around('clockStepped', () =>
      Math.round((Date.now() - performance.now()) / 60_000),
    );
    assert.deepEqual([within - before, after - before], [60, 0]);
    return;
  }
  await assert.rejects(
    lastNodeFault('clockStepped', LASTS, proxy, NAMESPACE),
    /clock is that of this machine/,
  );
});
