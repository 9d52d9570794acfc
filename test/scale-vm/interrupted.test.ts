// SIGTERM at random times of a pass: the proxy exits soon with status 0, no connection breaks, and the next start
// completes the pass.
// Needs: ipvs, dummy device, two processors, idle
import { test } from 'node:test';
import { interruptUnderTraffic } from '../support/disruptions/interruptedLab.js';

test('100 random times', async (t) => {
  for (const line of await interruptUnderTraffic(100)) t.diagnostic(line);
});
