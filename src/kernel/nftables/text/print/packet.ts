// What is loaded from a packet and its connection: fields of headers, of extension headers and options, keys of ct.
import { extensionAt, extensionBitsAt, extensionText, needsOfExtension } from '../extensions.js';
import { bitsAt, ctField, fieldAt, fieldNamed } from '../fields.js';
import { type Of, value } from './loaded.js';
import type { PrintedRule } from './printed.js';
import type { Loaded } from './registers.js';

/** A field by its name, or by its place, where a reader would not find the packet to have it. */
export function payload(rule: PrintedRule, { base, offset, length }: NonNullable<Loaded['place']>): Loaded {
  const field = fieldAt({ base, offset, length }, rule.conditions.known);
  const short = { link: 'll', network: 'nh', transport: 'th', inner: 'ih' }[base];
  const raw: Loaded = {
    ...value(`@${short},${offset * 8},${length * 8}`, 'hexadecimal', length),
    ...{ isNetwork: true, place: { base, offset, length } },
  };
  if (!field) return raw;
  const text = `${field.header} ${field.name}`;
  const needs = fieldNamed(field.header, field.name)?.needs ?? [];
  if (!rule.conditions.has(needs)) return raw;
  // The type of what is behind a tag is read with the tag known, and without it has another place.
  const implied = text === 'vlan type' ? needs.filter(({ layer }) => layer !== 'vlan') : needs;
  const named = { text, type: field.type, length: field.length, needs: implied };
  return field.length === length ? { ...raw, ...named } : { ...raw, prefixOf: named };
}

/** The field that is some bits of a value; undefined if there is none. */
export function bitsOf(
  rule: PrintedRule,
  { place, extension, bits: changed }: Loaded,
  mask: Uint8Array,
): Loaded | undefined {
  const option = extension && !changed ? extensionBitsAt(extension, mask) : undefined;
  if (extension && option?.bits && rule.conditions.has(needsOfExtension(extension))) {
    const loaded = value(option.text, option.type, extension.length);
    return { ...loaded, needs: needsOfExtension(extension), field: option.bits, isNetwork: true };
  }
  const field = place && !changed ? bitsAt(place, mask, rule.conditions.known) : undefined;
  const needs = field && fieldNamed(field.header, field.name)?.needs;
  if (!field?.bits || !needs || !rule.conditions.has(needs)) return undefined;
  const { header, name, type, length, bits } = field;
  return { ...value(`${header} ${name}`, type, length), needs, field: bits, isNetwork: true };
}

/** A field of an extension header or an option, or whether there is one. */
export function extension(rule: PrintedRule, expression: Of<'exthdr'> | Of<'exthdrSet'>): Loaded {
  const { operation = 'ipv6', type, offset, length } = expression;
  const present = expression.kind === 'exthdr' && expression.present;
  const needs = needsOfExtension(expression);
  const text =
    (rule.conditions.has(needs) ? extensionText(expression) : undefined) ??
    `[exthdr ${operation} ${type},${offset * 8},${length * 8}]`;
  if (present) return { ...value(text, 'boolean', length), needs };
  const loadedType = extensionAt(expression)?.type ?? 'number';
  return { ...value(text, loadedType, length), isNetwork: true, needs, extension: expression };
}

/** A key of ct. */
export function connection(rule: PrintedRule, { key, direction }: Of<'ct'>): Loaded {
  // What is loaded depends on the conditions before.
  if (key === 'src' || key === 'dst') rule.conditions.keep();
  const { type, name, length, isNetwork } = ctField(key, rule.network);
  return { ...value(`ct ${direction === undefined ? '' : `${direction} `}${name}`, type, length), isNetwork };
}
