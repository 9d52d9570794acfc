// Makes the faults of the node that last for a time: its limits, its clock, the lock and the restore programs of iptables.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { undoAtExit } from '../../laboratory/atExit.js';
import type { FaultName } from '../core/history.js';
import type { JudgedProxy } from './proxy.js';
import { childrenOf } from './waitMeter.js';

/** The faults of this file. */
const NODE_FAULTS = [
  ...(['conntrackSmall', 'restoreFails', 'locksHeld'] as const),
  ...(['memoryShort', 'descriptorsShort', 'clockStepped'] as const),
];
export type NodeFault = Extract<FaultName, (typeof NODE_FAULTS)[number]>;

/** Connections that can be opened while the table of connections is small. */
const ROOM = 20;
/** The step of the clock, in s. */
const STEP = 3600;

/** Whether a fault is one of the node. */
export function isNodeFault(fault: FaultName): fault is NodeFault {
  return (NODE_FAULTS as readonly FaultName[]).includes(fault);
}

/**
 * Makes a fault until it ends.
 *
 * @param namespace name of the network namespace of the proxy
 * @param lasts in ms
 * @returns whether the proxy ended although it should not have; then it was started again
 */
export async function lastNodeFault(
  fault: NodeFault,
  lasts: number,
  proxy: JudgedProxy,
  namespace: string,
): Promise<boolean> {
  if (fault === 'memoryShort' || fault === 'descriptorsShort') return limitProxy(fault, lasts, proxy);
  if (fault === 'locksHeld') await holdLock(proxy.files.lock, lasts);
  else if (fault === 'restoreFails') await failRestores(proxy, lasts);
  else if (fault === 'conntrackSmall') await limitConnections(namespace, lasts);
  else await stepClock(lasts);
  return false;
}

/** Lowers a soft limit of the running proxy to what it has, and raises it again. */
async function limitProxy(
  fault: 'memoryShort' | 'descriptorsShort',
  lasts: number,
  proxy: JudgedProxy,
): Promise<boolean> {
  const { pid } = proxy;
  if (pid === undefined) return false;
  const name = fault === 'memoryShort' ? 'as' : 'nofile';
  const before = execFileSync('prlimit', [`--pid=${pid}`, `--${name}`, '--noheadings', '--output=SOFT'], {
    encoding: 'utf8',
  }).trim();
  const small = fault === 'memoryShort' ? addressSpaceOf(pid) : lowestFreeDescriptor(pid);
  execFileSync('prlimit', [`--pid=${pid}`, `--${name}=${small}:`]);
  await delay(lasts);
  if (proxy.runs) {
    try {
      execFileSync('prlimit', [`--pid=${pid}`, `--${name}=${before}:`]);
    } catch (error) {
      // It is ending: the end of the history notices.
      if (existsSync(`/proc/${pid}/status`)) throw error;
    }
    return false;
  }
  proxy.start();
  return true;
}

/** In bytes. */
function addressSpaceOf(pid: number): number {
  const kilobytes = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** The limit is one above the highest number of a new descriptor, which has the lowest free number. */
function lowestFreeDescriptor(pid: number): number {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let lowest = 0;
  while (used.has(lowest)) lowest++;
  return lowest;
}

async function holdLock(lock: string, lasts: number): Promise<void> {
  const holder = spawn('flock', [lock, 'sleep', String(lasts / 1000)], { stdio: 'ignore' });
  const forget = undoAtExit(() => holder.kill('SIGKILL'));
  await once(holder, 'exit');
  forget();
}

async function failRestores({ files, pid }: JudgedProxy, lasts: number): Promise<void> {
  writeFileSync(files.failing, '');
  if (pid !== undefined) for (const program of restoresOf(pid)) process.kill(program, 'SIGKILL');
  await delay(lasts);
  rmSync(files.failing);
}

/** The processes of xtables that the proxy has started. */
function restoresOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => /^xtables-/.test(basename(programOf(child))));
}

/** The file of a process; empty if it has ended. */
function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** The limit is one of the kernel, and is written in its first network namespace. */
async function limitConnections(namespace: string, lasts: number): Promise<void> {
  const count = execFileSync(
    'ip',
    ['netns', 'exec', namespace, 'cat', '/proc/sys/net/netfilter/nf_conntrack_count'],
    {
      encoding: 'utf8',
    },
  );
  const limit = (command: string) =>
    execFileSync('nsenter', ['--net=/proc/1/ns/net', 'sh', '-ec', command], { encoding: 'utf8' });
  const file = '/proc/sys/net/netfilter/nf_conntrack_max';
  const before = limit(`cat ${file}; echo ${Number(count) + ROOM} >${file}`);
  const restore = undoAtExit(() => limit(`echo ${before.trim()} >${file}`));
  await delay(lasts);
  restore();
}

/** Steps the clock ahead and back. It is never this machine's: User Mode Linux has its own. */
async function stepClock(lasts: number): Promise<void> {
  if (!readFileSync('/proc/cpuinfo', 'utf8').includes('User Mode Linux')) {
    throw new Error(
      'clockStepped: the clock is that of this machine; only a run in User Mode Linux has its own',
    );
  }
  const step = (seconds: number) => {
    execFileSync('date', ['--utc', `--set=@${(Date.now() / 1000 + seconds).toFixed(3)}`], {
      stdio: 'ignore',
    });
  };
  step(STEP);
  await delay(lasts);
  step(-STEP);
}
