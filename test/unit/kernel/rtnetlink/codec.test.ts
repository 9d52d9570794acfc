// Messages of rtnetlink → values: captured replies, and malformed messages of every kind.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { readLink } from '../../../../src/kernel/rtnetlink/links/read.js';
import { encodeNewLink } from '../../../../src/kernel/rtnetlink/links/write.js';
import { type Message, messagesOf } from '../../../../src/kernel/rtnetlink/message.js';
import { HOST_IS_LITTLE } from '../../../../src/kernel/shared/wire/messages.js';
import { WHOLE } from '../../../support/extent.js';
import { HEADER, listed, NAMES, only, withHeader } from '../../../support/tables/rtnetlink/messages.js';
import {
  ADDRESS,
  ADDRESS6,
  LINKS,
  NEIGHBOUR,
  ROUTE,
  ROUTE6,
  RULE,
  SAMPLES,
} from '../../../support/tables/rtnetlink/samples.js';

describe('messages that are well-formed', () => {
  it('reads captured links as ip shows them', () => {
    const links = [...messagesOf(LINKS, 'rtnetlink.test')].map((message) => readLink(message, NAMES));
    assert.deepEqual(
      links.map(({ index, name, kind, mtu, up, state, address, minMtu, txQueues }) =>
        [index, name, kind, mtu, up, state, address, minMtu, txQueues].join(' '),
      ),
      [
        '1 lo  65536 true unknown 00:00:00:00:00:00 0 1',
        '2 nlmon0 nlmon 3776 true unknown  16 1',
        '3 knp0 veth 1500 true up 02:f9:3f:81:3b:07 68 2',
        '4 kube-ipvs0 dummy 1500 false down 8a:13:4c:aa:64:dc 0 1',
      ],
    );
    assert.deepEqual(links[3]?.flags, ['broadcast', 'noarp']);
    assert.deepEqual([links[0]?.queueingDiscipline, links[3]?.queueingDiscipline], ['noqueue', 'noop']);
    assert.deepEqual(
      links.map(({ addressGeneration }) => addressGeneration),
      Array(4).fill('eui64'),
    );
    // The other end of knp0 is in another namespace, where 2 is its index; here it is that of nlmon0.
    assert.deepEqual([links[2]?.linkIndex, links[2]?.link], [2, undefined]);
  });

  for (const [kind, sample, expected] of [
    ['an address of IPv4', 'an address of IPv4', ADDRESS],
    ['an address of IPv6', 'an address of IPv6', ADDRESS6],
    ['a route of IPv4', 'a route of IPv4', ROUTE],
    ['a route of IPv6', 'a route of IPv6', ROUTE6],
    ['a rule', 'a rule', RULE],
    ['a neighbour', 'a neighbour', { ...NEIGHBOUR, link: '' }],
  ] as const) {
    it(`reads ${kind} as it was written`, () => {
      const [bytes, read] = SAMPLES[sample] ?? assert.fail();
      const value = only(bytes, read) as Record<string, unknown>;
      const given = { ...expected } as Record<string, unknown>;
      if (sample === 'a route of IPv6') {
        given['nextHops'] = [
          { gateway: 'fd01::2', weight: 3, flags: [] },
          { gateway: 'fd01::3', weight: 1, flags: ['onlink'] },
        ];
      }
      for (const [field, held] of Object.entries(given)) {
        const actual = value[field];
        const sorted = (list: unknown) =>
          Array.isArray(list) && field === 'flags' ? [...list].sort() : list;
        assert.deepEqual(sorted(actual), sorted(held), field);
      }
    });
  }
});

/** Messages of random bytes, of each kind. */
const ROUNDS = WHOLE ? 3000 : 300;

describe('messages that are malformed', () => {
  /** Reads all messages: the number of values, or 0 after an error, which must be the one for malformed replies. */
  function attempt(bytes: Uint8Array, read: (message: Message) => unknown, note: () => string): number {
    let values = 0;
    try {
      for (const message of messagesOf(bytes, 'rtnetlink.test')) {
        read(message);
        values += 1;
      }
    } catch (error) {
      const known = error instanceof NetlinkError && error.code === 'ERR_MALFORMED_REPLY';
      assert.ok(known, `${note()}: ${error instanceof Error ? error.stack : String(error)}`);
      assert.equal(error.operation, 'rtnetlink.test');
      return 0;
    }
    return values;
  }

  for (const [kind, [bytes, read]] of Object.entries(SAMPLES)) {
    it(`cut at every length: ${kind}`, () => {
      const [first] = messagesOf(bytes, 'rtnetlink.test');
      assert.ok(first);
      const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, HOST_IS_LITTLE);
      let refused = 0;
      for (let length = 1; length < size; length++) {
        const cut = bytes.slice(0, length);
        if (attempt(cut, read, () => `cut to ${length}`) === 0) refused += 1;
        if (length < HEADER) continue;
        // The same with the length in the header.
        attempt(withHeader(first.type, bytes.slice(HEADER, length)), read, () => `payload cut at ${length}`);
      }
      assert.equal(refused, size - 1);
    });

    it(`every length that an attribute may claim: ${kind}`, () => {
      const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, HOST_IS_LITTLE);
      for (let at = HEADER; at + 2 <= size; at += 2) {
        for (const length of [0, 1, 3, 4, 5, 7, 8, 20, 0x7fff, 0xffff]) {
          const changed = bytes.slice(0, size);
          new DataView(changed.buffer).setUint16(at, length, HOST_IS_LITTLE);
          attempt(changed, read, () => `${length} at ${at}`);
        }
      }
    });

    it(`random bytes: ${kind}`, () => {
      let state = 1;
      const random = (below: number) => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
        return (state >> 8) % below;
      };
      let values = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const changed = bytes.slice();
        for (let i = random(8); i >= 0; i--) changed[random(changed.length)] = random(round % 2 ? 256 : 40);
        values += attempt(changed, read, () => `round ${round}`);
      }
      assert.ok(values > ROUNDS / 6, `${values} values`);
    });
  }

  it('an attribute that is too short names message and attribute', () => {
    const [bytes, read] = SAMPLES['a neighbour'] ?? assert.fail();
    const changed = bytes.slice();
    new DataView(changed.buffer).setUint16(HEADER + 12, 6, HOST_IS_LITTLE); // NDA_DST, the first attribute
    assert.throws(() => only(changed, read), {
      message:
        /^ERR_MALFORMED_REPLY: rtnetlink\.test: message 28: attribute 1: the value has 2 bytes, expected at least 16$/,
    });
    const inner = listed(encodeNewLink('br', 'bridge', { bridge: { priority: 1 } }));
    const place = inner.length - 8; // IFLA_BR_PRIORITY in IFLA_INFO_DATA in IFLA_LINKINFO
    new DataView(inner.buffer).setUint16(place, 5, HOST_IS_LITTLE);
    assert.throws(
      () => only(inner, (message) => readLink(message, NAMES)),
      /message 16: attribute 18, 2, 6: the value has 1 bytes/,
    );
  });
});
