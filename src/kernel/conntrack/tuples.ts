// Rules of tuples, and their inverse.
import { type Family, readAddressAsIs } from '../net/address.js';
import type { Checker } from '../shared/checker.js';
import { PROTOCOL } from './numbers.js';
import type { FlowTuple, IcmpKind } from './types.js';

export const LARGEST_U8 = 0xff;
export const LARGEST_U16 = 0xffff;
export const LARGEST_U32 = 0xffff_ffff;

/** Bits of an address, by its family. */
export const WIDTHS = { 4: 32, 6: 128 } as const;

const { icmp: ICMP, icmpv6: ICMPV6 } = PROTOCOL;
/** Protocols of which a tuple is not complete without both ports: TCP, UDP, SCTP, UDP-Lite. */
const WITH_PORTS: ReadonlySet<number> = new Set([6, 17, 132, 136]);
/** The fields of a tuple. */
export const TUPLE_FIELDS: ReadonlySet<string> = new Set([
  'source',
  'destination',
  'sourcePort',
  'destinationPort',
  'icmp',
]);
const ICMP_FIELDS: ReadonlySet<string> = new Set(['type', 'code', 'id']);

/** Whether a protocol has ports, by its number. */
export function hasPorts(protocol: number): boolean {
  return WITH_PORTS.has(protocol);
}

/** Whether it is the number of ICMP or ICMPv6. */
export function isIcmp(protocol: number): boolean {
  return protocol === ICMP || protocol === ICMPV6;
}

/** Whether a value is a kind of ICMP, of which unknown fields are noted; else the value is noted. */
export function isIcmpKind(path: string, icmp: unknown, check: Checker): icmp is Partial<IcmpKind> {
  return check.object(path, icmp, ICMP_FIELDS, 'a kind of ICMP');
}

/** A tuple that was checked. */
export class CheckedTuple {
  family: Family = 4;
  /** Addresses, of which one of IPv4 has the first 4 bytes. */
  readonly source = Buffer.alloc(16);
  readonly destination = Buffer.alloc(16);
  /** The identifier, of ICMP. */
  sourcePort = 0;
  /** The type × 256 + the code, of ICMP, as in the kernel's union. */
  destinationPort = 0;

  /** Takes a whole tuple of a protocol. `family` is that of its addresses, if it is known. */
  take(
    path: string,
    tuple: Partial<FlowTuple> | undefined,
    protocol: number,
    check: Checker,
    family?: Family,
  ): this {
    this.family = family ?? 4;
    if (!check.object(path, tuple, TUPLE_FIELDS, 'a tuple')) return this;
    const { source, destination } = tuple as Partial<FlowTuple>;
    this.family = takeAddress(`${path}.source`, source, this.source, check, family);
    takeAddress(`${path}.destination`, destination, this.destination, check, this.family);
    if (isIcmp(protocol)) this.#takeIcmp(path, tuple, check);
    else this.#takePorts(path, tuple, protocol, check);
    return this;
  }

  #takePorts(path: string, tuple: Partial<FlowTuple>, protocol: number, check: Checker): void {
    const { icmp } = tuple;
    if (icmp !== undefined) {
      check.fail(`${path}.icmp`, icmp, 'must be left out but for protocols 1 and 58', true);
    }
    const byDefault = hasPorts(protocol) ? undefined : 0;
    for (const field of ['sourcePort', 'destinationPort'] as const) {
      const { [field]: given = byDefault } = tuple;
      this[field] = check.integer(`${path}.${field}`, given, 0, LARGEST_U16);
    }
  }

  #takeIcmp(path: string, tuple: Partial<FlowTuple>, check: Checker): void {
    for (const field of ['sourcePort', 'destinationPort'] as const) {
      if (tuple[field] !== undefined && tuple[field] !== 0)
        check.fail(`${path}.${field}`, tuple[field], 'must be 0 or left out: ICMP has no ports');
    }
    const { icmp } = tuple;
    if (!isIcmpKind(`${path}.icmp`, icmp, check)) return;
    const type = check.integer(`${path}.icmp.type`, icmp.type, 0, LARGEST_U8);
    const code = check.integer(`${path}.icmp.code`, icmp.code, 0, LARGEST_U8);
    this.sourcePort = check.integer(`${path}.icmp.id`, icmp.id, 0, LARGEST_U16);
    this.destinationPort = (type << 8) | code;
  }
}

/** Takes an address, of this family if it is given, into 16 bytes. Returns its family. */
export function takeAddress(
  path: string,
  value: unknown,
  bytes: Uint8Array,
  check: Checker,
  family?: Family,
): Family {
  const own = typeof value === 'string' ? readAddressAsIs(value, bytes, 0) : undefined;
  if (own === undefined) {
    check.fail(path, value, 'must be an IPv4 or IPv6 address', typeof value !== 'string');
  } else if (family !== undefined && own !== family) {
    check.fail(path, value, `must be an IPv${family} address`);
  }
  return family ?? own ?? 4;
}

/** Types of ICMP and ICMPv6 whose answers have another type (`invmap` of nf_conntrack_proto_icmp.c and …_icmpv6.c). */
const ANSWERS: Readonly<Record<number, ReadonlyMap<number, number>>> = {
  [ICMP]: bothWays([8, 0], [13, 14], [15, 16], [17, 18]),
  [ICMPV6]: bothWays([128, 129], [139, 140]),
};

function bothWays(...pairs: readonly (readonly [number, number])[]): ReadonlyMap<number, number> {
  return new Map(
    pairs.flatMap(([one, other]) => [
      [one, other],
      [other, one],
    ]),
  );
}

/** The tuple of the answers to untranslated packets. Accepts invalid tuples. */
export function inverted(tuple: Partial<FlowTuple>, protocol: number): Partial<FlowTuple> {
  const { source, destination, sourcePort, destinationPort, icmp } = tuple ?? {};
  if (!icmp) {
    // Without a spread, which takes ten times as long.
    return {
      source: destination,
      destination: source,
      sourcePort: destinationPort,
      destinationPort: sourcePort,
    } as Partial<FlowTuple>;
  }
  const type = ANSWERS[protocol]?.get(icmp.type) ?? icmp.type;
  return { source: destination, destination: source, icmp: { ...icmp, type } } as Partial<FlowTuple>;
}
