// Slots of a map as the bytes of its elements: a cluster has as many as endpoints, and none of them costs an object.

import type { Family } from '../../../../kernel/net/address.js';
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
import type { ElementBytes } from '../../../../kernel/nftables/types.js';

/** Slots for which there is room at first. */
const FIRST = 32;
/** Of the address of an endpoint, and of that with the port and the zeros behind it, in bytes. */
export const SLOT_LENGTH: Readonly<Record<Family, { readonly address: number; readonly data: number }>> = {
  4: { address: 4, data: 8 },
  6: { address: 16, data: 20 },
};

/** Slots that are added to a map, or deleted from it. */
export class SlotBytes {
  readonly #family: Family;
  readonly #keyLength: number;
  #count = 0;
  #keys: Uint8Array;
  /** Of their endpoints; empty if slots are deleted. */
  #data: Uint8Array;

  /** @param keyLength that of the map's keys, in bytes */
  constructor(family: Family, keyLength: number) {
    this.#family = family;
    this.#keyLength = keyLength;
    this.#keys = new Uint8Array(FIRST * keyLength);
    this.#data = new Uint8Array(0);
  }

  get count(): number {
    return this.#count;
  }

  /** The key of each slot, and the endpoint of those that were added with one. */
  get bytes(): ElementBytes {
    const keys = this.#keys.subarray(0, this.#count * this.#keyLength);
    if (this.#data.length === 0) return { count: this.#count, keys };
    return {
      count: this.#count,
      keys,
      data: this.#data.subarray(0, this.#count * SLOT_LENGTH[this.#family].data),
    };
  }

  /** Adds a slot. @param frontend the bytes of a key of the frontend, with the number of any slot */
  add(frontend: Uint8Array, slot: number): void {
    const length = this.#keyLength;
    const at = this.#count++ * length;
    if (at + length > this.#keys.length) this.#keys = enlarged(this.#keys, this.#keys.length * 2);
    const keys = this.#keys;
    for (let i = 0; i < length - 4; i++) keys[at + i] = frontend[i] as number;
    number[0] = slot;
    for (let i = 0; i < 4; i++) keys[at + length - 4 + i] = numberBytes[i] as number;
  }

  /** Adds a slot with an endpoint: all slots have one, or none has. */
  addEndpoint(frontend: Uint8Array, slot: number, endpoints: AddressPorts, place: number): void {
    const { address, data } = SLOT_LENGTH[this.#family];
    const at = this.#count * data;
    if (at + data > this.#data.length)
      this.#data = enlarged(this.#data, Math.max(FIRST * data, this.#data.length * 2));
    endpoints.writeAddress(place, this.#data, at);
    const port = endpoints.portAt(place);
    this.#data[at + address] = port >>> 8;
    this.#data[at + address + 1] = port & 0xff;
    this.add(frontend, slot);
  }
}

/** The number of a slot in the byte order of the machine. */
const number = new Uint32Array(1);
const numberBytes = new Uint8Array(number.buffer);

function enlarged(bytes: Uint8Array, length: number): Uint8Array {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}
