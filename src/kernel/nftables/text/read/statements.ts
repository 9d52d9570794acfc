// Statements that need nothing of the packet: counters, limits, logs, rejections, queues. See ../statements.ts, which writes them.
import type { Expression, ObjectType, Synproxy } from '../../types.js';
import type { Need } from '../known.js';
import {
  DEFAULT_BURST,
  ICMP_CODES,
  ICMPV6_CODES,
  ICMPX_CODES,
  LOG_ALL,
  LOG_LEVELS,
  RATE_UNITS,
} from '../statements.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { bytesAt, integerAt, integerOf, sizeOf, spacedAt } from './values.js';

/** A statement: its expression, and the header that a packet must have for it. */
interface Statement {
  readonly expression: Expression;
  readonly needs?: readonly Need[];
}

const MOST_U64 = 2n ** 64n - 1n;

/** Reads a statement that an element may have, too; undefined if there is none at the cursor. */
export function statefulAt(cursor: Cursor): Expression | undefined {
  if (cursor.accept('counter')) return { kind: 'counter', ...countsAt(cursor) };
  if (cursor.accept('quota')) return { kind: 'quota', ...quotaAt(cursor) };
  if (cursor.accept('limit')) return { kind: 'limit', ...limitAt(cursor) };
  if (!cursor.is('ct') || cursor.ahead(1)?.text !== 'count') return undefined;
  cursor.take('ct');
  cursor.take('count');
  const over = cursor.accept('over');
  const count = Number(integerAt(cursor, 'a number of connections', 0xffff_ffff, 1n));
  return { kind: 'connlimit', count, ...(over && { over }) };
}

/** `packets 5 bytes 7`; nothing of both is 0. */
export function countsAt(cursor: Cursor): { packets?: bigint; bytes?: bigint } {
  const counts: { packets?: bigint; bytes?: bigint } = {};
  for (const name of cursor.is('bytes') ? (['bytes', 'packets'] as const) : (['packets', 'bytes'] as const)) {
    if (!cursor.is('packets', 'bytes') && counts.packets === undefined && counts.bytes === undefined)
      return {};
    cursor.expect(name);
    counts[name] = integerAt(cursor, `a number of ${name}`, MOST_U64);
  }
  return counts;
}

/** `over 25 mbytes used 10 bytes` */
export function quotaAt(cursor: Cursor): { bytes: bigint; over?: true; used?: bigint } {
  const over = cursor.accept('over');
  if (!over) cursor.accept('until');
  const bytes = bytesAt(cursor);
  const used = cursor.accept('used') ? bytesAt(cursor) : 0n;
  return { bytes, ...(over && { over }), ...(used > 0n && { used }) };
}

/** Seconds by the names of their units. */
const SECONDS: ReadonlyMap<string, bigint> = new Map(
  [...RATE_UNITS].map(([seconds, name]) => [name, seconds]),
);

/** `rate over 400/minute burst 10 packets` */
export function limitAt(cursor: Cursor): Omit<Extract<Expression, { kind: 'limit' }>, 'kind'> {
  cursor.expect('rate');
  const over = cursor.accept('over');
  const { token } = cursor;
  const text = spacedAt(cursor, 'a rate', /^\d+[a-z]*\/[a-z0-9]+$/);
  const [, digits = '', size = '', unit = ''] = /^(\d+)([a-z]*)\/(.+)$/.exec(text) ?? [];
  if (size === '') {
    const rate = integerOf(token, digits, MOST_U64);
    const burst = burstAt(cursor, DEFAULT_BURST, () => {
      const packets = integerAt(cursor, 'a number of packets', 0xffff_ffff, 1n);
      cursor.expect('packets');
      return packets;
    });
    return { rate, unit: secondsOf(token, unit), burst, ...(over && { over }) };
  }
  const bytes = sizeOf(size);
  if (bytes === undefined) throw new Unreadable('must be a unit of bytes and a time: `mbytes/second`', token);
  const rate = integerOf(token, digits, MOST_U64 / bytes) * bytes;
  const burst = burstAt(cursor, 0, () => bytesAt(cursor));
  return { rate, unit: secondsOf(token, unit), burst, of: 'bytes', ...(over && { over }) };
}

function secondsOf(token: Token, unit: string): bigint {
  const seconds = SECONDS.get(unit);
  if (seconds === undefined)
    throw new Unreadable(`must be a rate per ${[...SECONDS.keys()].join(', ')}`, token);
  return seconds;
}

function burstAt(cursor: Cursor, absent: number, read: () => bigint): number {
  if (!cursor.accept('burst')) return absent;
  const { token } = cursor;
  const burst = read();
  if (burst > 0xffff_ffffn) throw new Unreadable('must be a burst of at most 4294967295', token);
  return Number(burst);
}

/** Words before the name of an object, and its type. */
const OBJECT_STATEMENTS: ReadonlyMap<string, ObjectType> = new Map([
  ...(['counter', 'quota', 'limit', 'synproxy'] as const).map((type) => [`${type} name`, type] as const),
  ...(['ct helper', 'ct timeout', 'ct expectation'] as const).map((type) => [`${type} set`, type] as const),
  ['meta secmark set', 'secmark'],
]);

/** Reads the words before the name of an object, or before a map of objects. Returns its type; undefined if there are none. */
export function objectTypeAt(cursor: Cursor): ObjectType | undefined {
  for (const count of [2, 3]) {
    const words = Array.from({ length: count }, (_, i) => cursor.ahead(i));
    const type = OBJECT_STATEMENTS.get(words.map((word) => (word?.isQuoted ? '"' : word?.text)).join(' '));
    if (type === undefined) continue;
    for (const word of words) cursor.expect(word?.text ?? '');
    return type;
  }
  return undefined;
}

/** `mss 1460 wscale 7 timestamp sack-perm` */
export function synproxyAt(cursor: Cursor): Synproxy {
  const found: { mss?: number; windowScale?: number } = {};
  const flags: ('timestamp' | 'sack-perm')[] = [];
  for (;;) {
    if (cursor.accept('mss')) found.mss = Number(integerAt(cursor, 'a number of bytes', 0xffff));
    else if (cursor.accept('wscale')) found.windowScale = Number(integerAt(cursor, 'a number of bits', 14));
    else if (cursor.accept('timestamp')) flags.push('timestamp');
    else if (cursor.accept('sack-perm')) flags.push('sack-perm');
    else return { ...found, ...(flags.length > 0 && { flags }) };
  }
}

/** Reads a statement of its own; undefined if there is none at the cursor. */
export function plainStatementAt(cursor: Cursor, network: 'ip' | 'ip6' | undefined): Statement | undefined {
  const stateful = statefulAt(cursor);
  if (stateful) return { expression: stateful };
  if (cursor.accept('synproxy')) return { expression: { kind: 'synproxy', ...synproxyAt(cursor) } };
  if (cursor.accept('flow')) return { expression: flowAt(cursor) };
  if (cursor.accept('notrack')) return { expression: { kind: 'notrack' } };
  if (cursor.accept('log')) return { expression: logAt(cursor) };
  if (cursor.accept('queue')) return { expression: queueAt(cursor) };
  return cursor.accept('reject') ? rejectAt(cursor, network) : undefined;
}

/** `add @table` */
function flowAt(cursor: Cursor): Expression {
  if (!cursor.accept('offload')) cursor.expect('add');
  const token = cursor.word('a flow table');
  if (!token.text.startsWith('@')) throw new Unreadable('must be a flow table: `@name`', token);
  return { kind: 'flowOffload', table: token.text.slice(1) };
}

const LOG_FLAGS: ReadonlyMap<string, number> = new Map([
  ['all', LOG_ALL],
  ['skuid', 8],
  ['ether', 0x20],
]);
const LOG_TCP: ReadonlyMap<string, number> = new Map([
  ['sequence', 1],
  ['options', 2],
]);
const LOG_IP_OPTIONS = 4;
const AUDIT = LOG_LEVELS.indexOf('audit');

function logAt(cursor: Cursor): Expression {
  const found: Partial<Record<'group' | 'snaplen' | 'queueThreshold' | 'level' | 'flags', number>> = {};
  let prefix: string | undefined;
  let flags = 0;
  const { token } = cursor;
  for (;;) {
    if (cursor.accept('prefix')) prefix = cursor.quoted('a prefix');
    else if (cursor.accept('group')) found.group = Number(integerAt(cursor, 'a group', 0xffff));
    else if (cursor.accept('snaplen')) found.snaplen = Number(integerAt(cursor, 'a length'));
    else if (cursor.accept('queue-threshold'))
      found.queueThreshold = Number(integerAt(cursor, 'a number of packets', 0xffff));
    else if (cursor.accept('level')) {
      const name = cursor.word('a level');
      const level = (LOG_LEVELS as readonly string[]).indexOf(name.text);
      if (level < 0) throw new Unreadable(`must be one of ${LOG_LEVELS.join(', ')}`, name);
      found.level = level;
    } else if (cursor.accept('flags')) flags |= logFlagsAt(cursor);
    else break;
  }
  if (found.level === AUDIT && (prefix !== undefined || flags > 0 || Object.keys(found).length > 1))
    throw new Unreadable('must have nothing beside `level audit`', token);
  return { kind: 'log', ...(prefix !== undefined && { prefix }), ...found, ...(flags > 0 && { flags }) };
}

function logFlagsAt(cursor: Cursor): number {
  if (cursor.accept('ip')) {
    cursor.expect('options');
    return LOG_IP_OPTIONS;
  }
  const isTcp = cursor.accept('tcp');
  const names = isTcp ? LOG_TCP : LOG_FLAGS;
  let sum = 0;
  do {
    const name = cursor.word('a flag of log');
    const flag = names.get(name.text);
    if (flag === undefined) throw new Unreadable(`must be one of ${[...names.keys()].join(', ')}`, name);
    sum |= flag;
  } while (isTcp && cursor.accept(','));
  return sum;
}

function queueAt(cursor: Cursor): Expression {
  const flags: ('bypass' | 'fanout')[] = [];
  if (cursor.accept('flags')) {
    do {
      const name = cursor.word('a flag of queue');
      const flag = (['bypass', 'fanout'] as const).find((each) => each === name.text);
      if (!flag) throw new Unreadable('must be one of bypass, fanout', name);
      flags.push(flag);
    } while (cursor.accept(','));
  }
  if (!cursor.accept('num')) cursor.expect('to');
  const token = cursor.word('the number of a queue');
  const [first = '', last = first, more] = token.text.split('-');
  const [from, to] = [first, last].map((text) => Number(integerOf(token, text, 0xffff)));
  if (more !== undefined || (to as number) < (from as number))
    throw new Unreadable('must be the number of a queue, or a range of numbers', token);
  const total = (to as number) - (from as number) + 1;
  return {
    ...{ kind: 'queue', first: from as number },
    ...(total > 1 && { total }),
    ...(flags.length > 0 && { flags }),
  };
}

/** Codes of ICMP messages by the names of their protocols, and the family of the packets. */
const REJECTIONS = {
  icmp: { codes: ICMP_CODES, network: 'ip' },
  icmpv6: { codes: ICMPV6_CODES, network: 'ip6' },
  icmpx: { codes: ICMPX_CODES, network: undefined },
} as const;
/** `ICMP_PORT_UNREACH`, `ICMPV6_PORT_UNREACH`, `NFT_REJECT_ICMPX_PORT_UNREACH` */
const PORT_UNREACHABLE = { ip: 3, ip6: 4, other: 1 } as const;
const TCP = 6;

function rejectAt(cursor: Cursor, network: 'ip' | 'ip6' | undefined): Statement {
  if (!cursor.accept('with')) {
    return network
      ? { expression: { kind: 'reject', type: 'icmp', code: PORT_UNREACHABLE[network] } }
      : { expression: { kind: 'reject', type: 'icmpx', code: PORT_UNREACHABLE.other } };
  }
  if (cursor.accept('tcp')) {
    cursor.expect('reset');
    return {
      expression: { kind: 'reject', type: 'tcp reset' },
      needs: [{ layer: 'transport', protocol: TCP }],
    };
  }
  const kind = cursor.word('tcp reset, icmp, icmpv6 or icmpx');
  const known = Object.hasOwn(REJECTIONS, kind.text)
    ? REJECTIONS[kind.text as keyof typeof REJECTIONS]
    : undefined;
  if (!known || (network !== undefined && known.network !== undefined && known.network !== network))
    throw new Unreadable('must be a rejection of the family: tcp reset, icmp, icmpv6, icmpx', kind);
  cursor.accept('type');
  const name = cursor.word('a code');
  const number = (known.codes as readonly (readonly [string, number])[]).find(
    ([each]) => each === name.text,
  )?.[1];
  const code = number ?? Number(integerOf(name, name.text, 255));
  if (known.network === undefined) return { expression: { kind: 'reject', type: 'icmpx', code } };
  return {
    expression: { kind: 'reject', type: 'icmp', code },
    needs: [{ layer: 'network', network: known.network }],
  };
}
