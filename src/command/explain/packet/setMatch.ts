// Whether a set contains a packet. Source: ipset(8), the descriptions of the types.

import type { SetEntry, SetState } from '../../../kernel/ipset/types.js';
import { formatEntry } from '../../../kernel/ipset/values/entry.js';
import { familyOf } from '../../../kernel/net/address.js';
import { isInNetwork } from '../../../kernel/net/network.js';
import type { Packet, Tested } from './packet.js';

/** The result of a test of a set, with the entry that contains the packet. */
interface SetTest {
  readonly matches: Tested;
  /** In ipset's notation. */
  readonly entry?: string;
}

type Direction = 'src' | 'dst';

/** Types of parts that can be tested. */
const PARTS: ReadonlySet<string> = new Set(['ip', 'net', 'port']);

/**
 * Tests a packet.
 *
 * @param set undefined: a set that does not exist, which a rule cannot name
 * @param directions of the parts of the type: `dst,dst,src`
 */
export function testSet(set: SetState | undefined, directions: string, packet: Packet): SetTest {
  const [method, parts = ''] = set?.set.type.split(':') ?? [];
  const kinds = parts.split(',');
  const sides = directions.split(',');
  const isKnown = kinds.every((kind) => PARTS.has(kind)) && sides.length >= kinds.length;
  if (!set || !isKnown || method === 'list' || storesPartly(set)) return { matches: undefined };
  const { family } = set.set;
  if (family !== undefined && family !== packet.family) return { matches: false };
  const [found] = set.entries
    .filter((entry) => contains(entry, kinds, sides as Direction[], packet))
    .sort((a, b) => lengthOf(b) - lengthOf(a));
  if (!found) return { matches: false };
  return { matches: found.noMatch !== true, entry: formatEntry(found) };
}

/** Whether entries are only parts of addresses: the kernel removes the other bits of a packet's address. */
function storesPartly({ set: { netmask, bitmask } }: SetState): boolean {
  return netmask !== undefined || bitmask !== undefined;
}

function contains(
  entry: SetEntry,
  kinds: readonly string[],
  sides: readonly Direction[],
  packet: Packet,
): boolean {
  const { address, prefix, address2, prefix2 } = entry;
  return kinds.every((kind, i) => {
    const side = sides[i] as Direction;
    if (kind === 'port') return isPort(entry, side === 'src' ? packet.sourcePort : packet.port, packet);
    const tested = side === 'src' ? packet.source : packet.destination;
    return i === 0 ? isIn(address, prefix, tested) : isIn(address2, prefix2, tested);
  });
}

function isPort({ protocol, port }: SetEntry, tested: number, packet: Packet): boolean {
  return (protocol === undefined || protocol === packet.protocol) && tested === port;
}

function isIn(address: string | undefined, prefix: number | undefined, tested: string): boolean {
  if (address === undefined || prefix === undefined) return address === tested;
  return isInNetwork(`${address}/${prefix}`, tested);
}

/** The total length of the prefixes of an entry: the longest one decides. */
function lengthOf({ address, prefix, address2, prefix2 }: SetEntry): number {
  const full = familyOf(address ?? address2 ?? '') === 4 ? 32 : 128;
  return (prefix ?? full) + (prefix2 ?? full);
}
