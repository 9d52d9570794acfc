// Statements of rules that need nothing of what the registers hold.
import type { Expression, ObjectType, Synproxy } from '../types.js';
import { bytesRateText, nameText, quoted } from './values.js';

/** Seconds of the units of rates. */
export const RATE_UNITS: ReadonlyMap<bigint, string> = new Map([
  [1n, 'second'],
  [60n, 'minute'],
  [3600n, 'hour'],
  [86_400n, 'day'],
  [604_800n, 'week'],
]);
/** `NFT_LIMIT_PKT_BURST_DEFAULT` */
export const DEFAULT_BURST = 5;

/** Levels of syslog, from 0. */
export const LOG_LEVELS = [
  'emerg',
  'alert',
  'crit',
  'err',
  'warn',
  'notice',
  'info',
  'debug',
  'audit',
] as const;
/** `warn`, which nft does not write. */
const DEFAULT_LEVEL = 4;

/** `NF_LOG_` */
export const LOG_ALL = 0x2f;

/** Codes of `reject with icmp`. */
export const ICMP_CODES = [
  ['net-unreachable', 0],
  ['host-unreachable', 1],
  ['prot-unreachable', 2],
  ['port-unreachable', 3],
  ['frag-needed', 4],
  ['net-prohibited', 9],
  ['host-prohibited', 10],
  ['admin-prohibited', 13],
] as const;
/** Codes of `reject with icmpv6`. */
export const ICMPV6_CODES = [
  ['no-route', 0],
  ['admin-prohibited', 1],
  ['addr-unreachable', 3],
  ['port-unreachable', 4],
  ['policy-fail', 5],
  ['reject-route', 6],
] as const;
/** Codes of `reject with icmpx`. */
export const ICMPX_CODES = [
  ['no-route', 0],
  ['port-unreachable', 1],
  ['host-unreachable', 2],
  ['admin-prohibited', 3],
] as const;

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

/**
 * The text of a statement; undefined if it is none, or depends on registers.
 *
 * @param network the protocol of the network layer, if it is known
 * @param isOfOne whether it is that of all packets of the table
 */
export function plainStatement(
  expression: Expression,
  network?: 'ip' | 'ip6',
  isOfOne = false,
): string | undefined {
  switch (expression.kind) {
    case 'counter':
      return `counter packets ${expression.packets ?? 0n} bytes ${expression.bytes ?? 0n}`;
    case 'limit':
      return limitText(expression);
    case 'quota':
      return quotaText(expression);
    case 'log':
      return logText(expression);
    case 'objref':
      return objectStatement(expression.type, quoted(expression.name));
    case 'synproxy':
      return `synproxy ${synproxyContent(expression)}`.trimEnd();
    case 'flowOffload':
      return `flow add @${nameText(expression.table)}`;
    case 'notrack':
      return 'notrack';
    case 'reject':
      return rejectText(expression, network, isOfOne);
    case 'queue':
      return queueText(expression);
    case 'connlimit':
      return `ct count ${expression.over ? 'over ' : ''}${expression.count}`;
    default:
      return undefined;
  }
}

/** A statement that names an object, or a map of objects. */
export function objectStatement(type: ObjectType, named: string): string {
  if (type === 'secmark') return `meta secmark set ${named}`;
  return type.startsWith('ct ') ? `${type} set ${named}` : `${type} name ${named}`;
}

/** `mss 1460 wscale 7 timestamp sack-perm` */
export function synproxyContent({ mss, windowScale, flags = [] }: Synproxy): string {
  const words = [...flags] as string[];
  if (windowScale !== undefined) words.unshift(`wscale ${windowScale}`);
  if (mss !== undefined) words.unshift(`mss ${mss}`);
  return words.join(' ');
}

/** Also of an object, without the word. */
export function limitText({ rate, unit, burst = 0, of, over }: Omit<Of<'limit'>, 'kind'>): string {
  const per = RATE_UNITS.get(unit) ?? `${unit} seconds`;
  const text = `limit rate ${over ? 'over ' : ''}`;
  if (of === 'bytes') {
    const most = burst > 0 ? ` burst ${bytesRateText(BigInt(burst))}` : '';
    return `${text}${bytesRateText(rate)}/${per}${most}`;
  }
  const most = burst > 0 && burst !== DEFAULT_BURST ? ` burst ${burst} packets` : '';
  return `${text}${rate}/${per}${most}`;
}

/** The text of a statement of the elements that a rule adds: without what it counted. */
export function statelessText(expression: Expression): string | undefined {
  if (expression.kind === 'counter' && !expression.packets && !expression.bytes) return 'counter';
  if (expression.kind === 'quota') return quotaText({ ...expression, used: 0n });
  return plainStatement(expression);
}

/** Also of an object. */
function quotaText({
  bytes,
  used = 0n,
  over,
}: {
  readonly bytes: bigint;
  readonly used?: bigint;
  readonly over?: boolean;
}): string {
  return `quota ${quotaContent({ bytes, used, ...(over === undefined ? {} : { over }) })}`;
}

/** The same without the word. */
export function quotaContent({
  bytes,
  used = 0n,
  over,
}: {
  readonly bytes: bigint;
  readonly used?: bigint;
  readonly over?: boolean;
}): string {
  return `${over ? 'over ' : ''}${bytesRateText(bytes)}${used > 0n ? ` used ${bytesRateText(used)}` : ''}`;
}

function logText({ prefix, group, snaplen, queueThreshold, level, flags = 0 }: Of<'log'>): string {
  const words = ['log'];
  if (prefix) words.push(`prefix ${quoted(prefix)}`);
  if (group !== undefined) words.push(`group ${group}`);
  if (snaplen) words.push(`snaplen ${snaplen}`);
  if (queueThreshold) words.push(`queue-threshold ${queueThreshold}`);
  if (level !== undefined && level !== DEFAULT_LEVEL) words.push(`level ${LOG_LEVELS[level] ?? level}`);
  if ((flags & LOG_ALL) === LOG_ALL) words.push('flags all');
  else {
    const tcp = [flags & 1 ? 'sequence' : '', flags & 2 ? 'options' : ''].filter((word) => word !== '');
    if (tcp.length > 0) words.push(`flags tcp ${tcp.join(',')}`);
    if (flags & 4) words.push('flags ip options');
    if (flags & 8) words.push('flags skuid');
    if (flags & 0x20) words.push('flags ether');
  }
  if (flags & ~LOG_ALL) {
    words.push(`[flags ${flags & ~LOG_ALL}]`);
  }
  return words.join(' ');
}

function rejectText(
  { type, code = 0 }: Of<'reject'>,
  network: 'ip' | 'ip6' | undefined,
  isOfOne: boolean,
): string {
  if (type === 'tcp reset') return 'reject with tcp reset';
  if (type === 'icmpx') {
    return code === 1 && !network ? 'reject' : `reject with icmpx ${nameOf(ICMPX_CODES, code)}`;
  }
  const isSix = network === 'ip6';
  if (isOfOne && code === (isSix ? 4 : 3)) return 'reject';
  return isSix
    ? `reject with icmpv6 ${nameOf(ICMPV6_CODES, code)}`
    : `reject with icmp ${nameOf(ICMP_CODES, code)}`;
}

function nameOf(codes: readonly (readonly [string, number])[], code: number): string {
  return codes.find(([, number]) => number === code)?.[0] ?? String(code);
}

function queueText({ first, total = 1, flags = [] }: Of<'queue'>): string {
  const named = flags.length > 0 ? ` flags ${flags.join(',')}` : '';
  return `queue${named} to ${first}${total > 1 ? `-${first + total - 1}` : ''}`;
}
