// Memory of the command after the first pass with a large cluster on a real kernel, the time from the start, and what it takes at rest.
// Needs: ipvs, dummy device, two processors, command, idle
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ENDPOINTS_EACH,
  memoryOf,
  programCluster,
  wakeUpsAtRest,
} from '../support/processes/largeCluster.js';

/** Number of Services with 10 endpoints each, and maximum resident memory, in MB (10^6 bytes). */
const SIZES = [
  { services: 1000, most: 95 },
  { services: 5000, most: 130 },
] as const;
/** Most wake-ups of all threads in a second, between audits. */
const MOST_WAKE_UPS = 3;

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
    const wakeUps = await wakeUpsAtRest(agent.pid, MOST_WAKE_UPS);
    t.diagnostic(`at rest ${wakeUps.toFixed(2)} wake-ups in a second`);
    assert.ok(wakeUps <= MOST_WAKE_UPS, `${wakeUps} wake-ups in a second`);
  });
}
