// Elements of sets as the kernel lists them.
import type { ListedAttribute } from '../../shared/types.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { readVerdict, u32Of, u64Of } from '../expressions/formats.js';
import type { Expression } from '../expressions/types.js';
import { DATA, ELEMENT, ELEMENTS, INTERVAL_END, LIST_ELEMENT } from '../numbers.js';
import type { Element, ElementValue, NameInTable, SetShape, Verdict } from '../types.js';
import { COMMENT, readUserData, textOfDatum } from '../values/userData.js';
import { readValue } from '../values/values.js';
import { type Layout, layoutOf } from '../values/valueTypes.js';
import { readExpression, readExpressions } from './expressions.js';
import { keepAttribute, Reply } from './reply.js';

/** `NFTNL_UDATA_SET_ELEM_FLAGS`: 1 says that an interval ends with the address space. */
const ELEMENT_FLAGS = 1;

/** How the values of elements are read: without types, they are bytes. */
interface Layouts {
  readonly key: Layout | undefined;
  readonly data: Layout | undefined;
  /** Whether intervals are pairs of elements. */
  readonly hasEnds: boolean;
}

/** What is known of a set. Types may be numbers, as listings have them for those that this library does not know. */
export type KnownShape = {
  readonly [Name in keyof Pick<SetShape, 'key' | 'data' | 'flags'>]?: SetShape[Name] | number | undefined;
};

function layoutsOf({ key, data, flags }: KnownShape): Layouts {
  const isInterval = Array.isArray(flags) && flags.includes('interval');
  const known = typeof key === 'object' || typeof key === 'string' ? key : undefined;
  const hasData = data !== undefined && data !== 'verdict' && typeof data !== 'number';
  return {
    key: known && layoutOf(known, isInterval),
    data: hasData ? layoutOf(data) : undefined,
    // A number above those of single types is that of a concatenation.
    hasEnds: isInterval && (typeof key === 'string' || (typeof key === 'number' && key < 64)),
  };
}

/** One element of a message. */
interface Half {
  readonly key: Uint8Array;
  readonly isEnd: boolean;
  readonly element: Element;
}

/** The name of the set that a message with elements is about. */
export function readElementsSet(payload: Uint8Array, operation: string): NameInTable {
  const reply = new Reply(payload, operation);
  let table: string | undefined;
  let name: string | undefined;
  for (const attribute = reply.attributes(); attribute.next(); ) {
    if (attribute.type === ELEMENTS.table) table = attribute.text();
    else if (attribute.type === ELEMENTS.set) name = attribute.text();
  }
  return {
    family: reply.family,
    table: reply.required(table, 'NFTA_SET_ELEM_LIST_TABLE'),
    name: reply.required(name, 'NFTA_SET_ELEM_LIST_SET'),
  };
}

/** Reads the elements of a notification: one by one, with bytes as keys and data. */
export function* readElementsOfEvent(
  payload: Uint8Array,
  operation = 'nftables.watch',
): Generator<Element, void> {
  for (const { element, isEnd } of halves(payload, operation, layoutsOf({}))) {
    yield isEnd ? { ...element, isEnd: true } : element;
  }
}

/**
 * Reads the elements of a set from the messages of a listing, in their order. An interval is two elements, which may be in two messages:
 * the kernel lists elements in descending order, and the end of an interval before its start.
 */
export class ElementReader {
  readonly #layouts: Layouts;
  readonly #operation: string;
  /** The end whose start comes next. */
  #end: Uint8Array | undefined;

  /** @param shape what is known of the set; without `key`, elements have bytes */
  constructor(shape: KnownShape, operation = 'nftables.listElements') {
    this.#layouts = layoutsOf(shape);
    this.#operation = operation;
  }

  /** The elements that are complete with this message. */
  *read(payload: Uint8Array): Generator<Element, void> {
    for (const { element, key, isEnd } of halves(payload, this.#operation, this.#layouts)) {
      const last = this.#end;
      this.#end = isEnd ? key : undefined;
      if (isEnd) continue;
      if (last === undefined && !this.#layouts.hasEnds) yield element;
      else yield this.#joined(element, key, last);
    }
  }

  /** An interval from its start and the key behind its last one; without that, it goes to the end of the address space. */
  #joined(element: Element, start: Uint8Array, end: Uint8Array | undefined): Element {
    const last = end === undefined ? new Uint8Array(start.length).fill(0xff) : before(end);
    if (areEqual(last, start)) return element;
    const { key } = this.#layouts;
    const { key: first, ...rest } = element;
    return { key: first, keyEnd: key ? readValue(key, last) : last, ...rest };
  }
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The key before this one. */
function before(key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(key);
  for (let i = bytes.length - 1; i >= 0; i--) {
    const byte = bytes[i] as number;
    bytes[i] = (byte - 1) & 0xff;
    if (byte !== 0) break;
  }
  return bytes;
}

function* halves(payload: Uint8Array, operation: string, layouts: Layouts): Generator<Half, void> {
  const reply = new Reply(payload, operation);
  for (const attribute = reply.attributes(); attribute.next(); ) {
    if (attribute.type !== ELEMENTS.list) continue;
    for (const element = attribute.nested(); element.next(); ) {
      if (element.type !== LIST_ELEMENT) throw element.malformed('is no element of a list');
      yield readHalf(element, layouts);
    }
  }
}

/** An element that is being read. */
interface Draft {
  key: ElementValue;
  keyEnd?: ElementValue;
  data?: ElementValue | Verdict;
  timeout?: bigint;
  expires?: bigint;
  comment?: string;
  expressions?: Expression[];
  userData?: Uint8Array;
  attributes?: ListedAttribute[];
}

const NO_KEY = new Uint8Array();

function readHalf(list: AttributeCursor, layouts: Layouts): Half {
  const draft: Draft = { key: NO_KEY };
  let key: Uint8Array = NO_KEY;
  let isEnd = false;
  for (const attribute = list.nested(); attribute.next(); ) {
    switch (attribute.type) {
      case ELEMENT.key:
        key = valueIn(attribute);
        draft.key = layouts.key ? readValue(layouts.key, key) : new Uint8Array(key);
        break;
      case ELEMENT.keyEnd: {
        const bytes = valueIn(attribute);
        if (!areEqual(bytes, key))
          draft.keyEnd = layouts.key ? readValue(layouts.key, bytes) : new Uint8Array(bytes);
        break;
      }
      case ELEMENT.flags:
        isEnd = u32Of(attribute) === INTERVAL_END;
        if (!isEnd) keepAttribute(attribute, draft); // NFT_SET_ELEM_CATCHALL: it has no key
        break;
      case ELEMENT.timeout:
        draft.timeout = u64Of(attribute);
        break;
      case ELEMENT.expires:
        draft.expires = u64Of(attribute);
        break;
      case ELEMENT.expression:
        draft.expressions = [readExpression(attribute)];
        break;
      case ELEMENT.expressions:
        draft.expressions = readExpressions(attribute);
        break;
      case ELEMENT.data:
        readData(attribute, layouts, draft);
        break;
      case ELEMENT.userData:
        readElementUserData(attribute, draft);
        break;
      case ELEMENT.pad:
        break;
      default:
        keepAttribute(attribute, draft);
    }
  }
  return { key, isEnd, element: draft };
}

/** The bytes in `NFTA_DATA_VALUE`. */
function valueIn(attribute: AttributeCursor): Uint8Array {
  const inner = attribute.nested();
  if (inner.next() && inner.type === DATA.value) return inner.bytes();
  throw attribute.malformed('has no value');
}

function readData(attribute: AttributeCursor, layouts: Layouts, draft: Draft): void {
  const inner = attribute.nested();
  if (!inner.next()) throw attribute.malformed('has no value');
  if (inner.type === DATA.value) {
    const bytes = inner.bytes();
    draft.data = layouts.data ? readValue(layouts.data, bytes) : new Uint8Array(bytes);
    return;
  }
  const verdict = readVerdict(attribute);
  if (verdict) draft.data = verdict;
  else keepAttribute(attribute, draft);
}

/** The comment; user data with anything else are kept as they are. */
function readElementUserData(attribute: AttributeCursor, draft: Draft): void {
  const bytes = attribute.bytes();
  let comment: string | undefined;
  for (const datum of readUserData(bytes) ?? [{ type: -1, value: bytes }]) {
    if (datum.type === COMMENT) comment = textOfDatum(datum);
    if (datum.type === ELEMENT_FLAGS) continue;
    if (datum.type !== COMMENT || comment === undefined) {
      draft.userData = new Uint8Array(bytes);
      return;
    }
  }
  if (comment !== undefined) draft.comment = comment;
}
