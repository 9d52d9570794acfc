// The expressions that act: verdicts, statements of NAT, logs, counters. See shapes.ts.

import { OBJECT_TYPES } from '../numbers.js';
import { bigInteger, choice, data, integer, register, text, verdict } from './formats.js';
import { OBJECT_PARTS, SYNPROXY_PARTS } from './objectParts.js';
import { elementExpressions, lookedUp } from './ownParts.js';
import { bits, field, fixed, ignored, optional, type Part, type Shape, withDefault } from './parts.js';
import type { NatFlag } from './types.js';

const NAT_FLAGS: Readonly<Record<NatFlag, number>> = {
  random: 4,
  persistent: 8,
  'fully-random': 0x10,
  netmap: 0x40,
};
/** NF_NAT_RANGE_MAP_IPS and NF_NAT_RANGE_PROTO_SPECIFIED, which the kernel adds for the registers. */
const FROM_REGISTERS = 3;

function natFlags(attribute: number): Part {
  return bits(attribute, { list: { name: 'flags', numbers: NAT_FLAGS }, ignored: FROM_REGISTERS });
}

/** The kernel lists the end of a range that has only one value. */
function dropEnds(value: Record<string, unknown>): true {
  for (const name of ['address', 'port']) {
    if (value[name] !== undefined && value[`${name}End`] === value[name]) delete value[`${name}End`];
  }
  return true;
}

const code = optional('code', 2, integer('u8'), 0);
const codeOrZero = withDefault('code', 2, integer('u8'), 0);
/** The code of the ICMP message: the kernel demands it where it has a meaning. */
const rejectCode: Part = {
  ...code,
  write: (writing, value) => (value['type'] === 'tcp reset' ? code : codeOrZero).write(writing, value),
};

/** `NFT_DYNSET_F_EXPR` */
const SEVERAL = 2;

function severalExpressions({ expressions }: Readonly<Record<string, unknown>>): number {
  return Array.isArray(expressions) && expressions.length > 1 ? SEVERAL : 0;
}

const queueNumber = integer('u16');

/** The kinds of expressions that act. */
export const actions: readonly Shape[] = [
  { kind: 'verdict', name: 'immediate', parts: [fixed(1, 0), field('verdict', 2, verdict)] },
  { kind: 'immediate', name: 'immediate', parts: [field('register', 1, register), field('data', 2, data)] },
  {
    kind: 'dynset',
    name: 'dynset',
    parts: [
      field('set', 1, text(255)),
      ignored(2), // NFTA_DYNSET_SET_ID, of messages to the kernel
      field('operation', 3, choice({ add: 0, update: 1, delete: 2 })),
      field('source', 4, register),
      optional('dataSource', 5, register),
      optional('timeout', 6, bigInteger, 0n),
      elementExpressions,
      bits(9, { booleans: { invert: 1 }, ignored: SEVERAL, derived: severalExpressions }),
    ],
    padding: 8,
  },
  {
    kind: 'nat',
    name: 'nat',
    parts: [
      field('type', 1, choice({ snat: 0, dnat: 1 })),
      field('family', 2, choice({ ip: 2, ip6: 10 })),
      optional('address', 3, register),
      optional('addressEnd', 4, register),
      optional('port', 5, register),
      optional('portEnd', 6, register),
      natFlags(7),
    ],
    settle: dropEnds,
  },
  {
    kind: 'masq',
    name: 'masq',
    parts: [natFlags(1), optional('port', 2, register), optional('portEnd', 3, register)],
    settle: dropEnds,
  },
  {
    kind: 'redir',
    name: 'redir',
    parts: [optional('port', 1, register), optional('portEnd', 2, register), natFlags(3)],
    settle: dropEnds,
  },
  {
    kind: 'reject',
    name: 'reject',
    parts: [field('type', 1, choice({ icmp: 0, 'tcp reset': 1, icmpx: 2 })), rejectCode],
  },
  { kind: 'counter', name: 'counter', parts: OBJECT_PARTS.counter },
  {
    kind: 'log',
    name: 'log',
    parts: [
      optional('group', 1, integer('u16')),
      optional('prefix', 2, text(127, 0)),
      optional('snaplen', 3, integer('u32')),
      optional('queueThreshold', 4, integer('u16')),
      optional('level', 5, integer('u32', 0, 8)),
      optional('flags', 6, integer('u32')),
    ],
  },
  {
    kind: 'objref',
    name: 'objref',
    parts: [field('type', 1, choice(OBJECT_TYPES)), field('name', 2, text(255))],
  },
  {
    kind: 'objrefMap',
    name: 'objref',
    parts: [field('source', 3, register), lookedUp({ set: 4, id: 5 }), ignored(5)],
  },
  { kind: 'synproxy', name: 'synproxy', parts: SYNPROXY_PARTS },
  { kind: 'flowOffload', name: 'flow_offload', parts: [field('table', 1, text(255))] },
  { kind: 'notrack', name: 'notrack', parts: [] },
  {
    kind: 'queue',
    name: 'queue',
    parts: [
      field('first', 1, queueNumber),
      withDefault('total', 2, integer('u16', 1), 1),
      bits(3, { list: { name: 'flags', numbers: { bypass: 1, fanout: 2 } }, width: queueNumber }),
    ],
  },
  {
    kind: 'tproxy',
    name: 'tproxy',
    parts: [
      field('family', 1, choice({ ip: 2, ip6: 10, inet: 0 })), // 0: NFPROTO_UNSPEC, both
      optional('address', 2, register),
      optional('port', 3, register),
    ],
  },
  {
    kind: 'dup',
    name: 'dup',
    parts: [optional('address', 1, register), optional('device', 2, register)],
  },
  { kind: 'fwd', name: 'fwd', parts: [field('device', 1, register)] },
];
