// The text of an annotation → the value of a setting, or the rule that it breaks. Pure.
import { integerRule } from '../../../kernel/arguments.js';
import { LONGEST_ANNOTATION } from '../../objects/annotations.js';
import {
  type FailFast,
  type Forwarding,
  type HashFlag,
  MOST_WEIGHT,
  MOST_ZONE_WEIGHT,
  SERVICE_SCHEDULERS,
  type ServiceScheduler,
  type ZoneWeights,
} from './types.js';

/** A value, or the rule that the text breaks. */
export type ReadValue<Value> = { readonly value: Value } | { readonly rule: string };

/** One of {@link SERVICE_SCHEDULERS}. */
export function readScheduler(text: string): ReadValue<ServiceScheduler> {
  const value = SERVICE_SCHEDULERS.find((name) => name === text);
  return value ? { value } : refused(text, `must be a scheduler: ${SERVICE_SCHEDULERS.join(', ')}`);
}

/** The names of a flag: ours, ipvsadm's for each scheduler, and kube-router's for the bits of both. */
const FLAG_NAMES: Readonly<Record<string, HashFlag>> = {
  fallback: 'fallback',
  port: 'port',
  'sh-fallback': 'fallback',
  'sh-port': 'port',
  'mh-fallback': 'fallback',
  'mh-port': 'port',
  'flag-1': 'fallback',
  'flag-2': 'port',
};

/** `fallback`, `port`, both with a comma, or `none`. */
export function readSchedulerFlags(text: string): ReadValue<readonly HashFlag[]> {
  if (text === 'none') return { value: [] };
  const names = text.split(',').map((name) => name.trim());
  const isKnown = (name: string) => Object.hasOwn(FLAG_NAMES, name);
  if (text.length > LONGEST_ANNOTATION || !names.every(isKnown))
    return refused(text, 'must be none, fallback, port, or fallback,port');
  const found = new Set(names.map((name) => FLAG_NAMES[name]));
  return { value: (['fallback', 'port'] as const).filter((flag) => found.has(flag)) };
}

/** Longest timeout of persistence, in s: the kernel multiplies it by HZ, at most 1000, in 32 bits. */
const MOST_SECONDS = 4_294_967;
const MOST_CONNECTIONS = 4_294_967_295;

/** A time, in s. */
export function readSeconds(text: string): ReadValue<number> {
  return readInteger(text, 1, MOST_SECONDS);
}

/** A time that may be none, in s. */
export function readSecondsOrNone(text: string): ReadValue<number> {
  return readInteger(text, 0, MOST_SECONDS);
}

/** A time of at most a day, in s. */
export function readSecondsOfDay(text: string): ReadValue<number> {
  return readInteger(text, 1, 86_400);
}

/** A number of connections. */
export function readThreshold(text: string): ReadValue<number> {
  return readInteger(text, 1, MOST_CONNECTIONS);
}

/** The weight of an endpoint. */
export function readWeight(text: string): ReadValue<number> {
  return readInteger(text, 0, MOST_WEIGHT);
}

/** `true` or `false`. */
export function readFlag(text: string): ReadValue<boolean> {
  if (text === 'true' || text === 'false') return { value: text === 'true' };
  return refused(text, 'must be true or false');
}

/** `removed` or `not-serving`. */
export function readFailFast(text: string): ReadValue<FailFast> {
  if (text === 'removed' || text === 'not-serving') return { value: text };
  return refused(text, 'must be removed or not-serving');
}

/** `nat` or `tunnel`. */
export function readForwarding(text: string): ReadValue<Forwarding> {
  if (text === 'nat' || text === 'tunnel') return { value: text };
  return refused(text, 'must be nat or tunnel');
}

/** `IPv4=24`, `IPv6=64`, or both with a comma. */
export function readNetmask(text: string): ReadValue<Readonly<Partial<Record<4 | 6, number>>>> {
  const value: { 4?: number; 6?: number } = {};
  for (const part of text.split(',', 3)) {
    const [, family, digits] = /^IPv([46])=(\d{1,3})$/.exec(part.trim()) ?? [];
    const number = family === '6' ? 6 : 4;
    const length = Number(digits);
    const isValid = digits !== undefined && length >= 1 && length <= (number === 4 ? 32 : 128);
    if (!isValid || value[number] !== undefined)
      return refused(text, 'must be prefix lengths: IPv4=24, IPv6=64, or IPv4=24,IPv6=64');
    value[number] = length;
  }
  return { value };
}

/** `same=10`, `eu-1a=0`, `same=3,eu-1c=0,other=2`: weights of zones. */
export function readZoneWeights(text: string): ReadValue<ZoneWeights> {
  const value = new Map<string, number>();
  const rule = `must be weights of zones: same=10, eu-1a=0, or same=3,other=2, each from 0 to ${MOST_ZONE_WEIGHT}`;
  if (text.length > LONGEST_ANNOTATION) return refused(text, rule);
  for (const part of text.split(',')) {
    const [, zone = '', digits = ''] =
      /^([A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)=(\d{1,4})$/.exec(part.trim()) ?? [];
    const weight = Number(digits);
    if (zone === '' || weight > MOST_ZONE_WEIGHT || value.has(zone)) return refused(text, rule);
    value.set(zone, weight);
  }
  return { value };
}

/** Decimal digits only: `1e3`, `0x10` and `+1` are none. */
function readInteger(text: string, min: number, max: number): ReadValue<number> {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? { value } : refused(text, integerRule(min, max));
}

function refused(text: string, rule: string): { readonly rule: string } {
  if (text.length <= LONGEST_ANNOTATION) return { rule };
  return { rule: `${rule}, of at most ${LONGEST_ANNOTATION} characters` };
}
