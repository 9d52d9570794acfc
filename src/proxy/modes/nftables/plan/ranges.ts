// Matches for addresses in one of several networks. nft chooses the form by the networks as they are written, before it merges them.

import { type Family, formatAddress } from '../../../../kernel/net/address.js';
import { type Network, parseNetwork } from '../../../../kernel/net/network.js';
import type { NewElement } from '../../../../kernel/nftables/types.js';
import { addressInNetwork, loadAddress, type Part } from '../../nftablesRules/plan/expressions.js';
import { ADDRESS_TYPE } from '../../nftablesRules/plan/families.js';
import { ownSetName } from '../../nftablesRules/plan/setNames.js';

/** An address of either family as a number. */
type AddressNumber = bigint;

/** The addresses from `first` to `last`, inclusive. */
interface Range {
  readonly first: AddressNumber;
  readonly last: AddressNumber;
}

/**
 * The address is in one of the networks or, with `not`, outside of all. One network is compared; several are a set of the rule: of
 * intervals, unless each is a single address.
 *
 * @param networks at least one; canonical, of the family, with a length above 0
 * @param chain that has the rule
 */
export function addressInAny(
  family: Family,
  field: 'saddr' | 'daddr',
  networks: readonly string[],
  chain: string,
  not = false,
): Part {
  const parsed = networks.flatMap((text) => parseNetwork(text) ?? []);
  const [only] = parsed;
  if (only && parsed.length === 1) return addressInNetwork(family, field, only, not);
  const bits = family === 4 ? 32 : 128;
  const single = parsed.every(({ prefix }) => prefix === bits);
  const ranges = single ? distinct(parsed.map(rangeOf)) : merged(parsed.map(rangeOf));
  const elements = ranges.map(({ first, last }): NewElement => {
    const key = textOf(first, family);
    return single ? { key } : { key, keyEnd: textOf(last, family) };
  });
  return [
    loadAddress(family, field),
    {
      kind: 'lookup',
      set: {
        key: ADDRESS_TYPE[family],
        ...(!single && { flags: ['interval'] }),
        elements,
        name: ownSetName(chain, elements.map(({ key, keyEnd }) => `${key}-${keyEnd ?? key}`).join(' ')),
      },
      source: 1,
      ...(not && { invert: true }),
    },
  ];
}

function rangeOf({ bytes, prefix }: Network): Range {
  const first = numberOf(bytes);
  return { first, last: first + (1n << BigInt(bytes.length * 8 - prefix)) - 1n };
}

function byFirst(a: Range, b: Range): number {
  if (a.first === b.first) return 0;
  return a.first < b.first ? -1 : 1;
}

/** The ranges in order, each once. */
function distinct(ranges: readonly Range[]): Range[] {
  return ranges.toSorted(byFirst).filter(({ first }, i, all) => first !== all[i - 1]?.first);
}

/** The ranges in order; those that overlap or follow each other are one. The kernel refuses overlaps, and keeps neighbours apart. */
function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of ranges.toSorted(byFirst)) {
    const before = result.at(-1);
    if (!before || range.first > before.last + 1n) result.push(range);
    else if (range.last > before.last) result[result.length - 1] = { first: before.first, last: range.last };
  }
  return result;
}

function numberOf(bytes: Uint8Array): AddressNumber {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function textOf(address: AddressNumber, family: Family): string {
  const digits = family === 4 ? 8 : 32;
  return formatAddress(Buffer.from(address.toString(16).padStart(digits, '0'), 'hex'));
}
