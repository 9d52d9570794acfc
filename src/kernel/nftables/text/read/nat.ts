// Other targets of packets: `dnat ip to 10.0.0.1:80`, `masquerade to :1024-65535 random`, `redirect to :8080`, `dup to 10.0.0.9`.
import type { Steps } from '../../../steps.js';
import type { NatFlag, Register } from '../../types.js';
import { layoutOf } from '../../values/valueTypes.js';
import { hasDataOfParts, hasIntervalsAsData } from './elements.js';
import { keyAt, mapAt } from './lookup.js';
import { constant, Loading, type Operand, registerOf, wordsOf } from './operand.js';
import { isOperand } from './operands.js';
import type { RuleReading } from './reading.js';
import { type Token, Unreadable } from './tokens.js';
import { bytesOfValue, integerOf, valueIn } from './values.js';

/** Reads a statement that gives packets another target: false if there is none at the cursor. */
export function* natAt(rule: RuleReading): Steps<boolean> {
  const { cursor } = rule;
  if (cursor.is('snat', 'dnat')) {
    yield* addresses(rule);
    return true;
  }
  if (cursor.is('tproxy')) {
    transparentProxy(rule);
    return true;
  }
  if (cursor.is('dup', 'fwd')) {
    copy(rule);
    return true;
  }
  if (!cursor.is('masquerade', 'redirect')) return false;
  const kind = cursor.take('a translation').text === 'masquerade' ? 'masq' : 'redir';
  const { token } = cursor;
  const ports = cursor.accept('to') ? portsOf(cursor.take('a port: `:80`')) : [];
  if (ports.length > 0) rule.demandPorts(token);
  const [port, portEnd] = loadEach(rule, ports);
  rule.add({
    kind,
    ...(port !== undefined && { port }),
    ...(portEnd !== undefined && { portEnd }),
    ...flagsAt(rule),
  });
  return true;
}

/** Loads constants, each into a register of 16 bytes, and returns the registers. */
function loadEach(rule: RuleReading, values: readonly Operand[]): Register[] {
  const loading = new Loading(rule.cursor.token);
  const registers = values.map((value) => loading.load(value));
  rule.add(...loading.expressions);
  return registers;
}

const FLAGS: ReadonlySet<string> = new Set(['random', 'fully-random', 'persistent']);

function flagsAt({ cursor }: RuleReading): { readonly flags?: readonly NatFlag[] } {
  const flags: NatFlag[] = [];
  while (!cursor.token.isQuoted && FLAGS.has(cursor.token.text)) {
    flags.push(cursor.take('a flag').text as NatFlag);
    if (!cursor.accept(',')) break;
  }
  return flags.length === 0 ? {} : { flags };
}

function* addresses(rule: RuleReading): Steps<void> {
  const { cursor } = rule;
  const start = cursor.token;
  const type = cursor.take('a translation').text as 'snat' | 'dnat';
  const family = (['ip', 'ip6'] as const).find((each) => cursor.accept(each)) ?? rule.network;
  if (family === undefined) throw new Unreadable('must name the family: `dnat ip to`', cursor.token);
  checkFamily(rule, family, start);
  const prefix = cursor.token;
  const isPrefix = cursor.accept('prefix');
  cursor.expect('to');
  const registers = isOperand(cursor.token) ? yield* fromMap(rule, family) : fromText(rule, family);
  if (isPrefix && (registers.addressEnd === undefined || registers.port !== undefined))
    throw new Unreadable('must be of a map whose data are prefixes, without ports', prefix);
  const { flags = [] } = flagsAt(rule);
  const all: readonly NatFlag[] = isPrefix ? [...flags, 'netmap'] : flags;
  rule.add({ kind: 'nat', type, family, ...registers, ...(all.length > 0 && { flags: all }) });
}

/** A statement of another family than that of the packets. Of itself, it compares nothing. */
function checkFamily(rule: RuleReading, family: 'ip' | 'ip6', token: Token): void {
  if (rule.network !== undefined && rule.network !== family)
    throw new Unreadable(`must be of packets of ${rule.network}`, token);
}

type Registers = Partial<Record<'address' | 'addressEnd' | 'port' | 'portEnd', Register>>;

/** An address, or address and port, that a map has. */
function* fromMap(rule: RuleReading, family: 'ip' | 'ip6'): Steps<Registers> {
  const type = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
  const parts = keyAt(rule);
  const { token } = rule.cursor;
  const hasPort = hasDataOfParts(rule.cursor);
  const map = yield* mapAt(
    rule,
    parts,
    hasPort ? [type, 'inet_service'] : type,
    hasIntervalsAsData(rule.cursor),
  );
  const types = typeof map.types === 'string' ? [map.types] : (map.types ?? []);
  const [address, port, more] = types;
  if (address !== type || (port !== undefined && port !== 'inet_service') || more !== undefined)
    throw new Unreadable(`must be a map of ${type}, or of ${type} . inet_service`, token);
  if (port !== undefined) rule.demandPorts(token);
  rule.add(...map.load(0));
  const portWord = wordsOf(layoutOf(type).length);
  const end = portWord + (port === undefined ? 0 : 1);
  return {
    address: registerOf(0),
    ...(map.hasEnds && { addressEnd: registerOf(end) }),
    ...(port !== undefined && { port: registerOf(portWord) }),
    ...(map.hasEnds && port !== undefined && { portEnd: registerOf(end + portWord) }),
  };
}

/** `tproxy ip to 127.0.0.1:80` */
function transparentProxy(rule: RuleReading): void {
  const { cursor } = rule;
  const start = cursor.take('tproxy');
  rule.demandPorts(start);
  const family = (['ip', 'ip6'] as const).find((each) => cursor.accept(each));
  if (family) checkFamily(rule, family, start);
  cursor.expect('to');
  const { address, port } = fromText(rule, family ?? rule.network ?? 'ip');
  const known = family ?? rule.family;
  rule.add({
    ...{ kind: 'tproxy', family: known === 'ip' || known === 'ip6' ? known : 'inet' },
    ...(address !== undefined && { address }),
    ...(port !== undefined && { port }),
  });
}

/** `dup to 10.0.0.9 device "eth0"`, and in the family netdev `dup to "eth0"`, `fwd to "eth0"`. */
function copy(rule: RuleReading): void {
  const { cursor } = rule;
  const kind = cursor.take('dup or fwd').text as 'dup' | 'fwd';
  cursor.expect('to');
  if (rule.family === 'netdev') {
    const [device = 1] = loadEach(rule, [linkAt(rule)]);
    rule.add({ kind, device });
    return;
  }
  const { token } = cursor;
  if (kind === 'fwd' || rule.network === undefined)
    throw new Unreadable('must be of the family netdev', token);
  const [address, ...more] = addressesOf(cursor.word('an address').text, rule.network, token);
  if (address === undefined || more.length > 0) throw new Unreadable('must be one address', token);
  const link = cursor.accept('device') ? [linkAt(rule)] : [];
  const [register, device] = loadEach(rule, [address, ...link]);
  rule.add({ kind: 'dup', ...(register && { address: register }), ...(device && { device }) });
}

/** The index of a link that has its name there. */
function linkAt(rule: RuleReading): Operand {
  const token = rule.cursor.take('a link');
  const index = token.isQuoted
    ? rule.links.get(token.text)
    : Number(integerOf(token, token.text, 0x7fff_ffff, 1n));
  if (index === undefined)
    throw new Unreadable('must be a link that `links` has: the rule has its index', token);
  return constant(bytesOfValue('iface_index', index, false), 'iface_index');
}

/** Addresses, and the ports behind them. */
const TARGETS = {
  ip: /^([0-9.]+(?:-[0-9.]+)?)?(:\d+(?:-\d+)?)?$/,
  ip6: /^(\[[^\]]+\](?:-\[[^\]]+\])?)?(:\d+(?:-\d+)?)?$/,
} as const;

/** `10.0.0.1-10.0.0.5:80-90`, `[fd00::1]:80`, `fd00::1`, `:80` */
function fromText(rule: RuleReading, family: 'ip' | 'ip6'): Registers {
  const token = rule.cursor.word('an address');
  const [, list, ports] = TARGETS[family].exec(token.text) ?? [undefined, token.text];
  const addresses = list === undefined ? [] : addressesOf(list, family, token);
  const all = [...addresses, ...(ports === undefined ? [] : portsOf({ ...token, text: ports }))];
  if (ports !== undefined) rule.demandPorts(token);
  const registers = loadEach(rule, all);
  const names = [
    ...(['address', 'addressEnd'] as const).slice(0, addresses.length),
    ...(['port', 'portEnd'] as const).slice(0, all.length - addresses.length),
  ];
  return Object.fromEntries(names.map((name, i) => [name, registers[i]]));
}

function addressesOf(list: string, family: 'ip' | 'ip6', token: Token): Operand[] {
  const texts = list.split('-');
  const type = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
  return ascending(
    token,
    texts.map((text) => {
      const value = valueIn(type, text.replace(/^\[(.*)\]$/, '$1'));
      if (value === undefined || texts.length > 2)
        throw new Unreadable(`must be an address of ${family}, or a range: \`10.0.0.1-10.0.0.5:80\``, token);
      return bytesOfValue(type, value, true);
    }),
  ).map((bytes) => constant(bytes, type));
}

function portsOf(token: Token): Operand[] {
  const [, first, last] = /^:(\d+)(?:-(\d+))?$/.exec(token.text) ?? [];
  if (first === undefined || token.isQuoted)
    throw new Unreadable('must be a port, or a range of ports: `:80-90`', token);
  const ports = (last === undefined ? [first] : [first, last]).map((text) =>
    bytesOfValue('inet_service', Number(integerOf(token, text, 0xffff)), true),
  );
  return ascending(token, ports).map((bytes) => constant(bytes, 'inet_service'));
}

/** The first and the last value of a range, which must not be before the first. */
function ascending(token: Token, values: readonly Uint8Array[]): readonly Uint8Array[] {
  const [first, last] = values;
  if (first && last && Buffer.compare(first, last) > 0)
    throw new Unreadable('must be a range from the lower to the higher value', token);
  return values;
}
