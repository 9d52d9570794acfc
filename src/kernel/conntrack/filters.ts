// Filters: which flows are selected, and the dumps that find them.
import type { Family } from '../net/address.js';
import { PROTOCOL } from './numbers.js';
import { WIDTHS } from './tuples.js';
import type { MaskedMark } from './types.js';

/** The first bits of an address. */
export interface AddressFilter {
  /** 4 or 16 bytes. A list takes a third of the memory of a Uint8Array, and a call may have 100 000. */
  readonly bytes: readonly number[];
  /** How many bits are compared. */
  readonly prefix: number;
}

/** The fields of a tuple that are compared. */
export interface TuplePart {
  readonly source?: AddressFilter;
  readonly destination?: AddressFilter;
  /** Of ICMP: the identifier. */
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly icmpType?: number;
  readonly icmpCode?: number;
}

/** The fields of a flow that are compared. */
export interface Filter {
  /** 0 for both. */
  readonly family: Family | 0;
  /** `IPPROTO_…`, 0 for any. */
  readonly protocol: number;
  readonly original: TuplePart;
  readonly reply: TuplePart;
  readonly mark?: MaskedMark;
  /** The bits of the mask must have these values. */
  readonly status?: MaskedMark;
  readonly zone?: number;
  readonly replyZone?: number;
  /** 16 bytes: the labels that the flow must have. */
  readonly labels?: Uint8Array;
}

/** Selects every flow. */
export const EVERY_FLOW: Filter = { family: 0, protocol: 0, original: {}, reply: {} };

/**
 * Most dumps of a family. Each walks the kernel's table and copies the selected flows. At 262 144 buckets a walk costs 3 to 8 ms, a
 * copied flow 1.3 µs.
 */
export const MOST_WALKS = 4;

/**
 * The part of the filter that every ctnetlink applies correctly, or ignores; it selects the same flows or more. It has the family, the
 * protocol, the mark, the status (Linux 6.0), addresses and ports, but for these:
 * - IPv6 addresses: since CTA_FILTER came (5.8), ctnetlink_filter_match_tuple has taken the result of ipv6_addr_cmp for a truth value,
 *   and so has selected all flows but the wanted ones. Seen in 6.1 and 6.18.44, repaired in 6.12.117: the version does not show whether
 *   a kernel is repaired.
 * - networks: ctnetlink compares whole addresses.
 * - ports of protocols other than TCP and UDP: ctnetlink accepts and ignores them.
 */
export function kernelPart({ family, protocol, original, reply, mark, status }: Filter): Filter {
  const parts = {
    original: trustedPart(original, family, protocol),
    reply: trustedPart(reply, family, protocol),
  };
  // The kernel refuses an empty mask of the status.
  const hasStatus = status !== undefined && status.mask !== 0;
  return { family, protocol, ...parts, ...(mark && { mark }), ...(hasStatus && { status }) };
}

function trustedPart(part: TuplePart, family: Family | 0, protocol: number): TuplePart {
  const { source, destination, sourcePort, destinationPort } = part;
  const hasPorts = protocol === PROTOCOL.tcp || protocol === PROTOCOL.udp;
  const isTrusted = (address: AddressFilter | undefined): address is AddressFilter =>
    family === 4 && address?.prefix === WIDTHS[4];
  return {
    ...(isTrusted(source) && { source }),
    ...(isTrusted(destination) && { destination }),
    ...(hasPorts && sourcePort !== undefined && { sourcePort }),
    ...(hasPorts && destinationPort !== undefined && { destinationPort }),
  };
}

/**
 * The dumps that together have every flow that any of the filters selects: one for each kernel part, or, when a family has more than
 * {@link MOST_WALKS}, one by the fields that all filters of the family share.
 */
export class DumpPlan {
  readonly #families = { 0: new FamilyPlan(), 4: new FamilyPlan(), 6: new FamilyPlan() };

  /** Adds a filter. */
  add(filter: Filter): void {
    this.#families[filter.family].add(filter);
  }

  /** A filter for each dump. */
  dumps(): Filter[] {
    // Of both families together, the kernel could filter nothing.
    return ([0, 4, 6] as const).flatMap((family) => this.#families[family].dumps());
  }
}

class FamilyPlan {
  /** One more than the most walks, if there are too many. */
  readonly #parts: Filter[] = [];
  #common: Filter | undefined;

  add(filter: Filter): void {
    if (this.#parts.length > MOST_WALKS && this.#common && covers(this.#common, filter)) return;
    const part = kernelPart(filter);
    this.#common = this.#common ? widened(this.#common, part) : part;
    const isNew = this.#parts.length <= MOST_WALKS && !this.#parts.some((other) => isEqual(other, part));
    if (isNew) this.#parts.push(part);
  }

  dumps(): readonly Filter[] {
    return this.#common && this.#parts.length > MOST_WALKS ? [this.#common] : this.#parts;
  }
}

/** Whether a filter has all fields of the common one, which it then leaves as it is. */
function covers({ protocol, original, reply, mark, status }: Filter, filter: Filter): boolean {
  return (
    (protocol === 0 || protocol === filter.protocol) &&
    hasFields(original, filter.original) &&
    hasFields(reply, filter.reply) &&
    (mark === undefined || isSameMark(mark, filter.mark)) &&
    (status === undefined || isSameMark(status, filter.status))
  );
}

function hasFields(wanted: TuplePart, part: TuplePart): boolean {
  for (const field in wanted)
    if (!isSameValue(wanted[field as keyof TuplePart], part[field as keyof TuplePart])) return false;
  return true;
}

/** The fields in which two kernel parts of a family are equal. Ports have no meaning to the kernel without their protocol. */
function widened(one: Filter, other: Filter): Filter {
  const protocol = one.protocol === other.protocol ? one.protocol : 0;
  const { family, mark, status } = one;
  return {
    family,
    protocol,
    original: trustedPart(commonPart(one.original, other.original), family, protocol),
    reply: trustedPart(commonPart(one.reply, other.reply), family, protocol),
    ...(mark && isSameMark(mark, other.mark) && { mark }),
    ...(status && isSameMark(status, other.status) && { status }),
  };
}

function commonPart(one: TuplePart, other: TuplePart): TuplePart {
  const fields = Object.entries(one) as [keyof TuplePart, AddressFilter | number][];
  return Object.fromEntries(fields.filter(([field, value]) => isSameValue(value, other[field])));
}

function isEqual(one: Filter, other: Filter): boolean {
  return (
    one.family === other.family &&
    one.protocol === other.protocol &&
    isEqualPart(one.original, other.original) &&
    isEqualPart(one.reply, other.reply) &&
    isSameMark(one.mark, other.mark) &&
    isSameMark(one.status, other.status)
  );
}

function isEqualPart(one: TuplePart, other: TuplePart): boolean {
  return Object.keys(one).length === Object.keys(other).length && hasFields(one, other);
}

function isSameValue(one: AddressFilter | number | undefined, other: AddressFilter | number | undefined) {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  return one.prefix === other.prefix && one.bytes.every((byte, i) => byte === other.bytes[i]);
}

function isSameMark(one: MaskedMark | undefined, other: MaskedMark | undefined): boolean {
  return one?.value === other?.value && one?.mask === other?.mask;
}
