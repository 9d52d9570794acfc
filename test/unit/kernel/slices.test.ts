// Long listings are decoded in pieces, and the event loop turns in between.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FLOW } from '../../../src/kernel/conntrack/layouts.js';
import { readFlows } from '../../../src/kernel/conntrack/records.js';
import { readListing as readSets } from '../../../src/kernel/ipset/listing.js';
import { readListing as readServices } from '../../../src/kernel/ipvs/records.js';
import { readAddresses, readLinks } from '../../../src/kernel/rtnetlink/records.js';
import { inSlices, STEPS_PER_TURN, type Steps } from '../../../src/kernel/slices.js';

const TURNS = 5;
const RECORDS = TURNS * STEPS_PER_TURN;

/** How often the event loop turns while these steps are done, and the result. */
async function turnsOf<Result>(steps: Steps<Result>): Promise<[turns: number, result: Result]> {
  let turns = 0;
  let done = false;
  const turn = () => {
    if (done) return;
    turns++;
    setImmediate(turn);
  };
  setImmediate(turn);
  const result = await inSlices(steps);
  done = true;
  return [turns, result];
}

/** A listing of one object with as many parts: the header of the object has their number at `at`. */
function nested(header: number, at: number, part: number): Uint8Array {
  const bytes = new Uint8Array(header + RECORDS * part);
  new DataView(bytes.buffer).setUint32(at, RECORDS, true);
  bytes[1] = 6; // the protocol of a virtual service
  return bytes;
}

describe('the event loop turns while a long listing is read', () => {
  const listings: [name: string, steps: () => Steps<unknown>][] = [
    ['of flows', () => readFlows(new Uint8Array(RECORDS * FLOW.SIZE))],
    ['of links', () => readLinks(new Uint8Array(RECORDS * 60))],
    ['of addresses', () => readAddresses(new Uint8Array(RECORDS * 44))],
    ['of the real servers of one virtual service', () => readServices(nested(112, 20, 96))],
    ['of the entries of one set', () => readSets(nested(92, 24, 40))],
  ];
  for (const [name, steps] of listings) {
    it(name, async () => {
      const [turns] = await turnsOf(steps());
      assert.ok(turns >= TURNS, `it turned ${turns} times`);
    });
  }
});

it('a short listing is read at once', async () => {
  const [turns, flows] = await turnsOf(readFlows(new Uint8Array(3 * FLOW.SIZE)));
  assert.deepEqual([turns, flows.length], [0, 3]);
});

it('an error of a step is the error of all', async () => {
  await assert.rejects(
    inSlices(readServices(new Uint8Array(112).fill(7, 1, 2))),
    /virtual service of protocol 7/,
  );
});
