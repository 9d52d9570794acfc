// Elements of sets as the kernel lists them.
import type { ListedAttribute } from '../../shared/types.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { readVerdict, u32Of, u64Of } from '../expressions/formats.js';
import type { Expression } from '../expressions/types.js';
import { CATCH_ALL, DATA, ELEMENT, ELEMENTS, INTERVAL_END, LIST_ELEMENT } from '../numbers.js';
import type { Element, ElementValue, NameInTable, SetShape, Verdict } from '../types.js';
import { commentIn } from '../values/userData.js';
import { readValue } from '../values/values.js';
import { type Layout, layoutOf } from '../values/valueTypes.js';
import { readExpression, readExpressions } from './expressions.js';
import { keepAttribute, Reply } from './reply.js';

/** `NFTNL_UDATA_SET_ELEM_FLAGS`: 1 says that an interval ends with the address space. */
const ELEMENT_FLAGS = 1;

/** How the values of elements are read: without types, they are bytes. */
export interface Layouts {
  readonly key: Layout | undefined;
  readonly data: Layout | undefined;
  /** Whether intervals are pairs of elements. */
  readonly hasEnds: boolean;
  /** Whether elements have two data. */
  readonly hasDataEnd?: boolean;
}

/** What is known of a set. Types may be numbers, as listings have them for those that this library does not know. */
type KnownShape = {
  readonly [Name in keyof Pick<SetShape, 'key' | 'data' | 'dataIsInterval' | 'flags'>]?:
    | SetShape[Name]
    | number
    | undefined;
};

function layoutsOf({ key, data, dataIsInterval, flags }: KnownShape): Layouts {
  const isInterval = Array.isArray(flags) && flags.includes('interval');
  const known = typeof key === 'object' || typeof key === 'string' ? key : undefined;
  const hasData = data !== undefined && data !== 'verdict' && typeof data !== 'number';
  return {
    key: known && layoutOf(known, isInterval),
    data: hasData ? layoutOf(data) : undefined,
    hasDataEnd: dataIsInterval === true,
    // A number above those of single types is that of a concatenation.
    hasEnds: isInterval && (typeof key === 'string' || (typeof key === 'number' && key < 64)),
  };
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
  for (const half = new Halves(payload, operation, layoutsOf({})); half.next(); ) {
    yield half.isEnd ? { ...half.element, isEnd: true } : half.element;
  }
}

/**
 * Reads the elements of a set from the messages of a listing, in their order. An interval is two elements, which may be in two messages:
 * the kernel lists elements in descending order, and the end of an interval before its start.
 */
export class ElementReader {
  readonly #layouts: Layouts;
  readonly #operation: string;
  /** The key behind the interval whose start comes next: its end, or the start of the interval after it, if that has none. */
  #end: Uint8Array | undefined;

  /** @param shape what is known of the set; without `key`, elements have bytes */
  constructor(shape: KnownShape, operation = 'nftables.listElements') {
    this.#layouts = layoutsOf(shape);
    this.#operation = operation;
  }

  /** The elements that are complete with this message. */
  *read(payload: Uint8Array): Generator<Element, void> {
    for (const half = new Halves(payload, this.#operation, this.#layouts); half.next(); ) {
      // A catch-all element has no key.
      if (half.key.length === 0) {
        yield half.element;
        continue;
      }
      const last = this.#end;
      this.#end = half.isEnd || this.#layouts.hasEnds ? new Uint8Array(half.key) : undefined;
      if (half.isEnd) continue;
      if (last === undefined && !this.#layouts.hasEnds) yield half.element;
      else yield this.#joined(half.element, half.key, last);
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

/** An element that is being read. */
interface Draft {
  key: ElementValue;
  keyEnd?: ElementValue;
  data?: ElementValue | Verdict;
  dataEnd?: ElementValue;
  object?: string;
  timeout?: bigint;
  expires?: bigint;
  comment?: string;
  expressions?: Expression[];
  userData?: Uint8Array;
  attributes?: ListedAttribute[];
}

const NO_KEY = new Uint8Array();

/**
 * The elements of a message, one after another: `next()`, then the fields. Of an interval, start and end are two. Who reads some in another
 * way calls `move()`, and `read()` for the others.
 */
export class Halves {
  element: Element = { key: NO_KEY };
  isEnd = false;
  readonly #layouts: Layouts;
  readonly #reply: Reply;
  readonly #attributes: AttributeCursor;
  /** The list that is being read. */
  #list: AttributeCursor | undefined;
  #keyAt = 0;
  #keyLength = 0;

  constructor(payload: Uint8Array, operation: string, layouts: Layouts) {
    this.#layouts = layouts;
    this.#reply = new Reply(payload, operation);
    this.#attributes = this.#reply.attributes();
  }

  /** Reads the next element; false behind the last one. */
  next(): boolean {
    const list = this.move();
    if (list) this.read(list);
    return list !== undefined;
  }

  /** Moves to the next element, whose attributes are in the current one of this cursor; undefined behind the last one. */
  move(): AttributeCursor | undefined {
    while (!this.#list?.next()) {
      if (!this.#attributes.next()) return undefined;
      this.#list = this.#attributes.type === ELEMENTS.list ? this.#attributes.nested() : undefined;
    }
    if (this.#list.type !== LIST_ELEMENT) throw this.#list.malformed('is no element of a list');
    return this.#list;
  }

  /** The message. */
  get reply(): Reply {
    return this.#reply;
  }

  /** The bytes of the key; they share the memory of the message. */
  get key(): Uint8Array {
    return this.#reply.bytes.subarray(this.#keyAt, this.#keyAt + this.#keyLength);
  }

  /** Reads the fields of the element to which it moved. */
  read(list: AttributeCursor): void {
    const draft: Draft = { key: NO_KEY };
    this.isEnd = false;
    this.#keyLength = 0;
    for (const attribute = list.nested(); attribute.next(); ) {
      if (attribute.type === ELEMENT.key) draft.key = this.#readKey(attribute);
      else if (attribute.type === ELEMENT.data) this.#readData(attribute, draft);
      else if (attribute.type === ELEMENT.flags) {
        this.isEnd = u32Of(attribute) === INTERVAL_END;
        // NFT_SET_ELEM_CATCHALL: it has no key.
        if ((u32Of(attribute) & ~(INTERVAL_END | CATCH_ALL)) !== 0) keepAttribute(attribute, draft);
      } else if (attribute.type === ELEMENT.keyEnd) {
        const bytes = valueIn(attribute);
        const { key: layout } = this.#layouts;
        if (!areEqual(bytes, this.key))
          draft.keyEnd = layout ? readValue(layout, bytes) : new Uint8Array(bytes);
      } else readOther(attribute, draft);
    }
    this.element = draft;
  }

  #readKey(attribute: AttributeCursor): ElementValue {
    const { key: layout } = this.#layouts;
    const { bytes } = this.#reply;
    const at = layout ? attribute.placeOfNested(DATA.value, layout.length) : -1;
    if (layout && at >= 0) {
      this.#keyAt = at;
      this.#keyLength = layout.length;
      return readValue(layout, bytes, at, layout.length);
    }
    const value = valueIn(attribute);
    this.#keyAt = value.byteOffset - bytes.byteOffset;
    this.#keyLength = value.length;
    return layout ? readValue(layout, value) : new Uint8Array(value);
  }

  #readData(attribute: AttributeCursor, draft: Draft): void {
    const { data: layout, hasDataEnd } = this.#layouts;
    if (layout && hasDataEnd) {
      readDataInterval(attribute, layout, draft);
      return;
    }
    const at = layout ? attribute.placeOfNested(DATA.value, layout.length) : -1;
    if (layout && at >= 0) draft.data = readValue(layout, this.#reply.bytes, at, layout.length);
    else readData(attribute, layout, draft);
  }
}

/** Attributes that few elements have. */
function readOther(attribute: AttributeCursor, draft: Draft): void {
  switch (attribute.type) {
    case ELEMENT.timeout:
      draft.timeout = u64Of(attribute);
      break;
    case ELEMENT.expires:
      draft.expires = u64Of(attribute);
      break;
    case ELEMENT.object:
      draft.object = attribute.text();
      break;
    case ELEMENT.expression:
      draft.expressions = [readExpression(attribute)];
      break;
    case ELEMENT.expressions:
      draft.expressions = readExpressions(attribute);
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

/** The bytes in `NFTA_DATA_VALUE`. */
function valueIn(attribute: AttributeCursor): Uint8Array {
  const inner = attribute.nested();
  if (inner.next() && inner.type === DATA.value) return inner.bytes();
  throw attribute.malformed('has no value');
}

function readData(attribute: AttributeCursor, layout: Layout | undefined, draft: Draft): void {
  const inner = attribute.nested();
  if (!inner.next()) throw attribute.malformed('has no value');
  if (inner.type === DATA.value) {
    const bytes = inner.bytes();
    draft.data = layout ? readValue(layout, bytes) : new Uint8Array(bytes);
    return;
  }
  const verdict = readVerdict(attribute);
  if (verdict) draft.data = verdict;
  else keepAttribute(attribute, draft);
}

/** Two data, one behind the other. */
function readDataInterval(attribute: AttributeCursor, layout: Layout, draft: Draft): void {
  const bytes = valueIn(attribute);
  const [first, last] = [bytes.subarray(0, layout.length), bytes.subarray(layout.length)];
  draft.data = readValue(layout, first);
  if (!areEqual(first, last)) draft.dataEnd = readValue(layout, last);
}

/** The comment; what else is in user data, but for what the keys tell, is kept as it is. */
function readElementUserData(attribute: AttributeCursor, draft: Draft): void {
  Object.assign(draft, commentIn(attribute.bytes(), ELEMENT_FLAGS));
}
