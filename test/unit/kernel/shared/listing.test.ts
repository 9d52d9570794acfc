// Long listings are decoded in time slices, and the event loop turns in between.
import assert from 'node:assert/strict';
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { keepYoungGenerationSmall } from '../../../../src/command/agent/heap.js';
import { listFlows, readFlows } from '../../../../src/kernel/conntrack/listing.js';
import { planListingInSteps } from '../../../../src/kernel/conntrack/plans.js';
import { readListing as readSets } from '../../../../src/kernel/ipset/listing.js';
import { ConnectionListing } from '../../../../src/kernel/ipvs/connections.js';
import { LISTED_SERVER, LISTED_SERVICE, SERVICE } from '../../../../src/kernel/ipvs/layouts.js';
import { readListing as readServices } from '../../../../src/kernel/ipvs/records.js';
import { encodeAddress, readAddress } from '../../../../src/kernel/rtnetlink/addresses/codec.js';
import { type Message, messagesOf } from '../../../../src/kernel/rtnetlink/message.js';
import { readRoute } from '../../../../src/kernel/rtnetlink/routes/read.js';
import { encodeRoute } from '../../../../src/kernel/rtnetlink/routes/write.js';
import type { NativeNetlinkClient } from '../../../../src/kernel/shared/addon.js';
import { type Reading, RecordListing, readAll } from '../../../../src/kernel/shared/listing.js';
import { atOnce } from '../../../../src/kernel/steps.js';
import { WHOLE } from '../../../support/extent.js';
import { blocksOf } from '../../../support/measures/threadBlocks.js';
import { listedFlow } from '../../../support/tables/flows.js';
import { listed, repeated } from '../../../support/tables/rtnetlink/messages.js';

// The test runner follows each promise. What the garbage collector then does for those that it finds together is no part of its pauses.
keepYoungGenerationSmall();

const RECORDS = WHOLE ? 100_000 : 60_000;
/** No callback of the event loop waits longer, in ms. */
const LONGEST_BLOCK = 10;
/** Most runs until one is undisturbed. The first compiles the code, and on a busy machine others may take several times their time. */
const RUNS = 15;

/**
 * The longest time for which reading blocks the event loop, in ms, and the number of turns. Pauses of the garbage collector are
 * not counted: they depend on the memory that the reader of the listing keeps.
 */
async function longestBlockOf(read: () => Promise<unknown>): Promise<{ longest: number; turns: number }> {
  const collections: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const blocks = await blocksOf(read);
  await new Promise((resolve) => setTimeout(resolve, 1));
  observer.disconnect();
  const lengths = blocks.map(({ start, end, ran }) =>
    collections
      .filter(({ startTime }) => startTime >= start && startTime < end)
      .reduce((left, { duration }) => left - duration, ran),
  );
  return { longest: Math.max(0, ...lengths), turns: blocks.length };
}

/** The place of the number of real servers in a listed virtual service. */
const REAL_SERVERS = LISTED_SERVICE.service + SERVICE.realServers;

/** A listing of one object with as many parts: the header of the object has their number at `at`. */
function nested(header: number, at: number, part: number): Uint8Array {
  const bytes = new Uint8Array(header + RECORDS * part);
  new DataView(bytes.buffer).setUint32(at, RECORDS, true);
  bytes[1] = 6; // the protocol of a virtual service
  return bytes;
}

/** The answer to a listing of addresses, message by message. */
function addresses(): Uint8Array {
  const given = {
    link: 'va',
    address: '10.1.0.2',
    prefix: 32,
    label: 'va',
    flags: ['noprefixroute'],
  } as const;
  return repeated(listed(encodeAddress('add', given)), RECORDS);
}

/** The same of routes. */
function routes(): Uint8Array {
  const given = { destination: '10.9.0.0/24', gateway: '10.1.0.2', link: 'va', metrics: { mtu: 1400 } };
  return repeated(listed(encodeRoute('add', given)), RECORDS);
}

function* readEach<T>(
  answer: Uint8Array,
  read: (message: Message, links: ReadonlyMap<number, string>) => T | undefined,
): Reading<T> {
  const links = new Map([[0, 'va']]);
  for (const message of messagesOf(answer, 'rtnetlink.list')) yield read(message, links);
}

/** The text of the connection table, in pieces as long as the addon's. */
async function* connectionPieces(): AsyncGenerator<Uint8Array, void, undefined> {
  const line = 'TCP 0A000009 9C40 0A600001 01BB 0A000004 192B ESTABLISHED     899\n';
  const text = Buffer.from(
    `Pro FromIP   FPrt ToIP     TPrt DestIP   DPrt State       Expires PEName PEData\n${line.repeat(RECORDS)}`,
  );
  for (let at = 0; at < text.length; at += 65_536) yield text.subarray(at, at + 65_536);
}

/** Selects 500 flows by as many sources as a listing has records. None is selected. */
async function selectBySources(): Promise<void> {
  const messages = Buffer.concat(Array.from({ length: 500 }, (_, id) => listedFlow({ id })));
  const client = { beginListing: async () => ({ messages, ended: true, restarted: false }) };
  assert.deepEqual(await listFlows(client as unknown as NativeNetlinkClient, SOURCES, 'conntrack.list'), []);
}

const SOURCES = atOnce(
  planListingInSteps(
    Array.from({ length: RECORDS }, (_, i) => ({
      family: 4,
      original: { source: `192.${i >> 16}.${(i >> 8) & 255}.${i & 255}` },
    })),
    {},
  ),
);

describe(`no listing of ${RECORDS} records blocks the event loop for more than ${LONGEST_BLOCK} ms`, () => {
  const portion = Buffer.concat(Array.from({ length: RECORDS }, (_, id) => listedFlow({ id })));
  const flows = () => readFlows([portion], 'conntrack.list');
  const listings: [name: string, read: () => Promise<unknown>][] = [
    ['flows', () => readAll(flows())],
    [
      'flows, one by one',
      async () => {
        for await (const _ of new RecordListing(async () => flows()));
      },
    ],
    ['flows, of which each is compared with many sources', selectBySources],
    ['addresses', () => readAll(readEach(addresses(), readAddress))],
    ['routes', () => readAll(readEach(routes(), readRoute))],
    [
      'real servers of one virtual service',
      () => readAll(readServices(nested(LISTED_SERVICE.SIZE, REAL_SERVERS, LISTED_SERVER.SIZE))),
    ],
    ['entries of one set', () => readAll(readSets(nested(92, 24, 40)))],
    ['connections', () => new ConnectionListing(connectionPieces, () => true).toArray()],
  ];
  for (const [name, read] of listings) {
    it(name, async () => {
      let best = Number.POSITIVE_INFINITY;
      for (let run = 0; run < RUNS && best > LONGEST_BLOCK; run++) {
        const { longest, turns } = await longestBlockOf(read);
        assert.ok(turns >= 3, `the event loop turned ${turns} times`);
        best = Math.min(best, longest);
      }
      assert.ok(best <= LONGEST_BLOCK, `blocked for ${best} ms`);
    });
  }
});

it('a short listing is read at once', async () => {
  const blocks = await blocksOf(() => readAll(readFlows([listedFlow()], 'conntrack.list')));
  assert.equal(blocks.length, 1);
});

it('an error of a step is the error of all', async () => {
  await assert.rejects(
    readAll(
      (function* (): Reading<number> {
        yield 1;
        throw new RangeError('a record that is not a record');
      })(),
    ),
    /a record that is not a record/,
  );
});

describe('a listing', () => {
  it('reads anew for each iteration, and starts with it', async () => {
    let reads = 0;
    const listing = new RecordListing(async () => [1, undefined, 2, ++reads]);
    assert.equal(reads, 0);
    assert.deepEqual(await listing.toArray(), [1, 2, 1]);
    const values = [];
    for await (const value of listing) values.push(value);
    assert.deepEqual(values, [1, 2, 2]);
  });

  it('decodes only the values that are asked for', async () => {
    let decoded = 0;
    const listing = new RecordListing(async () =>
      (function* () {
        for (;;) yield ++decoded;
      })(),
    );
    for await (const value of listing) if (value === 3) break;
    assert.equal(decoded, 3);
  });

  for (const [name, read] of [
    [
      'an iteration',
      async (listing: RecordListing<number>) => {
        for await (const _ of listing);
      },
    ],
    ['toArray()', (listing: RecordListing<number>) => listing.toArray()],
  ] as const) {
    it(`ends ${name} when its signal is aborted`, async () => {
      const end = new AbortController();
      const listing = new RecordListing(
        async () =>
          (function* () {
            for (let value = 0; ; value++) {
              if (value === 10_000) end.abort(new Error('enough'));
              yield value;
            }
          })(),
        end.signal,
      );
      await assert.rejects(read(listing), /enough/);
    });
  }
});
