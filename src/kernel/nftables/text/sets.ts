// Sets and their elements as nft lists them, in steps: a list of elements may be long.

import type { ListedAttribute } from '../../shared/types.js';
import { StepCounter, type Steps, sortedInSteps } from '../../steps.js';
import type { Element, ElementValue, NftSet, SetFlag, ValueTypes, Verdict } from '../types.js';
import { defaultExpressions } from '../values/keyExpressions.js';
import { bytesOf, isCatchAll, writeValue } from '../values/values.js';
import { FORM, layoutOf } from '../values/valueTypes.js';
import type { Loaded } from './print/registers.js';
import { plainStatement, statelessText } from './statements.js';
import {
  elementText,
  HOST_IS_LITTLE,
  intervalText,
  isBitmask,
  nameText,
  quoted,
  timeText,
} from './values.js';

/** A set with its elements. */
export interface SetContent {
  readonly set: NftSet;
  readonly elements: readonly Element[];
}

/** A verdict: `goto chain`. */
export function verdictText(verdict: Verdict): string {
  return 'chain' in verdict ? `${verdict.verdict} ${nameText(verdict.chain)}` : verdict.verdict;
}

/** What is looked up in a set of a rule, and how its bytes are written. */
interface LookedUp {
  readonly parts: readonly Loaded[];
  readonly show: (part: Loaded, bytes: Uint8Array) => string;
}

/** A key, or an interval, in the notation of what is looked up. */
function keyText(
  { key: types, flags }: NftSet,
  { key, keyEnd = key }: Element,
  { parts, show }: LookedUp,
): string {
  if (typeof types === 'number') return elementText(types, key);
  const layout = layoutOf(types, flags.includes('interval'));
  const [first, last] = [key, keyEnd].map((value) => {
    const bytes = new Uint8Array(layout.length);
    writeValue(layout, value, bytes, 0);
    return bytes;
  }) as [Uint8Array, Uint8Array];
  let at = 0;
  const texts = parts.map((part) => {
    const [from, to] = [first, last].map((bytes) => show(part, bytes.subarray(at, at + part.length)));
    at += (part.length + 3) & ~3;
    return from === to ? from : `${from}-${to}`;
  });
  return texts.join(' . ');
}

/** One element: key, lifetime, comment and data. */
function textOfElement(set: NftSet, element: Element, of?: LookedUp): string {
  const { key, data } = set;
  const { keyEnd, timeout, expires, comment, object, expressions = [] } = element;
  const words = [
    isCatchAll(element.key)
      ? '*'
      : of
        ? keyText(set, element, of)
        : keyEnd === undefined
          ? elementText(key, element.key)
          : intervalText(key, element.key, keyEnd),
  ];
  words.push(...expressions.map((each) => plainStatement(each) ?? `[${each.kind}]`));
  if (timeout !== undefined) words.push(`timeout ${timeText(timeout)}`);
  if (expires !== undefined) words.push(`expires ${timeText(expires)}`);
  if (comment !== undefined) words.push(`comment ${quoted(comment)}`);
  words.push(...(element.attributes ?? []).map(({ type }) => `[attribute ${type}]`));
  if (element.userData) words.push(`[user data ${hexOf(element.userData)}]`);
  if (object !== undefined) words.push(':', quoted(object));
  if (element.data !== undefined && data !== undefined) words.push(':', dataText(data, element));
  return words.join(' ');
}

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

/** What of an object has no notation: attributes, which no reader accepts, and user data, which nft does not read either. */
export function* unreadLines(
  start: string,
  {
    attributes = [],
    userData,
  }: { readonly attributes?: readonly ListedAttribute[]; readonly userData?: Uint8Array | undefined },
): Generator<string, void, undefined> {
  for (const { type, value } of attributes) yield `${start}[attribute ${type} ${hexOf(value)}]`;
  if (userData) yield `${start}# user data ${hexOf(userData)}`;
}

function dataText(types: NonNullable<NftSet['data']>, { data, dataEnd }: Element): string {
  if (typeof data === 'object' && 'verdict' in data) return verdictText(data);
  if (dataEnd !== undefined && types !== 'verdict') return intervalText(types, data as ElementValue, dataEnd);
  return elementText(types === 'verdict' ? 0 : types, data as ElementValue);
}

/** The elements of a set of a rule: `{ 0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 80 }`. `of` is what is looked up, if its notation is another one. */
export function* anonymousText({ set, elements }: SetContent, of?: LookedUp): Steps<string> {
  const counter = new StepCounter();
  const texts: string[] = [];
  for (const element of sorted(set, elements)) {
    if (element) texts.push(textOfElement(set, element, of));
    if (!element || counter.isFull()) yield;
  }
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

/** Lines of a ruleset, without their ends. Undefined: a step that makes no line. */
export type Lines = Generator<string | undefined, void, undefined>;

/** The lines of a set or map. */
export function* setLines(content: SetContent): Lines {
  const { set, elements } = content;
  const { data, objects, size, flags, timeout, comment, autoMerge, gcInterval, policy, expressions } = set;
  yield `\t${data === undefined && objects === undefined ? 'set' : 'map'} ${nameText(set.name)} {`;
  yield `\t\t${typesText(set)}`;
  if (policy !== undefined) yield `\t\tpolicy ${policy}`;
  if (size !== undefined && !flags.includes('constant')) yield `\t\tsize ${size}`;
  const named = [
    ...FLAG_ORDER.filter((flag) => flags.includes(flag)),
    ...flags.flatMap((flag) => (typeof flag === 'number' ? [`[flag ${flag}]`] : [])),
  ];
  if (named.length > 0) yield `\t\tflags ${named.join(',')}`;
  if (autoMerge) yield '\t\tauto-merge';
  if (expressions)
    yield `\t\t${expressions.map((each) => statelessText(each) ?? `[${each.kind}]`).join(' ')}`;
  if (timeout !== undefined) yield `\t\ttimeout ${timeText(timeout)}`;
  if (gcInterval !== undefined) yield `\t\tgc-interval ${timeText(BigInt(gcInterval))}`;
  if (comment !== undefined) yield `\t\tcomment ${quoted(comment)}`;
  yield* unreadLines('\t\t', { attributes: set.attributes ?? [] });
  // nft reads its types from them.
  if (set.userData) yield `\t\t[user data ${hexOf(set.userData)}]`;
  if (elements.length > 0) yield* elementLines(content);
  yield '\t}';
}

/** The lines of the elements of a set, of which there is at least one. */
function* elementLines({ set, elements }: SetContent): Lines {
  const perLine = FIVE.has(set.key) ? 5 : TWO.has(set.key) ? 2 : 1;
  let start = '\t\telements = { ';
  let line: string[] = [];
  for (const element of sorted(set, elements)) {
    if (!element) {
      yield;
      continue;
    }
    if (line.length === perLine) {
      yield `${start}${line.join(', ')},`;
      start = '\t\t\t     ';
      line = [];
    }
    line.push(textOfElement(set, element));
  }
  yield `${start}${line.join(', ')} }`;
}

const FLAG_ORDER: readonly SetFlag[] = ['constant', 'dynamic', 'interval', 'timeout'];

/** `type ipv4_addr . inet_service : verdict`, or `typeof`. */
function typesText({ key, data, dataIsInterval, objects, keyExpressions, dataExpressions }: NftSet): string {
  const named = objects ?? (data === undefined ? undefined : namesOf(data));
  const start = dataIsInterval ? ' : interval ' : ' : ';
  if (keyExpressions === undefined)
    return `type ${namesOf(key)}${named === undefined ? '' : `${start}${named}`}`;
  const isKnown = data !== undefined && data !== 'verdict' && typeof data !== 'number';
  const expressions = dataExpressions ?? (isKnown ? defaultExpressions(data) : undefined);
  const described = expressions?.join(' . ') ?? named;
  return `typeof ${keyExpressions.join(' . ')}${described === undefined ? '' : `${start}${described}`}`;
}

function namesOf(types: ValueTypes | 'verdict' | number): string {
  if (typeof types === 'number') return `[type ${types}]`;
  const names = typeof types === 'object' ? types.join(' . ') : types;
  // nft calls all of them integer: it knows their lengths from expressions only.
  return /integer\d/.test(names) ? `[${names}]` : names;
}

/**
 * The elements in the order of nft: by key; sums of flags and intervals of concatenations as the kernel has them. Undefined: a step that puts them in
 * order.
 */
function* sorted(
  { key, flags }: NftSet,
  elements: readonly Element[],
): Generator<Element | undefined, void, undefined> {
  const isSum = ({ key: sum }: Element) => typeof sum === 'number' && (sum & (sum - 1)) !== 0;
  const isUnordered = typeof key === 'string' && isBitmask(key) && elements.some(isSum);
  if (isUnordered || typeof key === 'number' || (typeof key === 'object' && flags.includes('interval'))) {
    yield* elements;
    return;
  }
  const counter = new StepCounter();
  const weighed: Weighed[] = [];
  for (const element of elements) {
    weighed.push({ element, weight: isCatchAll(element.key) ? LAST : weightOf(key, element.key) });
    if (counter.isFull()) yield;
  }
  const inOrder = yield* sortedInSteps(weighed, (a, b) =>
    a.weight < b.weight ? -1 : a.weight > b.weight ? 1 : 0,
  );
  for (const { element } of inOrder) yield element;
}

/** Behind the weights of all keys. */
const LAST = '\uffff';

/** An element, and the text that orders it among others. */
interface Weighed {
  readonly element: Element;
  readonly weight: string;
}

/** The bytes that order a key among others, a character each: garbage collections take longer for arrays. */
function weightOf(key: ValueTypes, value: ElementValue): string {
  const bytes = orderedBytes(key, value);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

function orderedBytes(key: ValueTypes, value: ElementValue): Uint8Array {
  const bytes = value instanceof Uint8Array ? value : bytesOf(key, value);
  const { types, offsets, isConcatenation, forms } = layoutOf(key);
  if (isConcatenation) {
    const parts = types.map((type, i) =>
      bytes.subarray(offsets[i], (offsets[i] as number) + layoutOf(type).length),
    );
    return inHostOrder(Buffer.concat(parts));
  }
  return forms[0] === FORM.u32 || forms[0] === FORM.u16host || forms[0] === FORM.name
    ? inHostOrder(bytes)
    : bytes;
}

/** nft takes concatenations and names for numbers in the machine's byte order: on most machines, the last byte weighs most. */
function inHostOrder(bytes: Uint8Array): Uint8Array {
  return HOST_IS_LITTLE ? Uint8Array.from(bytes).reverse() : bytes;
}
