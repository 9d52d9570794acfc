// The registers of nftables, in which expressions leave values for each other (`struct nft_regs`).
import type { Register } from '../../../kernel/nftables/types.js';

/** Length of all registers, in bytes: 1–4 have 16 each, 8–23 are the same bytes in parts of 4. */
const LENGTH = 64;

/** The values of the registers in one rule. */
export class Registers {
  readonly #bytes: Uint8Array;

  constructor(bytes = new Uint8Array(LENGTH)) {
    this.#bytes = bytes;
  }

  /** A copy, which changes for itself. */
  copy(): Registers {
    return new Registers(this.#bytes.slice());
  }

  /** The first bytes of a register and those behind it. */
  read(register: Register, length: number): Uint8Array {
    const at = placeOf(register);
    return this.#bytes.slice(at, at + length);
  }

  /** Writes a value; as in the kernel, zeros fill the last 4 bytes. */
  write(register: Register, value: Uint8Array): void {
    const at = placeOf(register);
    this.#bytes.fill(0, at, at + Math.ceil(value.length / 4) * 4);
    this.#bytes.set(value.subarray(0, LENGTH - at), at);
  }
}

function placeOf(register: Register): number {
  return register >= 8 ? (register - 8) * 4 : (register - 1) * 16;
}

/** A number of 32 bits in the machine's byte order. */
export function hostOrder(value: number): Uint8Array {
  return new Uint8Array(new Uint32Array([value]).buffer);
}

/** A number of 16 bits in network byte order. */
export function networkOrder(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}
