// Sets and their elements as nft lists them.
import type { Element, ElementValue, NftSet, SetFlag, ValueTypes, Verdict } from '../types.js';
import { defaultExpressions } from '../values/keyExpressions.js';
import { bytesOf } from '../values/values.js';
import { FORM, layoutOf } from '../values/valueTypes.js';
import { elementText, HOST_IS_LITTLE, intervalText, timeText } from './values.js';

/** A set with its elements. */
export interface SetContent {
  readonly set: NftSet;
  readonly elements: readonly Element[];
}

/** A verdict: `goto chain`. */
export function verdictText(verdict: Verdict): string {
  return 'chain' in verdict ? `${verdict.verdict} ${verdict.chain}` : verdict.verdict;
}

/** Writes the expressions of elements. */
export type ExpressionsText = (expressions: NonNullable<Element['expressions']>) => readonly string[];

/** One element: key, lifetime, comment and data. */
function textOfElement({ key, data }: NftSet, element: Element, expressionsText: ExpressionsText): string {
  const { keyEnd, timeout, expires, comment, expressions = [] } = element;
  const words = [
    keyEnd === undefined ? elementText(key, element.key) : intervalText(key, element.key, keyEnd),
  ];
  words.push(...expressionsText(expressions));
  if (timeout !== undefined) words.push(`timeout ${timeText(timeout)}`);
  if (expires !== undefined) words.push(`expires ${timeText(expires)}`);
  if (comment !== undefined) words.push(`comment "${comment}"`);
  if (element.data !== undefined && data !== undefined) words.push(':', dataText(data, element.data));
  return words.join(' ');
}

function dataText(types: NonNullable<NftSet['data']>, data: ElementValue | Verdict): string {
  if (typeof data === 'object' && 'verdict' in data) return verdictText(data);
  return elementText(types === 'verdict' ? 0 : types, data as ElementValue);
}

/** The elements of a set of a rule: `{ 0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 80 }`. */
export function anonymousText({ set, elements }: SetContent, expressionsText: ExpressionsText): string {
  const texts = sorted(set, elements).map((element) => textOfElement(set, element, expressionsText));
  return `{ ${texts.join(', ')} }`;
}

/** Types of which nft writes five values on a line, and two. */
const FIVE: ReadonlySet<unknown> = new Set([
  ...[
    'nf_proto',
    'integer',
    'inet_proto',
    'inet_service',
    'tcp_flag',
    'mark',
    'iface_index',
    'uid',
    'gid',
    'ct_dir',
  ],
]);
const TWO: ReadonlySet<unknown> = new Set(['ipv4_addr', 'ct_state', 'ct_status', 'pkt_type']);

/** The lines of a set or map. */
export function setLines({ set, elements }: SetContent, expressionsText: ExpressionsText): string[] {
  const { key, data, size, flags, timeout, comment, autoMerge } = set;
  const lines = [`\t${data === undefined ? 'set' : 'map'} ${set.name} {`, `\t\t${typesText(set)}`];
  if (size !== undefined && !flags.includes('constant')) lines.push(`\t\tsize ${size}`);
  const named = FLAG_ORDER.filter((flag) => flags.includes(flag));
  if (named.length > 0) lines.push(`\t\tflags ${named.join(',')}`);
  if (autoMerge) lines.push('\t\tauto-merge');
  if (timeout !== undefined) lines.push(`\t\ttimeout ${timeText(timeout)}`);
  if (comment !== undefined) lines.push(`\t\tcomment "${comment}"`);
  if (elements.length > 0) {
    const perLine = FIVE.has(key) ? 5 : TWO.has(key) ? 2 : 1;
    const texts = sorted(set, elements).map((element) => textOfElement(set, element, expressionsText));
    let text = '';
    texts.forEach((each, i) => {
      if (i > 0) text += i % perLine === 0 ? ',\n\t\t\t     ' : ', ';
      text += each;
    });
    lines.push(`\t\telements = { ${text} }`);
  }
  lines.push('\t}');
  return lines;
}

const FLAG_ORDER: readonly SetFlag[] = ['constant', 'dynamic', 'interval', 'timeout'];

/** `type ipv4_addr . inet_service : verdict`, or `typeof`. */
function typesText({ key, data, keyExpressions, dataExpressions }: NftSet): string {
  if (keyExpressions === undefined) {
    return `type ${namesOf(key)}${data === undefined ? '' : ` : ${namesOf(data)}`}`;
  }
  const isKnown = data !== undefined && data !== 'verdict' && typeof data !== 'number';
  const expressions = dataExpressions ?? (isKnown ? defaultExpressions(data) : undefined);
  const named = expressions?.join(' . ') ?? (data === undefined ? undefined : namesOf(data));
  return `typeof ${keyExpressions.join(' . ')}${named === undefined ? '' : ` : ${named}`}`;
}

function namesOf(types: ValueTypes | 'verdict' | number): string {
  return typeof types === 'object' ? types.join(' . ') : String(types);
}

/** The elements in the order of nft: by key; intervals of concatenations as the kernel has them. */
function sorted({ key, flags }: NftSet, elements: readonly Element[]): readonly Element[] {
  if (typeof key === 'number' || (typeof key === 'object' && flags.includes('interval'))) return elements;
  return elements
    .map((element) => ({ element, weight: weightOf(key, element.key) }))
    .sort((a, b) => Buffer.compare(a.weight, b.weight))
    .map(({ element }) => element);
}

/** Bytes that order a key among others. */
function weightOf(key: ValueTypes, value: ElementValue): Uint8Array {
  const bytes = value instanceof Uint8Array ? value : bytesOf(key, value);
  const { types, offsets, isConcatenation, forms } = layoutOf(key);
  if (isConcatenation) {
    const parts = types.map((type, i) =>
      bytes.subarray(offsets[i], (offsets[i] as number) + layoutOf(type).length),
    );
    return inHostOrder(Buffer.concat(parts));
  }
  return forms[0] === FORM.u32 || forms[0] === FORM.name ? inHostOrder(bytes) : bytes;
}

/** nft takes concatenations and names for numbers in the machine's byte order: on most machines, the last byte weighs most. */
function inHostOrder(bytes: Uint8Array): Uint8Array {
  return HOST_IS_LITTLE ? Uint8Array.from(bytes).reverse() : bytes;
}
