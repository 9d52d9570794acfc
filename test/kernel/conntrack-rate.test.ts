// Watches that count: 20 000 flows a second and their end at once, with and without the room for them.
// Needs: conntrack
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { type Conntrack, type FlowWatchOptions, openConntrack } from '../../src/kernel/conntrack/index.js';
import { addFlows, differentFlows, EventCount } from '../support/namespaces/flowRate.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';

const FLOWS = 20_000;
const RATE = 20_000;
/** As a program that writes a line of statistics twice a second. */
const GATHER = 500;

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

/** Adds the flows at the rate, and ends all of them at once, while a watch counts. */
async function count(t: TestContext, options: FlowWatchOptions): Promise<EventCount> {
  const open = async (): Promise<Conntrack> => namespaces.keep(await openConntrack({ netns }));
  const netns = namespaces.add('up');
  const conntrack = await open();
  const counted = new EventCount(
    (await open()).watch({ kinds: ['new', 'destroy'], gather: GATHER, ...options }),
  );
  await counted.started;
  const rate = await addFlows(conntrack, differentFlows(FLOWS), RATE);
  await counted.until(FLOWS);
  await conntrack.flush({ confirm: 'delete every flow' });
  await counted.until(2 * FLOWS);
  t.diagnostic(`${rate} flows a second, ${counted.seen} events, ${counted.dropped} dropped`);
  return counted;
}

describe('a watch that counts flows', () => {
  it('loses none of 20 000 flows a second, nor of 20 000 that end at once, with a receive buffer of 16 MiB', async (t) => {
    const counted = await count(t, { receiveBuffer: 16 << 20 });
    assert.equal(counted.receiveBuffer, 16 << 20);
    assert.equal(counted.losses, 0);
    assert.deepEqual(counted.events, { new: FLOWS, update: 0, destroy: FLOWS });
  });

  it('says how many were lost, and reports those before a loss', async (t) => {
    const counted = await count(t, { receiveBuffer: 4096 });
    assert.ok(counted.losses > 0);
    assert.equal(counted.seen + counted.dropped, 2 * FLOWS);
    assert.ok(counted.seen > 0);
  });

  it('counts all of them, lost or not, with the receive buffer that it has by default', async (t) => {
    const counted = await count(t, {});
    assert.equal(counted.receiveBuffer, 1 << 20);
    assert.equal(counted.seen + counted.dropped, 2 * FLOWS);
  });
});
