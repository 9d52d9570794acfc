// The options of one line of a saved text.

import { formatAddress } from '../net/address.js';
import { parseNetworkAsIs } from '../net/network.js';
import type { IpProtocol } from '../net/protocol.js';
import { protocolOfNumber } from '../net/protocol.js';
import { icmpMessage, protocolNumber } from './protocolNames.js';
import { KEYWORDS } from './save.js';
import { type Parameter, portFieldOf, SHAPES } from './shapes.js';
import type { SetDefinition, SetEntry, SetParameters, SetReference, SetType } from './types.js';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** An invalid line; the message is the rule. */
export class InvalidLine extends Error {}

const PARAMETERS: ReadonlyMap<string, Parameter> = new Map(
  Object.entries(KEYWORDS).map(([parameter, word]) => [word, parameter as Parameter]),
);
const FLAGS: ReadonlySet<Parameter> = new Set(['counters', 'comment', 'skbInfo', 'forceAdd']);
/** Options of older tools, which have no effect; each has a value. */
const IGNORED: ReadonlySet<string> = new Set(['probes', 'resize', 'gc']);

/** Words that are taken one by one. */
class Words {
  readonly #words: readonly string[];
  #next = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  /** The next word, or undefined at the end. */
  next(): string | undefined {
    return this.#words[this.#next++];
  }

  /** The value of an option. */
  valueOf(option: string): string {
    const value = this.next();
    if (value === undefined) throw new InvalidLine(`${option} has no value`);
    return value;
  }
}

/** The set of a `create` line, from the words behind its name. */
export function readSet(name: string, options: readonly string[]): SetDefinition {
  const words = new Words(options);
  const type = words.next() ?? '';
  if (!Object.hasOwn(SHAPES, type)) throw new InvalidLine(`${type} is not a type of set`);
  const set: { name: string; type: SetType } & Writable<SetParameters> = { name, type: type as SetType };
  const values = set as unknown as Record<string, unknown>;
  const { families } = SHAPES[set.type];
  if (families.length === 2) set.family = 4;
  for (let word = words.next(); word !== undefined; word = words.next()) {
    const parameter = PARAMETERS.get(word);
    if (word === '-4' || word === '-6') set.family = word === '-4' ? 4 : 6;
    else if (IGNORED.has(word)) words.valueOf(word);
    else if (parameter === undefined) throw new InvalidLine(`${word} is not an option of ${type}`);
    else
      values[parameter] = FLAGS.has(parameter) ? true : readParameter(parameter, type, words.valueOf(word));
  }
  // The rules of the operation find what the type does not have.
  return set as SetDefinition;
}

function readParameter(parameter: Parameter, type: string, value: string): unknown {
  switch (parameter) {
    case 'family':
      if (value !== 'inet' && value !== 'inet6') throw new InvalidLine(`family must be inet or inet6`);
      return value === 'inet' ? 4 : 6;
    case 'bitmask':
      return value;
    case 'range':
      return type === 'bitmap:port' ? readPorts(value) : readAddresses(value);
    default:
      return readNumber(KEYWORDS[parameter], value);
  }
}

/** A decimal or hexadecimal number. */
function readNumber(option: string, value: string): number {
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(value))
    throw new InvalidLine(`${option} must be a number, found ${value}`);
  return Number(value);
}

function readPorts(value: string): [number, number] {
  const [from = '', to = from] = value.replace(/^[a-z]+:/i, '').split('-');
  return [readNumber('range', from), readNumber('range', to)];
}

/** `10.0.0.0-10.0.0.255` or `10.0.0.0/24`. */
function readAddresses(value: string): [string, string] {
  const network = parseNetworkAsIs(value);
  if (!network) {
    const [from = '', to = from] = value.split('-');
    return [from, to];
  }
  const last = network.bytes.map(
    (byte, i) => byte | (0xff >> Math.min(8, Math.max(0, network.prefix - 8 * i))),
  );
  return [formatAddress(network.bytes), formatAddress(last)];
}

/** The entry of an `add` or `del` line, from the words behind the name of the set. */
export function readEntry(set: SetReference, options: readonly string[]): SetEntry {
  const words = new Words(options);
  const entry: Writable<SetEntry> = {};
  readElement(set, words.valueOf('the command'), entry);
  for (let word = words.next(); word !== undefined; word = words.next()) readOption(word, words, entry);
  return entry;
}

function readOption(word: string, words: Words, entry: Writable<SetEntry>): void {
  switch (word) {
    case 'nomatch':
      entry.noMatch = true;
      break;
    case 'wildcard':
      entry.wildcard = true;
      break;
    case 'timeout':
      entry.timeout = readNumber(word, words.valueOf(word));
      break;
    case 'packets':
    case 'bytes':
      entry[word] = readBigNumber(word, words.valueOf(word));
      break;
    case 'comment':
    case 'before':
    case 'after':
      entry[word] = words.valueOf(word);
      break;
    case 'skbmark': {
      const [mark = '', mask] = words.valueOf(word).split('/');
      entry.skbMark = readNumber(word, mark);
      if (mask !== undefined) entry.skbMask = readNumber(word, mask);
      break;
    }
    case 'skbprio':
      entry.skbPrio = readClass(words.valueOf(word));
      break;
    case 'skbqueue':
      entry.skbQueue = readNumber(word, words.valueOf(word));
      break;
    default:
      throw new InvalidLine(`${word} is not an option of an entry`);
  }
}

function readBigNumber(option: string, value: string): bigint {
  readNumber(option, value);
  return BigInt(value);
}

/** `1:10`, major and minor number in hexadecimal. */
function readClass(value: string): number {
  const numbers = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(value);
  if (!numbers) throw new InvalidLine(`skbprio must be as 1:10, found ${value}`);
  return Number.parseInt(numbers[1] ?? '', 16) * 0x1_0000 + Number.parseInt(numbers[2] ?? '', 16);
}

/** The parts of an entry, which the name of the type lists. */
function readElement(set: SetReference, element: string, entry: Writable<SetEntry>): void {
  const kinds = set.type.slice(set.type.indexOf(':') + 1).split(',');
  const parts = element.split(',');
  if (parts.length > kinds.length) throw new InvalidLine(`${element} has more parts than ${set.type}`);
  for (const [i, part] of parts.entries()) {
    const kind = kinds[i];
    if (kind === 'ip' || kind === 'net') readBlock(part, i === 0, entry);
    else if (kind === 'port') readPort(set, part, entry);
    else if (kind === 'mac') entry.mac = part.toLowerCase();
    else if (kind === 'mark') entry.mark = readNumber('mark', part);
    else if (kind === 'set') entry.set = part;
    else {
      entry.interface = part.replace(/^physdev:/, '');
      if (part.startsWith('physdev:')) entry.physdev = true;
    }
  }
}

/** An address, `address/prefix` or `address-address`. */
function readBlock(part: string, isFirst: boolean, entry: Writable<SetEntry>): void {
  const [whole = '', last] = part.split('-');
  const [address = '', length] = whole.split('/');
  const prefix = length === undefined ? undefined : readNumber('the prefix', length);
  if (isFirst) {
    entry.address = address;
    if (prefix !== undefined) entry.prefix = prefix;
    if (last !== undefined) entry.lastAddress = last;
  } else {
    entry.address2 = address;
    if (prefix !== undefined) entry.prefix2 = prefix;
    if (last !== undefined) entry.lastAddress2 = last;
  }
}

/** `tcp:80`, `80-90` (TCP), `icmp:8/0`, `icmp:ping`; of bitmap:port only the ports count. */
function readPort(set: SetReference, part: string, entry: Writable<SetEntry>): void {
  const colon = part.indexOf(':');
  const name = colon < 0 ? 'tcp' : part.slice(0, colon);
  const protocol = protocolNumber(name);
  if (protocol === undefined) throw new InvalidLine(`${name} is not a protocol`);
  const rest = part.slice(colon + 1);
  if (set.type !== 'bitmap:port') {
    entry.protocol = (protocolOfNumber(protocol) ?? protocol) as IpProtocol;
    const field = portFieldOf(protocol, set.family ?? 4);
    if (field === 'icmp') {
      const message = icmpMessage(rest, protocol);
      if (!message) throw new InvalidLine(`${rest} is not a message of ${name}`);
      entry.icmp = message;
      return;
    }
    if (field === undefined) {
      if (rest !== '0') throw new InvalidLine(`${name} has no ports: write ${name}:0`);
      return;
    }
  }
  const [from = '', to] = rest.split('-');
  entry.port = readNumber('the port', from);
  if (to !== undefined) entry.lastPort = readNumber('the port', to);
}
