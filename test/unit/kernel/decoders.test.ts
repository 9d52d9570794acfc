// Malformed replies, for the decoders in TypeScript: changed from captured ones with a seed that is printed. Each is either read, or
// refused with ERR_MALFORMED_REPLY. FUZZ_SEED=N repeats a run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { readCpus, readExpectations, readTotals } from '../../../src/kernel/conntrack/decode/reports.js';
import { readEvents } from '../../../src/kernel/conntrack/events.js';
import { readFlows } from '../../../src/kernel/conntrack/listing.js';
import { NetlinkError } from '../../../src/kernel/errors.js';
import { type Attribute, AttributeReader } from '../../../src/kernel/netlink/attributeReader.js';
import { readFamily } from '../../../src/kernel/netlink/generic.js';
import { readMessages } from '../../../src/kernel/netlink/messages.js';
import { readAddress } from '../../../src/kernel/rtnetlink/addresses/codec.js';
import { indexOf, readLink, readName } from '../../../src/kernel/rtnetlink/links/read.js';
import { type Message, messagesOf } from '../../../src/kernel/rtnetlink/message.js';
import { readNeighbour } from '../../../src/kernel/rtnetlink/neighbours/codec.js';
import { readRoute } from '../../../src/kernel/rtnetlink/routes/read.js';
import { readRule } from '../../../src/kernel/rtnetlink/rules/codec.js';
import { WHOLE } from '../../support/extent.js';
import { ROOT } from '../../support/paths.js';

const ROUNDS = WHOLE ? 4000 : 300;
const NAMES = new Map([
  [1, 'lo'],
  [4, 'kube-ipvs0'],
]);

const capture = (path: string) => new Uint8Array(readFileSync(join(ROOT, 'test', path)));
const captured = (name: string) => capture(`unit/kernel/captures/${name}.reply`);
const each = (read: (message: Message) => unknown) => (bytes: Uint8Array) => {
  for (const message of messagesOf(bytes, 'rtnetlink.list')) read(message);
};

/** Reads every attribute, as numbers, texts, bytes and nested ones. */
function readAll(attributes: Iterable<Attribute>, depth = 0): void {
  for (const attribute of attributes) {
    attribute.text();
    attribute.bytes();
    if (attribute.size === 4) attribute.u32();
    if (depth < 4 && attribute.size >= 8) attempt(() => readAll(attribute.nested(), depth + 1));
  }
}

/** A loss is a refusal. */
function readEveryEvent(bytes: Uint8Array): void {
  for (const { kind } of readEvents(bytes)) {
    if (kind === 'resync')
      throw new NetlinkError({ code: 'ERR_MALFORMED_REPLY', operation: 'conntrack.watch' });
  }
}

/** What is not a list of attributes is refused. */
function attempt(read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
  }
}

const DECODERS: readonly [name: string, bytes: Uint8Array, read: (bytes: Uint8Array) => void][] = [
  [
    'links',
    captured('links'),
    each((message) => [readLink(message, NAMES), readName(message), indexOf(message)]),
  ],
  ...([4, 6] as const).map((family): (typeof DECODERS)[number] => [
    `addresses of IPv${family}`,
    capture(`native/captures/route-addresses${family}.reply`),
    each((message) => readAddress(message, NAMES)),
  ]),
  ['routes', captured('routes'), each((message) => readRoute(message, NAMES))],
  ['rules', captured('rules'), each((message) => readRule(message, NAMES))],
  ['neighbours', captured('neighbours'), each((message) => readNeighbour(message, NAMES))],
  [
    'families',
    capture('native/captures/genl-family.reply'),
    (bytes) => {
      for (const message of readMessages(bytes)) readFamily(message);
    },
  ],
  ...['flows4', 'flows6', 'details'].map((name): (typeof DECODERS)[number] => [
    `flows (${name})`,
    capture(`native/captures/conntrack-${name}.reply`),
    (bytes) => [...readFlows([bytes], 'conntrack.list')],
  ]),
  ['events of flows', capture('native/captures/conntrack-flows4.reply'), readEveryEvent],
  [
    'expectations',
    capture('native/captures/conntrack-expectation.reply'),
    (bytes) => [...readExpectations(bytes)],
  ],
  ['numbers of flows', capture('native/captures/conntrack-statistics.reply'), readTotals],
  ['counters of CPUs', capture('native/captures/conntrack-cpus.reply'), readCpus],
  [
    'messages of any family',
    captured('links'),
    (bytes) => {
      for (const { payload } of readMessages(bytes)) readAll(new AttributeReader(payload, { offset: 16 }));
    },
  ],
];

/** A generator of numbers below a limit, which a seed determines (xorshift). */
function numbers(seed: number): (limit: number) => number {
  let state = seed >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

/** A copy with up to four changes: bits, bytes, lengths of attributes, bytes left out or repeated, the end cut off. */
function changed(bytes: Uint8Array, below: (limit: number) => number): Uint8Array {
  let copy = [...bytes];
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const at = below(copy.length || 1);
    switch (below(6)) {
      case 0:
        copy[at] = (copy[at] ?? 0) ^ (1 << below(8));
        break;
      case 1:
        copy[at] = [0, 1, 127, 128, 255][below(5)] ?? 0;
        break;
      case 2: // of an attribute, if one begins there
        copy[at & ~3] = below(24);
        break;
      case 3:
        copy.splice(at, 1 + below(8));
        break;
      case 4:
        copy.splice(at, 0, ...copy.slice(at, at + 1 + below(16)));
        break;
      default:
        if (below(8) === 0) copy = copy.slice(0, at);
    }
  }
  return Uint8Array.from(copy);
}

for (const [name, bytes, read] of DECODERS) {
  it(`${ROUNDS} malformed replies of ${name}: each is read, or refused`, (t) => {
    read(bytes);
    const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
    t.diagnostic(`FUZZ_SEED=${seed}`);
    const below = numbers(seed);
    let refused = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const reply = changed(bytes, below);
      try {
        read(reply);
      } catch (error) {
        const isRefusal = error instanceof NetlinkError && error.code === 'ERR_MALFORMED_REPLY';
        const found = `FUZZ_SEED=${seed} round ${round}: ${Buffer.from(reply).toString('hex')}`;
        assert.ok(isRefusal, `${found}\n${(error as Error).stack}`);
        refused++;
      }
    }
    // Else the changes would be too weak, or too strong to reach the reader.
    assert.ok(refused > 0 && refused < ROUNDS, `${refused} refused`);
  });
}
