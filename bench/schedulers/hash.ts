// The hash function and the table of the scheduler mh, as net/netfilter/ipvs/ip_vs_mh.c has them on 64-bit kernels. Pure.

/** Places of the table: the kernel's size with its default setting, CONFIG_IP_VS_MH_TAB_INDEX=12. */
export const PLACES = 4093;

/** Bits of a weight that count, before it is shifted: half of the setting. */
const WEIGHT_BITS = 6;

/** The keys of generate_hash_secret(); each is both words of a key. */
const FIRST_KEY = 2654435761n;
const SECOND_KEY = 2654446892n;

const WORD = 64n;

/** An address and a port that the kernel hashes: of a client, or of a real server. */
export interface Hashed {
  /** An IPv4 address as a number. */
  readonly address: number;
  /** 0 if the port is not hashed. */
  readonly port: number;
}

/** A real server of the table. */
export interface Weighted extends Hashed {
  /** A whole number above 0. */
  readonly weight: number;
}

/** The place of a client's connection in the table. The scheduler asks for the same numbers again, which are therefore kept. */
export function placeOf({ address, port }: Hashed): number {
  const value = (address + port) >>> 0;
  let place = PLACE_OF.get(value);
  if (place === undefined) {
    place = hsiphash(value, FIRST_KEY) % PLACES;
    PLACE_OF.set(value, place);
  }
  return place;
}

const PLACE_OF = new Map<number, number>();

/**
 * For each place of the table, the index of the real server that has it: ip_vs_mh_populate().
 *
 * @param servers one at least, in the order of the kernel's list
 */
export function maglevTable(servers: readonly Weighted[]): Int32Array {
  const table = new Int32Array(PLACES).fill(-1);
  const turns = turnsOf(servers.map(({ weight }) => weight));
  const walks = servers.map(({ address, port }) => walkOf((address + port) >>> 0));
  for (let taken = 0; taken < PLACES; ) {
    for (const [index, walk] of walks.entries()) {
      for (let turn = 0; turn < (turns[index] as number) && taken < PLACES; turn++) {
        while (table[walk.place] !== -1) walk.place = (walk.place + walk.skip) % PLACES;
        table[walk.place] = index;
        taken++;
      }
    }
  }
  return table;
}

/** The first place that a real server prefers, and the distance to the next one. */
function walkOf(value: number): { place: number; readonly skip: number } {
  return {
    place: hsiphash(value, FIRST_KEY) % PLACES,
    skip: (hsiphash(value, SECOND_KEY) % (PLACES - 1)) + 1,
  };
}

/** The places that each real server takes in a round: its weight, without what the weights have in common. */
function turnsOf(weights: readonly number[]): number[] {
  const common = weights.reduce(greatestCommonDivisor, 0);
  const highest = Math.max(...weights) / common;
  const shift = Math.max(0, 32 - Math.clz32(highest) - WEIGHT_BITS);
  return weights.map((weight) => (weight / common) >> shift || 1);
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

/** hsiphash_1u32() of a 64-bit kernel: SipHash-1-3 of four bytes, with both halves of the result combined. */
export function hsiphash(value: number, key: bigint): number {
  const state: State = [
    0x736f6d6570736575n ^ key,
    0x646f72616e646f6dn ^ key,
    0x6c7967656e657261n ^ key,
    0x7465646279746573n ^ key,
  ];
  const block = (4n << 56n) | BigInt(value);
  state[3] ^= block;
  mix(state);
  state[0] ^= block;
  state[2] ^= 0xffn;
  for (let round = 0; round < 3; round++) mix(state);
  // The kernel's function returns 32 of the 64 bits.
  return Number(BigInt.asUintN(32, state[0] ^ state[1] ^ state[2] ^ state[3]));
}

type State = [bigint, bigint, bigint, bigint];

/** One round of SipHash. */
function mix(state: State): void {
  let [a, b, c, d] = state;
  a = word(a + b);
  b = rotated(b, 13n) ^ a;
  a = rotated(a, 32n);
  c = word(c + d);
  d = rotated(d, 16n) ^ c;
  a = word(a + d);
  d = rotated(d, 21n) ^ a;
  c = word(c + b);
  b = rotated(b, 17n) ^ c;
  c = rotated(c, 32n);
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
}

const word = (value: bigint) => BigInt.asUintN(64, value);
const rotated = (value: bigint, bits: bigint) => word(value << bits) | (value >> (WORD - bits));
