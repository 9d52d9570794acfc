// Lists of `address:port` as numbers. A cluster has tens of thousands of endpoints, and each of them is in several lists:
// as text it would take 40 bytes and a hash for each use.
import { type Family, formatAddress, formatIPv4At, joinHostPort, readAddressAsIs } from './address.js';

/**
 * Numbers for one entry, all below 2^48, so that they are exact. IPv4: one number, the address and the port. IPv6: three,
 * of which the first two have 48 bits of the address each, and the last one 32 bits of it and the port.
 */
const WIDTH: Readonly<Record<Family, number>> = { 4: 1, 6: 3 };

const BYTE = 2 ** 8;
const PORT = 2 ** 16;

/** 16 bytes for an address that is being read or written. */
const bytes = new Uint8Array(16);

/** An immutable list of distinct `address:port` values of one family, sorted by number. */
export class AddressPorts implements Iterable<string> {
  readonly family: Family;
  /**
   * V8 stores an array of such numbers without an object for each: 8 bytes for IPv4, 24 for IPv6. The name is not a #private
   * one, because isDeepStrictEqual, with which objects are compared, does not see those.
   */
  private readonly numbers: readonly number[];

  /** @param numbers sorted, without duplicates; from the builder */
  private constructor(family: Family, numbers: readonly number[]) {
    this.family = family;
    this.numbers = numbers;
  }

  /** The list without entries. */
  static none(family: Family): AddressPorts {
    return NONE[family];
  }

  /** @internal The list of these sorted numbers. */
  static ofSorted(family: Family, numbers: readonly number[]): AddressPorts {
    return new AddressPorts(family, numbers);
  }

  /** The list of these texts, in any order. Undefined for a text that is not `address:port` of the family. */
  static ofTexts(family: Family, texts: Iterable<string>): AddressPorts | undefined {
    const builder = new AddressPortsBuilder(family);
    for (const text of texts) {
      const [, six, four, port] = /^(?:\[(.+)\]|(.+)):(\d+)$/.exec(text) ?? [];
      if (!builder.add(six ?? four ?? '', Number(port))) return undefined;
    }
    return builder.build();
  }

  /** @internal The list of a copy of another thread, which has the fields and no methods. */
  static ofCopy({ family, numbers }: AddressPorts): AddressPorts {
    return new AddressPorts(family, numbers);
  }

  /** Number of entries. */
  get size(): number {
    return this.numbers.length / WIDTH[this.family];
  }

  /** The address of an entry, as canonical text. */
  addressAt(index: number): string {
    this.writeAddress(index, bytes, 0);
    return this.family === 4 ? formatIPv4At(bytes, 0) : formatAddress(bytes);
  }

  /** The port of an entry. */
  portAt(index: number): number {
    return (this.numbers[(index + 1) * WIDTH[this.family] - 1] as number) % PORT;
  }

  /** An entry as text: `10.0.0.1:80`, `[fd00::1]:80`. */
  textAt(index: number): string {
    return joinHostPort(this.addressAt(index), this.portAt(index));
  }

  /** Writes the 4 or 16 bytes of an entry's address, in network order. */
  writeAddress(index: number, target: Uint8Array, at: number): void {
    const start = index * WIDTH[this.family];
    const last = this.numbers[start + WIDTH[this.family] - 1] as number;
    if (this.family === 4) {
      write(Math.floor(last / PORT), 4, target, at);
      return;
    }
    write(this.numbers[start] as number, 6, target, at);
    write(this.numbers[start + 1] as number, 6, target, at + 6);
    write(Math.floor(last / PORT), 4, target, at + 12);
  }

  /** The place of an entry of another list of the family in this one; -1 if it is not here. */
  indexOf(other: AddressPorts, index: number): number {
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = this.compareAt(middle, other, index);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** Whether an entry of this list is before (negative), equal to (0) or after an entry of another list of the family. */
  compareAt(index: number, other: AddressPorts, otherIndex: number): number {
    const width = WIDTH[this.family];
    for (let i = 0; i < width; i++) {
      const mine = this.numbers[index * width + i] as number;
      const theirs = other.numbers[otherIndex * width + i] as number;
      if (mine !== theirs) return mine - theirs;
    }
    return 0;
  }

  /** Whether both lists have the same family and the same entries. */
  equals(other: AddressPorts): boolean {
    if (this === other) return true;
    const mine = this.numbers;
    const theirs = other.numbers;
    if (this.family !== other.family || mine.length !== theirs.length) return false;
    for (let i = 0; i < mine.length; i++) if (mine[i] !== theirs[i]) return false;
    return true;
  }

  /** The entries for which `choose` returns true. This list itself if it returns true for all. */
  filter(choose: (index: number) => boolean): AddressPorts {
    let first = 0;
    while (first < this.size && choose(first)) first++;
    if (first === this.size) return this;
    const numbers = this.numbers.slice(0, first * WIDTH[this.family]);
    for (let index = first + 1; index < this.size; index++) if (choose(index)) this.copyTo(numbers, index);
    return numbers.length === 0 ? NONE[this.family] : new AddressPorts(this.family, numbers.slice());
  }

  /**
   * The same addresses, all with this port. This list itself if they have it.
   *
   * Only for a list whose entries all have the same port.
   */
  atPort(port: number): AddressPorts {
    if (this.size === 0 || this.portAt(0) === port) return this;
    const difference = port - this.portAt(0);
    const width = WIDTH[this.family];
    const numbers = this.numbers.slice();
    for (let i = width - 1; i < numbers.length; i += width) numbers[i] = (numbers[i] as number) + difference;
    return new AddressPorts(this.family, numbers);
  }

  /** The entries of this list that are not in another list of the family. */
  without(other: AddressPorts): AddressPorts {
    return other.size === 0 ? this : this.filter((index) => other.indexOf(this, index) < 0);
  }

  /** The entries of both lists, of one family. */
  with(other: AddressPorts): AddressPorts {
    if (other.size === 0) return this;
    if (this.size === 0) return other;
    const builder = new AddressPortsBuilder(this.family);
    for (const list of [this, other]) for (let i = 0; i < list.size; i++) builder.addFrom(list, i);
    return builder.build();
  }

  /** The numbers of an entry, into an array of numbers. */
  copyTo(numbers: number[], index: number): void {
    const width = WIDTH[this.family];
    for (let i = index * width; i < (index + 1) * width; i++) numbers.push(this.numbers[i] as number);
  }

  /** The entries as text. */
  *[Symbol.iterator](): Generator<string, void> {
    for (let index = 0; index < this.size; index++) yield this.textAt(index);
  }
}

const NONE: Readonly<Record<Family, AddressPorts>> = {
  4: AddressPorts.ofSorted(4, []),
  6: AddressPorts.ofSorted(6, []),
};

/** Collects entries in any order. */
export class AddressPortsBuilder {
  readonly #family: Family;
  readonly #numbers: number[] = [];

  constructor(family: Family) {
    this.#family = family;
  }

  /** Adds an address with a port. Returns false, and adds nothing, if the text is not an address of the family. */
  add(address: string, port: number): boolean {
    if (readAddressAsIs(address, bytes, 0) !== this.#family) return false;
    this.addBytes(bytes, 0, port);
    return true;
  }

  /** Adds the 4 or 16 bytes of an address, in network order, with a port. */
  addBytes(source: Uint8Array, at: number, port: number): void {
    if (this.#family === 4) {
      this.#numbers.push(read(source, at, 4) * PORT + port);
      return;
    }
    this.#numbers.push(read(source, at, 6), read(source, at + 6, 6), read(source, at + 12, 4) * PORT + port);
  }

  /** Adds an entry of a list of the same family. */
  addFrom(list: AddressPorts, index: number): void {
    list.copyTo(this.#numbers, index);
  }

  /** The list, sorted and without duplicates. The builder must not be used afterwards. */
  build(): AddressPorts {
    return this.buildOrdered(() => 0).list;
  }

  /**
   * The same, and for each entry of the list its number in the order in which entries were added; undefined if this is the
   * order of the list. The builder must not be used afterwards.
   *
   * @param prefer of two additions of the same entry, by number, the one that stays: negative or 0 for the first
   */
  buildOrdered(prefer: (a: number, b: number) => number): {
    readonly list: AddressPorts;
    readonly order: readonly number[] | undefined;
  } {
    const numbers = this.#numbers;
    const width = WIDTH[this.#family];
    if (numbers.length === 0) return { list: NONE[this.#family], order: undefined };
    // A copy: an array that grew by push() has unused space, and these arrays stay.
    if (isSorted(numbers, width)) {
      return { list: AddressPorts.ofSorted(this.#family, numbers.slice()), order: undefined };
    }
    const order = sortedOrder(numbers, width, prefer);
    const sorted: number[] = [];
    for (const entry of order)
      for (let i = entry * width; i < (entry + 1) * width; i++) sorted.push(numbers[i] as number);
    return { list: AddressPorts.ofSorted(this.#family, sorted.slice()), order };
  }
}

/** The entries by number, in order; of equal ones, only the preferred. */
function sortedOrder(
  numbers: readonly number[],
  width: number,
  prefer: (a: number, b: number) => number,
): readonly number[] {
  const all: number[] = [];
  for (let entry = 0; entry < numbers.length / width; entry++) all.push(entry);
  all.sort((a, b) => compareEntries(numbers, width, a, b) || prefer(a, b));
  const order: number[] = [];
  for (const entry of all) {
    const last = order.at(-1);
    if (last === undefined || compareEntries(numbers, width, last, entry) !== 0) order.push(entry);
  }
  return order;
}

/** Whether each entry is before the next. */
function isSorted(numbers: readonly number[], width: number): boolean {
  for (let entry = 1; entry < numbers.length / width; entry++)
    if (compareEntries(numbers, width, entry - 1, entry) >= 0) return false;
  return true;
}

function compareEntries(numbers: readonly number[], width: number, a: number, b: number): number {
  for (let i = 0; i < width; i++) {
    const difference = (numbers[a * width + i] as number) - (numbers[b * width + i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The number of some bytes in network order. Without shifts, which have 32 bits only. */
function read(source: Uint8Array, at: number, length: number): number {
  let number = 0;
  for (let i = at; i < at + length; i++) number = number * BYTE + (source[i] as number);
  return number;
}

function write(number: number, length: number, target: Uint8Array, at: number): void {
  let rest = number;
  for (let i = at + length - 1; i >= at; i--) {
    const high = Math.floor(rest / BYTE);
    target[i] = rest - high * BYTE;
    rest = high;
  }
}
