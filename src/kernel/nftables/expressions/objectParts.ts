// The parts of objects that rules refer to by name (`NFTA_COUNTER_` and its like).
import { hasFields, integerRule, isIntegerWithin } from '../../shared/arguments.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import type { ByteWriter } from '../../shared/wire/byteWriter.js';
import { NESTED } from '../numbers.js';
import type { ObjectType } from '../types.js';
import { bigInteger, choice, type Format, integer, putU32, text, u32Of } from './formats.js';
import { bits, field, ignored, optional, type Part } from './parts.js';

/** `NFPROTO_`, in 16 bits. */
const NETWORKS = { ip: 2, ip6: 10, inet: 1 } as const;
const PROTOCOLS = { tcp: 6, udp: 17 } as const;

/** The protocols of connections. */
function connections(network: number, protocol: number): Part[] {
  return [
    optional('network', network, choice(NETWORKS, 'u16')),
    field('protocol', protocol, choice(PROTOCOLS, 'u8')),
  ];
}

/** The names of the states of a protocol by their numbers, from 1 (`CTA_TIMEOUT_`), and their times in s unless others are given. */
export const TIMEOUTS = {
  tcp: [
    ...[['syn_sent', 120] as const, ['syn_recv', 60] as const, ['established', 432_000] as const],
    ...[['fin_wait', 120] as const, ['close_wait', 60] as const, ['last_ack', 30] as const],
    ...[['time_wait', 120] as const, ['close', 10] as const, ['syn_sent2', 120] as const],
    ...[['retrans', 300] as const, ['unack', 300] as const],
  ],
  udp: [['unreplied', 30] as const, ['replied', 120] as const],
} as const;
const MOST_TIME = 0xffff_ffff;

/** The states of a protocol; none of a value that is no protocol. */
function statesOf(protocol: unknown) {
  return protocol === 'tcp' || protocol === 'udp' ? TIMEOUTS[protocol] : [];
}

/** The times of states. */
const policy: Part = {
  fields: ['policy'],
  required: ['policy'],
  attributes: [3],
  write({ writer, fail }, { policy: given, protocol }) {
    const names = statesOf(protocol).map(([name]): string => name);
    const times = hasFields(given) ? Object.entries(given) : undefined;
    if (!times?.every(([name, time]) => names.includes(name) && isIntegerWithin(time, 0, MOST_TIME))) {
      const rule = `must be times, by ${names.join(', ')}: each ${integerRule(0, MOST_TIME)}`;
      fail('policy', given, rule, !times);
      return;
    }
    const start = writer.begin(3 | NESTED);
    for (const [name, time] of times) putU32(writer, names.indexOf(name) + 1, time as number);
    writer.end(start);
  },
  read(cursor, value) {
    const states = statesOf(value['protocol']);
    const times: Record<string, number> = {};
    for (const time = cursor.nested(); time.next(); ) {
      const name = states[time.type - 1]?.[0];
      if (name === undefined) return false;
      times[name] = u32Of(time);
    }
    value['policy'] = times;
    return true;
  },
};

/** A number of 32 bits in the machine's order. */
const hostInteger: Format<number> = {
  ...integer('u32'),
  write: (writer: ByteWriter, attribute, value) => {
    writer.u16(8).u16(attribute).u32(value);
  },
  read: (cursor: AttributeCursor) => cursor.u32(),
};

/** Also of the expression. */
export const LIMIT_PARTS: readonly Part[] = [
  field('rate', 1, bigInteger),
  field('unit', 2, bigInteger),
  optional('burst', 3, integer('u32')),
  optional('of', 4, choice({ packets: 0, bytes: 1 }), 'packets'),
  bits(5, { booleans: { over: 1 } }),
  ignored(6), // NFTA_LIMIT_PAD
];

/** `NF_SYNPROXY_OPT_`: those that other fields tell. */
const [MSS, WINDOW_SCALE] = [1, 2];

const synproxyFlags = bits(3, {
  list: { name: 'flags', numbers: { timestamp: 8, 'sack-perm': 4 } },
  derived: ({ mss, windowScale }) =>
    (mss === undefined ? 0 : MSS) | (windowScale === undefined ? 0 : WINDOW_SCALE),
  ignored: MSS | WINDOW_SCALE,
});

/** Also of the expression. */
export const SYNPROXY_PARTS: readonly Part[] = [
  optional('mss', 1, integer('u16')),
  optional('windowScale', 2, integer('u8', 0, 14)),
  {
    ...synproxyFlags,
    read(cursor, value, reading) {
      // The kernel lists zeros for what is not there.
      if (!(u32Of(cursor) & MSS)) delete value['mss'];
      if (!(u32Of(cursor) & WINDOW_SCALE)) delete value['windowScale'];
      return synproxyFlags.read(cursor, value, reading);
    },
  },
];

/** Of each type. */
export const OBJECT_PARTS: Readonly<Record<ObjectType, readonly Part[]>> = {
  counter: [optional('bytes', 1, bigInteger), optional('packets', 2, bigInteger), ignored(3)],
  quota: [
    field('bytes', 1, bigInteger),
    bits(2, { booleans: { over: 1 }, ignored: 2 }), // 2: it is depleted, which follows from the numbers
    ignored(3),
    optional('used', 4, bigInteger),
  ],
  limit: LIMIT_PARTS,
  'ct helper': [field('helper', 1, text(15)), ...connections(2, 3)],
  'ct timeout': [...connections(1, 2), policy],
  'ct expectation': [
    ...connections(1, 2),
    field('port', 3, integer('u16')),
    field('timeout', 4, hostInteger),
    field('size', 5, integer('u8')),
  ],
  secmark: [field('context', 1, text(4095))],
  synproxy: SYNPROXY_PARTS,
};
