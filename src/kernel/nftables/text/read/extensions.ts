// Extension headers of IPv6, options of TCP and IPv4, and chunks of SCTP: their fields, and whether there are any. See ../extensions.ts.
import {
  type ExtensionPlace,
  extensionNamed,
  IPV6_EXTENSIONS,
  needsOfExtension,
  placeOf,
  typeOfExtension,
} from '../extensions.js';
import type { LoadedType } from '../values.js';
import { loaded, type Operand, someBits } from './operand.js';
import { type Cursor, type Token, Unreadable } from './tokens.js';
import { integerOf } from './values.js';

/** The words before the names of options and chunks, with their operations. */
const WITH_PREFIX = {
  tcp: { word: 'option', operation: 'tcpopt' },
  ip: { word: 'option', operation: 'ipv4' },
  sctp: { word: 'chunk', operation: 'sctp' },
} as const;

/** Keys of routes, which are written behind the same word as fields of the routing header. */
const ROUTE_KEYS: ReadonlySet<string> = new Set(['classid', 'nexthop', 'mtu', 'ipsec', 'ip', 'ip6']);

/** Reads an extension header, an option or a chunk, whose first word has been read; undefined if it is something else. */
export function extensionAt(cursor: Cursor, first: Token): Operand | undefined {
  const { text } = first;
  if (text === 'exthdr') {
    const name = cursor.word('an extension header of IPv6');
    return existence('ipv6', typeOf('ipv6', name), `exthdr ${name.text}`);
  }
  if (Object.hasOwn(WITH_PREFIX, text)) {
    const { word, operation } = WITH_PREFIX[text as keyof typeof WITH_PREFIX];
    return cursor.accept(word) ? optionAt(cursor, operation, `${text} ${word}`) : undefined;
  }
  if (!IPV6_EXTENSIONS.includes(text) || (text === 'rt' && cursor.is(...ROUTE_KEYS))) return undefined;
  return fieldAt(text, cursor.word(`a field of ${text}`));
}

type Operation = NonNullable<ExtensionPlace['operation']>;

/** `maxseg size`, `sack-perm exists`; of TCP also `@77,16,8`. */
function optionAt(cursor: Cursor, operation: Operation, prefix: string): Operand {
  const name = cursor.word('a name');
  if (operation === 'tcpopt' && name.text.startsWith('@')) return rawOption(cursor, name);
  const type = typeOf(operation, name);
  if (cursor.is('exists', 'missing')) return existence(operation, type, `${prefix} ${name.text}`);
  return fieldAt(`${prefix} ${name.text}`, cursor.word(`a field of ${name.text}`));
}

function typeOf(operation: Operation, name: Token): number {
  const type = typeOfExtension(operation, name.text);
  if (type === undefined) throw new Unreadable('is no header, option or chunk that the library has', name);
  return type;
}

function fieldAt(owner: string, name: Token): Operand {
  const field = extensionNamed(`${owner} ${name.text}`);
  if (!field) throw new Unreadable(`is no field of ${owner} that the library has`, name);
  const whole = operandOf(field.text, field.type, field.place);
  return field.bits ? someBits(whole, field.bits) : whole;
}

function existence(operation: Operation, type: number, text: string): Operand {
  const place = placeOf(operation, type, 0, 1);
  const operand = loaded(text, 'boolean', 1, (register) => ({
    ...{ kind: 'exthdr', ...place, present: true, register },
  }));
  return { ...operand, needs: needsOfExtension(place) };
}

/** `@77,16,8`: number of the option, offset and length in bits. */
function rawOption(cursor: Cursor, token: Token): Operand {
  const type = Number(integerOf(token, token.text.slice(1), 255));
  const [offset = 0, length = 0] = [1, 2].map(() => {
    cursor.expect(',');
    const number = cursor.word('a number of bits');
    const bits = Number(integerOf(number, number.text, 8 * 255));
    if (bits % 8 !== 0) throw new Unreadable('must be a multiple of 8 bits', number);
    return bits / 8;
  });
  if (length < 1 || length > 16) throw new Unreadable('must have a length of 8 to 128 bits', token);
  return operandOf(`tcp option ${token.text}`, 'number', placeOf('tcpopt', type, offset, length));
}

function operandOf(text: string, type: LoadedType, place: ExtensionPlace): Operand {
  const operand = loaded(text, type, place.length, (register) => ({ kind: 'exthdr', ...place, register }));
  return { ...operand, isNetwork: true, needs: needsOfExtension(place), option: place };
}
