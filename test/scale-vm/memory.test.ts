// The command with a large cluster behind it, on a real kernel: its memory after the first pass, and the time until then.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { after, it } from 'node:test';
import { BigCluster } from '../scale/bigCluster.js';
import { AgentProcess } from '../support/agentProcess.js';
import { tool } from '../support/tools.js';

const SERVICES = 5000;
const ENDPOINTS = 50_000;
/** Resident memory, MB of 10^6 bytes. */
const MOST = 200;

let cluster: BigCluster | undefined;
let agent: AgentProcess | undefined;

after(async () => {
  await agent?.close();
  cluster?.close();
});

it(`${SERVICES} Services and ${ENDPOINTS} endpoints in at most ${MOST} MB`, async (t) => {
  cluster = await BigCluster.start(SERVICES, ENDPOINTS);
  const began = performance.now();
  agent = new AgentProcess('--master', cluster.url, '--proxy-mode', 'ipvs', '--hostname-override', 'node-0');
  const line = await agent.logged(/"msg":"synced"/, 580_000);
  const took = performance.now() - began;
  const synced = JSON.parse(line) as Record<string, number>;
  assert.equal(synced['failures'], 0, agent.log.join('\n'));
  assert.equal(synced['services'], SERVICES);
  const servers = tool('ipvsadm', '-S', '-n')
    .split('\n')
    .filter((text) => text.startsWith('-a'));
  assert.ok(servers.length >= ENDPOINTS, `only ${servers.length} real servers`);
  const resident = memory(agent.pid, 'VmRSS');
  t.diagnostic(`resident ${resident} MB, at its highest ${memory(agent.pid, 'VmHWM')} MB`);
  t.diagnostic(
    `from start to first pass done ${took.toFixed(0)} ms: planning ${synced['planMs']}, kernel ${synced['kernelMs']}`,
  );
  assert.ok(resident <= MOST, `${resident} MB are resident`);
});

function memory(pid: number, field: string): number {
  const [, kilobytes] =
    new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round((Number(kilobytes) * 1024) / 1e6);
}
