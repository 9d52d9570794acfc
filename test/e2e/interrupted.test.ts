// SIGTERM at random times of a pass: the proxy exits soon with status 0, no connection breaks, and the next start continues
// from there. A few times; `npm test -- --only scale-vm interrupted` tries a hundred.
import { test } from 'node:test';
import { interruptUnderTraffic } from '../support/interruptedLab.js';

test('3 random times', async (t) => {
  for (const line of await interruptUnderTraffic(3)) t.diagnostic(line);
});
