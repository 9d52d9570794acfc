// SIGTERM at random moments of a pass: the proxy ends with 0 and soon, no connection breaks, and the next start goes on
// where it stopped.
import { test } from 'node:test';
import { interruptUnderTraffic } from '../support/interruptedLab.js';

test('100 random moments', async (t) => {
  for (const line of await interruptUnderTraffic(100)) t.diagnostic(line);
});
