// Values that are assigned, and the other targets that a rule gives to packets: translations, tproxy, dup and fwd.
import type { ValueType, ValueTypes } from '../../types.js';
import { layoutOf } from '../../values/valueTypes.js';
import { dataText, type LoadedType, quoted } from '../values.js';
import { flagsOf, type Of } from './loaded.js';
import { wholeText } from './lookup.js';
import type { PrintedRule } from './printed.js';
import { numberOf, textOf, wordOf } from './registers.js';

/** A value that is assigned: a constant in the notation of the target, or an expression. */
export function given(rule: PrintedRule, register: number, type: LoadedType, isNetwork = false): string {
  const loaded = rule.source(register);
  if (loaded.constant) return dataText(type, loaded.constant, isNetwork);
  // A reader puts an integer into network order where it is assigned to a number of the packet.
  const isOrdered = type === 'number' && loaded.type === 'integer' && loaded.isNetwork;
  if (isOrdered ? loaded.bits : loaded.isSwapped) return `[byteorder ${textOf(loaded)}]`;
  if (type === 'number' && !loaded.isNetwork && loaded.length > 1) return `[order of ${textOf(loaded)}]`;
  if (loaded.inFront !== undefined && type === 'mark' && loaded.length === 1) return loaded.inFront;
  return loaded.field?.[0] ? wholeText(loaded) : textOf(loaded);
}

/** `dnat ip to 10.0.0.1:80` */
export function nat(rule: PrintedRule, translation: Of<'nat'>): string {
  const expression = withoutEnds(rule, translation);
  if (!expression) return `[${translation.type} of a map of intervals]`;
  const { type, family, address, addressEnd, port, portEnd } = expression;
  const addresses = range(rule, family === 'ip' ? 'ipv4_addr' : 'ipv6_addr', address, addressEnd);
  const map = address === undefined ? undefined : rule.registers.at(address)?.types;
  // What loads a port that nothing else has loaded is the map of the address: of a set that is not known, its types are not either.
  const isLoaded = port === undefined || rule.registers.at(port) !== undefined;
  const isConcatenation = typeof map === 'object' || (map !== undefined && !isLoaded);
  const behind = address === undefined ? 0 : wordOf(address) + (family === 'ip' ? 1 : 4);
  if (typeof map === 'object' && (port === undefined || wordOf(port) !== behind))
    return `[${type} to ${addresses}]`;
  const ports = isConcatenation ? undefined : range(rule, 'inet_service', port, portEnd);
  let text: string = type;
  const { flags = [] } = expression;
  const isPrefix =
    flags.includes('netmap') && translation.addressEnd !== undefined && addressEnd === undefined;
  if (isConcatenation || isPrefix || rule.family === 'inet') text += ` ${family}`;
  if (isPrefix) text += ' prefix';
  if (addresses !== undefined || ports !== undefined) text += ' to ';
  if (addresses !== undefined) {
    const isSix =
      family === 'ip6' && ports !== undefined && addresses.includes(':') && !addresses.includes(' ');
    text += isSix ? `[${addresses.replace('-', ']-[')}]` : addresses;
  }
  if (ports !== undefined) text += `:${ports}`;
  return text + flagsOf({ flags: isPrefix ? flags.filter((flag) => flag !== 'netmap') : flags });
}

/** A translation without the ends that a reader takes from a map of intervals; undefined if it has other ones. */
function withoutEnds(rule: PrintedRule, expression: Of<'nat'>): Of<'nat'> | undefined {
  const { address, addressEnd, port, portEnd, ...others } = expression;
  const map = address === undefined ? undefined : rule.registers.at(address);
  if (address === undefined || !map?.hasEnds) return expression;
  const words = typeof map.types === 'number' ? 0 : layoutOf(map.types as ValueTypes).length / 4;
  const isEnd = (end: number | undefined, start: number) =>
    end !== undefined && wordOf(end) === wordOf(start) + words;
  const isPort = port === undefined ? portEnd === undefined : isEnd(portEnd, port);
  if (!isEnd(addressEnd, address) || !isPort) return undefined;
  return { ...others, address, ...(port !== undefined && { port }) };
}

/** One value, or first and last of a range; undefined if there is none. */
function range(rule: PrintedRule, type: ValueType, first?: number, last?: number): string | undefined {
  if (first === undefined) return undefined;
  const text = given(rule, first, type, true);
  return last === undefined ? text : `${text}-${given(rule, last, type, true)}`;
}

/** `masquerade to :1024-65535 random`, `redirect to :8080` */
export function toPorts(rule: PrintedRule, expression: Of<'masq'> | Of<'redir'>): string {
  const name = expression.kind === 'masq' ? 'masquerade' : 'redirect';
  const ports = range(rule, 'inet_service', expression.port, expression.portEnd);
  return `${name}${ports === undefined ? '' : ` to :${ports}`}${flagsOf(expression)}`;
}

/** `dup to 10.0.0.9 device "eth0"` */
export function duplicate(rule: PrintedRule, { address, device }: Of<'dup'>): string {
  const type = rule.network === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
  const to = address === undefined ? '' : ` to ${given(rule, address, type, true)}`;
  if (device === undefined) return `dup${to}`;
  return `dup${to}${address === undefined ? ' to' : ' device'} ${linkOf(rule, device)}`;
}

/** The name of a link in a register, or its index. */
export function linkOf(rule: PrintedRule, register: number): string {
  const { constant } = rule.made(register);
  const name = constant && rule.surroundings.links.get(numberOf(constant, false));
  const index = given(rule, register, 'iface_index');
  return name === undefined ? index : quoted(name);
}

/** `tproxy ip to 127.0.0.1:80` */
export function tproxy(rule: PrintedRule, { family, address, port }: Of<'tproxy'>): string {
  if ((rule.family === 'ip' || rule.family === 'ip6') && rule.family !== family) return `[tproxy ${family}]`;
  const type = family === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
  const name = rule.family === 'inet' && family !== 'inet' ? ` ${family}` : '';
  const to = address === undefined ? '' : given(rule, address, type, true);
  const target = family === 'ip6' && to !== '' ? `[${to}]` : to;
  return `tproxy${name} to ${target}${port === undefined ? '' : `:${given(rule, port, 'inet_service', true)}`}`;
}
