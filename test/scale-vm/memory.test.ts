// Memory of the command after the first pass with a large cluster on a real kernel, and the time from the start.
// Needs: ipvs, dummy device, two processors, command, idle
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ENDPOINTS_EACH, memoryOf, programCluster } from '../support/processes/largeCluster.js';

/** Number of Services with 10 endpoints each, and maximum resident memory, in MB (10^6 bytes). */
const SIZES = [
  { services: 1000, most: 95 },
  { services: 5000, most: 130 },
] as const;

for (const { services, most } of SIZES) {
  it(`${services} Services with ${ENDPOINTS_EACH} endpoints each in at most ${most} MB`, async (t) => {
    const { agent, synced, took } = await programCluster(t, services);
    const [resident, highest, anonymous] = (['VmRSS', 'VmHWM', 'RssAnon'] as const).map((field) =>
      memoryOf(agent.pid, field).toFixed(1),
    );
    t.diagnostic(`resident ${resident} MB, ${anonymous} MB of it anonymous, at its highest ${highest} MB`);
    t.diagnostic(
      `from start to first pass done ${took.toFixed(0)} ms: planning ${synced['planMs']}, kernel ${synced['kernelMs']}`,
    );
    assert.ok(Number(resident) <= most, `${resident} MB are resident`);
  });
}
