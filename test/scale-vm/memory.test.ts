// Memory of the command after the first pass with a large cluster on a real kernel, and the time from the start.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { it } from 'node:test';
import { BigCluster } from '../scale/bigCluster.js';
import { AgentProcess } from '../support/agentProcess.js';
import { tool } from '../support/tools.js';

/** Number of Services with 10 endpoints each, and maximum resident memory, in MB (10^6 bytes). */
const SIZES = [
  { services: 1000, most: 120 },
  { services: 5000, most: 200 },
] as const;
const ENDPOINTS_EACH = 10;

for (const { services, most } of SIZES) {
  it(`${services} Services with ${ENDPOINTS_EACH} endpoints each in at most ${most} MB`, async (t) => {
    const endpoints = services * ENDPOINTS_EACH;
    const cluster = await BigCluster.start(services, endpoints);
    t.after(() => cluster.close());
    const began = performance.now();
    const agent = new AgentProcess(
      ...['--master', cluster.url, '--proxy-mode', 'ipvs', '--hostname-override', 'node-0'],
    );
    t.after(() => agent.close());
    const line = await agent.logged(/"msg":"synced"/, 580_000);
    const took = performance.now() - began;
    const synced = JSON.parse(line) as Record<string, number>;
    assert.equal(synced['failures'], 0, agent.log.join('\n'));
    assert.equal(synced['services'], services);
    const servers = tool('ipvsadm', '-S', '-n')
      .split('\n')
      .filter((text) => text.startsWith('-a'));
    assert.ok(servers.length >= endpoints, `only ${servers.length} real servers`);
    const resident = memory(agent.pid, 'VmRSS');
    t.diagnostic(`resident ${resident} MB, at its highest ${memory(agent.pid, 'VmHWM')} MB`);
    t.diagnostic(
      `from start to first pass done ${took.toFixed(0)} ms: planning ${synced['planMs']}, kernel ${synced['kernelMs']}`,
    );
    assert.ok(resident <= most, `${resident} MB are resident`);
  });
}

function memory(pid: number, field: string): number {
  const [, kilobytes] =
    new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round((Number(kilobytes) * 1024) / 1e6);
}
