// SIGTERM at random moments of a pass: the proxy ends with 0 and soon, no connection breaks, and the next start goes on
// where it stopped. A few moments; `npm test -- --only scale-vm interrupted` tries a hundred.
import { test } from 'node:test';
import { interruptUnderTraffic } from '../support/interruptedLab.js';

test('3 random moments', async (t) => {
  for (const line of await interruptUnderTraffic(3)) t.diagnostic(line);
});
