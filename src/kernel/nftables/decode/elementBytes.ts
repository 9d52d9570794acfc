// Elements of sets as the kernel lists them → their bytes. None of them costs an object, except those that have more.
import { type AttributeCursor, isAttribute } from '../../shared/wire/attributeCursor.js';
import { ATTRIBUTE_HEADER, aligned } from '../../shared/wire/messages.js';
import { DATA, ELEMENT } from '../numbers.js';
import type { Element, ListedElementBytes, SetOfBytes } from '../types.js';
import { layoutOf } from '../values/valueTypes.js';
import { Halves, type Layouts } from './elements.js';

const NONE: readonly Element[] = [];

/** Reads the elements of a set from the messages of a listing. */
export class ElementBytesReader {
  readonly #operation: string;
  readonly #layouts: Layouts;
  readonly #keyLength: number;
  /** 0 if the set is no map. */
  readonly #dataLength: number;
  /** Length of the attributes of an element with a key and, in a map, data: nothing else. */
  readonly #length: number;

  /** @param set without intervals and verdicts */
  constructor({ key, data }: Pick<SetOfBytes, 'key' | 'data'>, operation = 'nftables.listElementBytes') {
    const layouts = {
      key: layoutOf(key),
      data: data === undefined || data === 'verdict' ? undefined : layoutOf(data),
      hasEnds: false,
    };
    this.#operation = operation;
    this.#layouts = layouts;
    this.#keyLength = layouts.key.length;
    this.#dataLength = layouts.data?.length ?? 0;
    this.#length = lengthOf(this.#keyLength) + (layouts.data ? lengthOf(this.#dataLength) : 0);
  }

  /** The elements of a message, in memory of their own; undefined if it has none. */
  read(payload: Uint8Array): ListedElementBytes | undefined {
    const halves = new Halves(payload, this.#operation, this.#layouts);
    const { bytes, view } = halves.reply;
    const [keyLength, dataLength] = [this.#keyLength, this.#dataLength];
    const most = Math.floor(bytes.length / (ATTRIBUTE_HEADER + this.#length));
    const keys = new Uint8Array(most * keyLength);
    const data = new Uint8Array(most * dataLength);
    let others: Element[] | undefined;
    let count = 0;
    for (let list = halves.move(); list; list = halves.move()) {
      const at = this.#placeOfKey(list, view);
      if (at < 0) {
        halves.read(list);
        others ??= [];
        others.push(halves.isEnd ? { ...halves.element, isEnd: true } : halves.element);
        continue;
      }
      copy(bytes, at, keys, count * keyLength, keyLength);
      if (dataLength > 0) copy(bytes, at + placeOfData(keyLength), data, count * dataLength, dataLength);
      count++;
    }
    if (count === 0 && !others) return undefined;
    return {
      count,
      keys: keys.subarray(0, count * keyLength),
      ...(dataLength > 0 && { data: data.subarray(0, count * dataLength) }),
      others: others ?? NONE,
    };
  }

  /** The place of the key of an element that has nothing but the key and, in a map, data; -1 of any other one. */
  #placeOfKey(list: AttributeCursor, view: DataView): number {
    if (list.length !== this.#length) return -1;
    const inner = list.placeOfNested(ELEMENT.key, ATTRIBUTE_HEADER + aligned(this.#keyLength));
    if (inner < 0 || !isAttribute(view, inner, DATA.value, this.#keyLength)) return -1;
    const at = inner + ATTRIBUTE_HEADER;
    if (this.#dataLength === 0) return at;
    const value = at + placeOfData(this.#keyLength) - ATTRIBUTE_HEADER;
    const hasData =
      isAttribute(
        view,
        value - ATTRIBUTE_HEADER,
        ELEMENT.data,
        ATTRIBUTE_HEADER + aligned(this.#dataLength),
      ) && isAttribute(view, value, DATA.value, this.#dataLength);
    return hasData ? at : -1;
  }
}

/** Length of an attribute with a value of this length in `NFTA_DATA_VALUE`. */
function lengthOf(length: number): number {
  return 2 * ATTRIBUTE_HEADER + aligned(length);
}

/** The place of the data behind that of a key, if nothing is between them. */
function placeOfData(keyLength: number): number {
  return aligned(keyLength) + 2 * ATTRIBUTE_HEADER;
}

/** A value has few bytes, which a loop copies faster than a call does. */
function copy(source: Uint8Array, from: number, target: Uint8Array, at: number, length: number): void {
  for (let i = 0; i < length; i++) target[at + i] = source[from + i] as number;
}
