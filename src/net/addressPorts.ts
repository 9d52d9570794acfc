// Lists of `address:port` as numbers. A cluster has tens of thousands of endpoints, and each of them is in several lists:
// as text it would take 40 bytes and a hash for each use.
import { type Family, formatAddress, joinHostPort, readAddress } from './address.js';

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
  /** V8 stores an array of such numbers without an object for each: 8 bytes for IPv4, 24 for IPv6. */
  readonly #numbers: readonly number[];

  /** @param numbers sorted, without duplicates; see {@link AddressPortsBuilder} */
  private constructor(family: Family, numbers: readonly number[]) {
    this.family = family;
    this.#numbers = numbers;
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

  /** Number of entries. */
  get size(): number {
    return this.#numbers.length / WIDTH[this.family];
  }

  /** The address of an entry, as canonical text. */
  addressAt(index: number): string {
    this.writeAddress(index, bytes, 0);
    return formatAddress(this.family === 4 ? bytes.subarray(0, 4) : bytes);
  }

  /** The port of an entry. */
  portAt(index: number): number {
    return (this.#numbers[(index + 1) * WIDTH[this.family] - 1] as number) % PORT;
  }

  /** An entry as text: `10.0.0.1:80`, `[fd00::1]:80`. */
  textAt(index: number): string {
    return joinHostPort(this.addressAt(index), this.portAt(index));
  }

  /** Writes the 4 or 16 bytes of an entry's address, in network order. */
  writeAddress(index: number, target: Uint8Array, at: number): void {
    const start = index * WIDTH[this.family];
    const last = this.#numbers[start + WIDTH[this.family] - 1] as number;
    if (this.family === 4) {
      write(Math.floor(last / PORT), 4, target, at);
      return;
    }
    write(this.#numbers[start] as number, 6, target, at);
    write(this.#numbers[start + 1] as number, 6, target, at + 6);
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
      const mine = this.#numbers[index * width + i] as number;
      const theirs = other.#numbers[otherIndex * width + i] as number;
      if (mine !== theirs) return mine - theirs;
    }
    return 0;
  }

  /** Whether both lists have the same family and the same entries. */
  equals(other: AddressPorts): boolean {
    if (this === other) return true;
    const mine = this.#numbers;
    const theirs = other.#numbers;
    if (this.family !== other.family || mine.length !== theirs.length) return false;
    for (let i = 0; i < mine.length; i++) if (mine[i] !== theirs[i]) return false;
    return true;
  }

  /** The entries for which `choose` returns true. This list itself if it returns true for all. */
  filter(choose: (index: number) => boolean): AddressPorts {
    const width = WIDTH[this.family];
    const numbers: number[] = [];
    for (let index = 0; index < this.size; index++) {
      if (!choose(index)) continue;
      for (let i = index * width; i < (index + 1) * width; i++) numbers.push(this.#numbers[i] as number);
    }
    if (numbers.length === this.#numbers.length) return this;
    return numbers.length === 0 ? NONE[this.family] : new AddressPorts(this.family, numbers);
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
    for (let i = index * width; i < (index + 1) * width; i++) numbers.push(this.#numbers[i] as number);
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
    if (readAddress(address, bytes, 0) !== this.#family) return false;
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
    if (this.#numbers.length === 0) return NONE[this.#family];
    const sorted = this.#family === 4 ? sortSingle(this.#numbers) : sortTriples(this.#numbers);
    return AddressPorts.ofSorted(this.#family, sorted);
  }
}

/** Returns a new array: one that grew by push() has unused space, and these arrays stay. */
function sortSingle(numbers: number[]): number[] {
  let sorted = true;
  for (let i = 1; i < numbers.length && sorted; i++)
    sorted = (numbers[i - 1] as number) < (numbers[i] as number);
  if (sorted) return numbers.slice();
  numbers.sort((a, b) => a - b);
  return numbers.filter((number, i) => i === 0 || number !== numbers[i - 1]);
}

function sortTriples(numbers: number[]): number[] {
  const at = (entry: number, i: number) => numbers[entry * 3 + i] as number;
  const compare = (a: number, b: number) => at(a, 0) - at(b, 0) || at(a, 1) - at(b, 1) || at(a, 2) - at(b, 2);
  const order = Array.from({ length: numbers.length / 3 }, (_, entry) => entry);
  if (order.every((entry) => entry === 0 || compare(entry - 1, entry) < 0)) return numbers.slice();
  order.sort(compare);
  return order
    .filter((entry, i) => i === 0 || compare(order[i - 1] as number, entry) !== 0)
    .flatMap((entry) => [at(entry, 0), at(entry, 1), at(entry, 2)]);
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
