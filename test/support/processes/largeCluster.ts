// The command of the package as the agent of a large cluster on this kernel, after its first pass.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BigCluster } from '../../scale/bigCluster.js';
import { tool } from '../namespaces/tools.js';
import { AgentProcess, BUNDLED_COMMAND } from './agentProcess.js';

/** Number of endpoints of each Service. */
export const ENDPOINTS_EACH = 10;

/** The agent, and the fields of its log line of the first pass. */
export interface ProgrammedAgent {
  readonly agent: AgentProcess;
  readonly synced: Readonly<Record<string, number>>;
  /** Time from the start of the process to the end of the first pass, in ms. */
  readonly took: number;
}

/** Starts a cluster and the agent in ipvs mode; resolves after a first pass without failures. Both end after the test. */
export async function programCluster(test: TestContext, services: number): Promise<ProgrammedAgent> {
  const programmed = await startInCluster(test, services, ENDPOINTS_EACH, ['--proxy-mode', 'ipvs']);
  const servers = tool('ipvsadm', '-S', '-n')
    .split('\n')
    .filter((text) => text.startsWith('-a'));
  assert.ok(servers.length >= services * ENDPOINTS_EACH, `only ${servers.length} real servers`);
  return programmed;
}

/**
 * Starts a cluster, and the agent with these flags; resolves after a first pass without failures. Both end after the test.
 *
 * @param each number of endpoints of each Service
 */
export async function startInCluster(
  test: TestContext,
  services: number,
  each: number,
  flags: readonly string[],
): Promise<ProgrammedAgent> {
  const cluster = await BigCluster.start(services, services * each);
  test.after(() => cluster.close());
  const began = performance.now();
  const inCluster = ['--master', cluster.url, '--hostname-override', 'node-0'];
  const agent = new AgentProcess([...inCluster, ...flags], BUNDLED_COMMAND);
  test.after(() => agent.close());
  const line = await agent.logged(/"msg":"synced"/, 580_000);
  const took = performance.now() - began;
  const synced = JSON.parse(line) as Record<string, number>;
  assert.equal(synced['failures'], 0, agent.log.join('\n'));
  assert.equal(synced['services'], services);
  return { agent, synced, took };
}

/** A line of /proc/PID/status with a size, in MB (10^6 bytes). */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM' | 'RssAnon' | 'RssFile'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** Time in which wake-ups are counted, in ms, and the number of such times. */
const [COUNTED, MOST_COUNTS] = [5000, 20];

/**
 * How often the threads of a process wake up in a second, in the first time in which they do so at most as often as given; or the least
 * of many times. In other times it may collect garbage or run an audit.
 */
export async function wakeUpsAtRest(pid: number, most: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; least > most && count < MOST_COUNTS; count++) {
    const [before, start] = [waitsOf(pid), performance.now()];
    await delay(COUNTED);
    least = Math.min(least, ((waitsOf(pid) - before) / (performance.now() - start)) * 1000);
  }
  return least;
}

/** How often the threads of a process have begun to wait. */
function waitsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
  }, 0);
}
