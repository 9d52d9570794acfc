// SIGTERM at random times of a pass: the proxy exits soon with status 0, no connection breaks, and the next start
// completes the pass. `npm test -- --only scale-vm interrupted` does this 100 times.
// Needs: ipvs, dummy device
import { test } from 'node:test';
import { interruptUnderTraffic } from '../support/disruptions/interruptedLab.js';

test('3 random times', async (t) => {
  for (const line of await interruptUnderTraffic(3)) t.diagnostic(line);
});
