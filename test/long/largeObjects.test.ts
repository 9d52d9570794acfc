// The largest objects that the API accepts cost as much as the same parts in ordinary objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../src/proxy/objects/types.js';
import { compared, MODES } from '../support/largeObjects/largeObjectCosts.js';
import { LARGE_OBJECTS } from '../support/largeObjects/largeObjects.js';

/** Number of parts in one large object. */
const PARTS = 10_000;
/** Lists that cost little, and whose cost only shows with many parts. */
const MORE: Readonly<Record<string, number>> = { 'equal externalIPs': 20_000, 'nil ports': 20_000 };
/** A difference that says nothing, in ms. */
const NOISE = 50;

for (const mode of Object.keys(MODES)) {
  describe(`many parts in one object cost as much as in ordinary objects, in ${mode} mode`, () => {
    for (const row of Object.keys(LARGE_OBJECTS)) {
      const count = MORE[row] ?? PARTS;
      it(`${count} parts: ${row}`, async (t) => {
        const { most, usual, limit } = await compared(mode, row, count, NOISE);
        t.diagnostic(`${most.toFixed(0)} ms in one object, ${usual.toFixed(0)} ms in ordinary ones`);
        assert.ok(most <= limit, `${most} ms in one object, ${usual} ms in ordinary ones`);
      });
    }
  });
}

it('a Service with 45 000 external IPs is deleted in one pass', async () => {
  const node = MODES['ipvs']?.() ?? assert.fail();
  const objects = LARGE_OBJECTS['externalIPs']?.('large-1', 45_000, 0) ?? [];
  const read = objects.flatMap((raw): [string, KubernetesObject][] => {
    const { object } = decodeObject(raw);
    return object ? [[`${object.kind} ${object.name}`, object]] : [];
  });
  node.set(new Map(read));
  const { accepted } = await node.sync();
  assert.ok(accepted > 130_000, `${accepted} additions`);
  node.set(new Map());
  const { accepted: removed, failures } = await node.sync();
  assert.deepEqual(failures, []);
  assert.ok(removed > 130_000, `${removed} removals`);
});
