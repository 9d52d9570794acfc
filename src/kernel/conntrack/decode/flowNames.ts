// The flows of a listing so far, so that each is listed once.
import type { FlowReader } from './flows.js';

/** Fewest bytes of the message of a flow: headers, and two tuples of IPv4 without ports. */
const LEAST_MESSAGE = 92;
/** `2^32 / φ`, which spreads bits (Knuth, The Art of Computer Programming, 6.4). */
const SPREAD = 0x9e37_79b1;
/** A bit that every hash has, so that none is 0. */
const PRESENT = 1;

/**
 * The names of flows: dumps of several filters overlap, and a dump may list a flow twice, when the flow at which one of its parts
 * ended is gone before the next part. Ids are hashes, which two of 100 000 flows may share, so that 31 bits of a hash of tuple and
 * zone are compared, too.
 */
export class FlowNames {
  /** Pairs of a hash, which is 0 for a free place, and an id. */
  readonly #pairs: Uint32Array;
  readonly #mask: number;

  /** Room for the flows in so many bytes of messages. */
  constructor(bytes: number) {
    const most = Math.ceil(bytes / LEAST_MESSAGE) + 1;
    const size = 2 ** Math.ceil(Math.log2(2 * most));
    this.#pairs = new Uint32Array(2 * size);
    this.#mask = 2 * size - 1;
  }

  /** Adds the flow that was read. False if it is there already. */
  add(flow: FlowReader): boolean {
    const { id } = flow;
    const hash = hashOf(flow);
    const pairs = this.#pairs;
    let at = (2 * (id ^ hash)) & this.#mask;
    for (let kept = pairs[at]; kept !== 0; kept = pairs[at]) {
      if (kept === hash && pairs[at + 1] === id) return false;
      at = (at + 2) & this.#mask;
    }
    pairs[at] = hash;
    pairs[at + 1] = id;
    return true;
  }
}

/** A hash of what names a flow beside its id. */
function hashOf({ view, family, zone, original }: FlowReader): number {
  let hash = Math.imul(family ^ (zone << 8) ^ (original.protocol << 24), SPREAD);
  hash = mixed(hash, (original.sourcePort << 16) | original.destinationPort);
  const words = family === 2 ? 1 : 4;
  for (let i = 0; i < words; i++) {
    hash = mixed(hash, view.getInt32(original.source + 4 * i));
    hash = mixed(hash, view.getInt32(original.destination + 4 * i));
  }
  return (hash | PRESENT) >>> 0;
}

function mixed(hash: number, word: number): number {
  return Math.imul(((hash << 13) | (hash >>> 19)) ^ word, SPREAD);
}
