// The cost of IPv6 beside that of IPv4.
// Needs: time
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sample } from '../../../support/extent.js';
import { MEASURED, measure } from '../../../support/measures/parsing.js';

/** IPv6 is within 1.5 times the cost of IPv4. */
const MOST_RATIO = 1.5;
/** The tests of other files run at the same time, and disturb single attempts. */
const ATTEMPTS = 20;

for (const measured of sample(MEASURED, 2)) {
  test(`${measured.name}: IPv6 costs little more than IPv4`, (t) => {
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && best > MOST_RATIO; attempt++) {
      const { ipv4, ipv6 } = measure(measured);
      best = Math.min(best, ipv6 / ipv4);
    }
    t.diagnostic(`ratio ${best.toFixed(2)}`);
    assert.ok(best <= MOST_RATIO, `${best.toFixed(2)} times as long`);
  });
}
