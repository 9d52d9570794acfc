// The slots that a map of the kernel has, by frontend: a cluster has as many as endpoints, and none of them costs an object or a text.

import type { Family } from '../../../../kernel/net/address.js';
import type { ElementBytes } from '../../../../kernel/nftables/types.js';
import { SLOT_LENGTH } from './slotBytes.js';
import { FoundSlots } from './slots.js';

/** Bytes of a word: all parts of keys are padded to it. */
const WORD = 4;
/** Slots for which there is room at first. */
const FIRST = 1024;
/** There is no further slot, and no frontend in a place of the table. */
const NONE = -1;

/**
 * The slots of one map. Frontends are found by a hash table with open addressing, whose keys are the words of a slot's key without the
 * number of the slot; each frontend has the chain of its slots.
 */
export class SlotTable {
  readonly #family: Family;
  /** Bytes of an endpoint. */
  readonly #dataLength: number;
  /** Words of a key: those of the frontend, and the number of the slot behind them, in the machine's byte order. */
  readonly #width: number;
  /** The keys of all slots, in the order in which they were added. */
  #words = new Uint32Array(0);
  /** The data of all slots. */
  #data = new Uint8Array(0);
  /** Of each slot, the one of the same frontend that was added before it. */
  #before = new Int32Array(0);
  #count = 0;
  /** Of each frontend: its last slot. Any of its slots has the words of the frontend. */
  readonly #last: number[] = [];
  /** Of each frontend: the number of its slots. */
  readonly #counts: number[] = [];
  /** Frontends at places that their hashes determine, or at the next free ones: at least half of the places are free. */
  #places = new Int32Array(2 * FIRST).fill(NONE);

  /** @param keyLength that of the map's keys, in bytes */
  constructor(family: Family, keyLength: number) {
    this.#family = family;
    this.#dataLength = SLOT_LENGTH[family].data;
    this.#width = keyLength / WORD;
  }

  /** Number of frontends. */
  get size(): number {
    return this.#last.length;
  }

  /** Adds slots, each with the address and the port of an endpoint. */
  add({ count, keys, data }: ElementBytes): void {
    const first = this.#count;
    this.#enlarge(first + count);
    new Uint8Array(this.#words.buffer).set(keys, first * this.#width * WORD);
    if (data) this.#data.set(data, first * this.#dataLength);
    this.#count += count;
    for (let slot = first; slot < this.#count; slot++) {
      const place = this.#placeOf(slot);
      const frontend = this.#places[place] as number;
      if (frontend === NONE) this.#addFrontend(place, slot);
      else {
        this.#before[slot] = this.#last[frontend] as number;
        this.#last[frontend] = slot;
        this.#counts[frontend] = (this.#counts[frontend] as number) + 1;
      }
    }
  }

  /** The bytes of a frontend; they share the memory of this table. */
  frontendAt(frontend: number): Uint8Array {
    const start = (this.#last[frontend] as number) * this.#width * WORD;
    return new Uint8Array(this.#words.buffer, start, (this.#width - 1) * WORD);
  }

  /** The number of slots of a frontend. */
  countAt(frontend: number): number {
    return this.#counts[frontend] as number;
  }

  /** The slots of a frontend: in the order of their numbers if these are those of a shared chain, for endpoints then are in order too. */
  slotsAt(frontend: number): FoundSlots {
    const found = new FoundSlots(this.#family);
    const inOrder = new Array<number>(this.countAt(frontend)).fill(NONE);
    for (let slot = this.#last[frontend] as number; slot !== NONE; slot = this.#before[slot] as number) {
      const number = this.#numberOf(slot);
      if (number < inOrder.length) inOrder[number] = slot;
    }
    if (inOrder.includes(NONE)) {
      for (let slot = this.#last[frontend] as number; slot !== NONE; slot = this.#before[slot] as number)
        this.#addTo(found, slot);
    } else for (const slot of inOrder) this.#addTo(found, slot);
    return found;
  }

  #addTo(found: FoundSlots, slot: number): void {
    found.addBytes(this.#numberOf(slot), this.#data, slot * this.#dataLength);
  }

  #numberOf(slot: number): number {
    return this.#words[(slot + 1) * this.#width - 1] as number;
  }

  /** The place of the frontend of a slot: it is there, or may be. */
  #placeOf(slot: number): number {
    const places = this.#places;
    const last = places.length - 1;
    let place = this.#hashOf(slot) & last;
    for (;;) {
      const frontend = places[place] as number;
      if (frontend === NONE || this.#isSame(slot, this.#last[frontend] as number)) return place;
      place = (place + 1) & last;
    }
  }

  #isSame(slot: number, other: number): boolean {
    const words = this.#words;
    const [a, b] = [slot * this.#width, other * this.#width];
    for (let i = 0; i < this.#width - 1; i++) if (words[a + i] !== words[b + i]) return false;
    return true;
  }

  /** The hash of a slot's frontend: each bit depends on all words, for addresses of a cluster differ in few of them. */
  #hashOf(slot: number): number {
    const start = slot * this.#width;
    let hash = 0;
    for (let i = 0; i < this.#width - 1; i++) {
      hash = Math.imul(hash ^ (this.#words[start + i] as number), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0x85ebca6b);
    return hash ^ (hash >>> 13);
  }

  #addFrontend(place: number, slot: number): void {
    this.#places[place] = this.#last.length;
    this.#before[slot] = NONE;
    this.#last.push(slot);
    this.#counts.push(1);
    if (this.#last.length * 2 <= this.#places.length) return;
    this.#places = new Int32Array(this.#places.length * 2).fill(NONE);
    for (const [frontend, last] of this.#last.entries()) this.#places[this.#placeOf(last)] = frontend;
  }

  /** Makes room for so many slots. */
  #enlarge(count: number): void {
    if (count <= this.#before.length) return;
    const room = Math.max(count, FIRST, this.#before.length * 2);
    const words = new Uint32Array(room * this.#width);
    const data = new Uint8Array(room * this.#dataLength);
    const before = new Int32Array(room);
    words.set(this.#words);
    data.set(this.#data);
    before.set(this.#before);
    [this.#words, this.#data, this.#before] = [words, data, before];
  }
}
