// The expressions of rules: what the kernel's virtual machine does with a packet, one after another, with registers. Source of every
// rule: include/uapi/linux/netfilter/nf_tables.h; the names are those of the kernel's modules (`nft_payload`).
import type { ElementValue, ObjectType, SetShape, Verdict } from '../values/types.js';

export type { Verdict } from '../values/types.js';

/**
 * A register (`enum nft_registers`): 1–4 have 16 bytes, 8–23 have 4 bytes each; 8–11 are the parts of register 1, and so on. A value
 * that is longer goes on in the next register.
 */
export type Register = number;

/** `NFT_CMP_` */
export type Comparison = 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte';

/** A value of `meta` (`NFT_META_`), a number if it has no name here. */
export type MetaKey =
  | 'len'
  | 'protocol'
  | 'priority'
  | 'mark'
  | 'iif'
  | 'oif'
  | 'iifname'
  | 'oifname'
  | 'iiftype'
  | 'oiftype'
  | 'skuid'
  | 'skgid'
  | 'nftrace'
  | 'rtclassid'
  | 'nfproto'
  | 'l4proto'
  | 'pkttype'
  | 'cpu'
  | 'iifgroup'
  | 'oifgroup'
  | 'cgroup'
  | 'random'
  | 'secpath'
  | 'iifkind'
  | 'oifkind'
  | 'time_day'
  | 'sdif'
  | 'sdifname'
  | number;

/** A value of `ct` (`NFT_CT_`), a number if it has no name here. */
export type CtKey =
  | 'state'
  | 'direction'
  | 'status'
  | 'mark'
  | 'expiration'
  | 'helper'
  | 'l3proto'
  | 'src'
  | 'dst'
  | 'protocol'
  | 'proto-src'
  | 'proto-dst'
  | 'labels'
  | 'pkts'
  | 'bytes'
  | 'avgpkt'
  | 'zone'
  | 'eventmask'
  | 'src_ip'
  | 'dst_ip'
  | 'src_ip6'
  | 'dst_ip6'
  | 'id'
  | number;

/** A set of a rule of its own: it is written with the rule, has no other user, and is deleted with the rule. */
export interface AnonymousSet extends SetShape {
  readonly elements: readonly NewElement[];
  /**
   * A name that no other set of the table has, at most 15 bytes; EEXIST if one has it. Default: the kernel looks for a free one (`__set%d`), which takes
   * longer the more sets the table has.
   */
  readonly name?: string;
}

/** An expression of a rule. */
export type Expression =
  /** Loads bytes of the packet. */
  | {
      readonly kind: 'payload';
      readonly base: 'link' | 'network' | 'transport' | 'inner';
      /** In bytes. */
      readonly offset: number;
      /** In bytes. */
      readonly length: number;
      readonly register: Register;
    }
  /** Writes bytes of the packet. */
  | {
      readonly kind: 'payloadSet';
      readonly base: 'link' | 'network' | 'transport' | 'inner';
      readonly offset: number;
      readonly length: number;
      readonly source: Register;
      /** Checksum that is corrected; default none. */
      readonly checksum?: {
        readonly type: 'none' | 'inet' | 'sctp';
        /** Of the checksum in the header, in bytes. Default 0. */
        readonly offset?: number;
        /** Whether the checksum of the transport header, which covers addresses, is corrected too. Default false. */
        readonly pseudoHeader?: boolean;
      };
    }
  | { readonly kind: 'meta'; readonly key: MetaKey; readonly register: Register }
  | { readonly kind: 'metaSet'; readonly key: MetaKey; readonly source: Register }
  | {
      readonly kind: 'ct';
      readonly key: CtKey;
      /** Of the keys that have one. */
      readonly direction?: 'original' | 'reply';
      readonly register: Register;
    }
  | {
      readonly kind: 'ctSet';
      readonly key: CtKey;
      readonly direction?: 'original' | 'reply';
      readonly source: Register;
    }
  /** The rule goes on if the register compares so. */
  | {
      readonly kind: 'cmp';
      readonly operator: Comparison;
      readonly source: Register;
      readonly data: Uint8Array;
    }
  /** The rule goes on if the register is within the bounds, or with `neq` if it is not. */
  | {
      readonly kind: 'range';
      readonly operator: 'eq' | 'neq';
      readonly source: Register;
      readonly from: Uint8Array;
      readonly to: Uint8Array;
    }
  /** Bits: (source & mask) ^ xor. */
  | {
      readonly kind: 'bitwise';
      readonly source: Register;
      readonly register: Register;
      readonly mask: Uint8Array;
      readonly xor: Uint8Array;
    }
  /** Shifts bits. Linux 5.6. */
  | {
      readonly kind: 'shift';
      readonly source: Register;
      readonly register: Register;
      /** Length of the value, in bytes. */
      readonly length: number;
      readonly direction: 'left' | 'right';
      readonly bits: number;
    }
  | {
      readonly kind: 'byteorder';
      readonly source: Register;
      readonly register: Register;
      readonly to: 'network' | 'host';
      /** Length of the value, in bytes. */
      readonly length: number;
      /** Length of each number in it, in bytes. */
      readonly size: 2 | 4 | 8;
    }
  /** Looks the register up in a set; of a map, its data go to `register`: 0 is the verdict. */
  | {
      readonly kind: 'lookup';
      /** Name of a set of the table, or a set of this rule. */
      readonly set: string | AnonymousSet;
      readonly source: Register;
      readonly register?: Register;
      /** The rule goes on if the set does not have it. */
      readonly invert?: boolean;
    }
  | { readonly kind: 'immediate'; readonly register: Register; readonly data: Uint8Array }
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  /** Adds or updates an element of a set with flag `dynamic`. */
  | {
      readonly kind: 'dynset';
      readonly operation: 'add' | 'update' | 'delete';
      readonly set: string;
      readonly source: Register;
      /** Data of a map. */
      readonly dataSource?: Register;
      /** In ms; default: that of the set. */
      readonly timeout?: bigint;
      readonly invert?: boolean;
      readonly expressions?: readonly Expression[];
    }
  | {
      readonly kind: 'nat';
      readonly type: 'snat' | 'dnat';
      readonly family: 'ip' | 'ip6';
      readonly address?: Register;
      /** The last address of a range. */
      readonly addressEnd?: Register;
      readonly port?: Register;
      /** The last port of a range. */
      readonly portEnd?: Register;
      readonly flags?: readonly NatFlag[];
    }
  | {
      readonly kind: 'masq';
      readonly port?: Register;
      readonly portEnd?: Register;
      readonly flags?: readonly NatFlag[];
    }
  | {
      readonly kind: 'redir';
      readonly port?: Register;
      readonly portEnd?: Register;
      readonly flags?: readonly NatFlag[];
    }
  | {
      readonly kind: 'reject';
      readonly type: 'icmp' | 'tcp reset' | 'icmpx';
      /** Code of the ICMP message, of `icmpx` an `NFT_REJECT_ICMPX_`; no meaning with `tcp reset`. Default 0. */
      readonly code?: number;
    }
  | {
      readonly kind: 'numgen';
      readonly type: 'inc' | 'random';
      readonly modulus: number;
      /** Default 0. */
      readonly offset?: number;
      readonly register: Register;
    }
  | {
      readonly kind: 'hash';
      readonly type: 'jhash' | 'symhash';
      readonly modulus: number;
      readonly offset?: number;
      readonly register: Register;
      /** Of `jhash`. */
      readonly source?: Register;
      /** Of `jhash`, in bytes. */
      readonly length?: number;
      /** Of `jhash`. Default: chosen by the kernel. */
      readonly seed?: number;
    }
  | {
      readonly kind: 'fib';
      readonly result: 'oif' | 'oifname' | 'type';
      readonly flags: readonly ('saddr' | 'daddr' | 'mark' | 'iif' | 'oif')[];
      /** The result is whether there is one. */
      readonly present?: boolean;
      readonly register: Register;
    }
  | { readonly kind: 'counter'; readonly packets?: bigint; readonly bytes?: bigint }
  | {
      readonly kind: 'limit';
      /** Packets or bytes in `unit`. */
      readonly rate: bigint;
      /** In s. */
      readonly unit: bigint;
      readonly burst?: number;
      readonly of?: 'packets' | 'bytes';
      readonly over?: boolean;
    }
  | { readonly kind: 'quota'; readonly bytes: bigint; readonly over?: boolean; readonly used?: bigint }
  | {
      readonly kind: 'log';
      readonly prefix?: string;
      /** Of nfnetlink_log. */
      readonly group?: number;
      /** Length of a packet that is copied, in bytes. */
      readonly snaplen?: number;
      readonly queueThreshold?: number;
      /** `LOG_` of syslog. */
      readonly level?: number;
      /** `NF_LOG_` */
      readonly flags?: number;
    }
  | { readonly kind: 'objref'; readonly type: ObjectType; readonly name: string }
  /** Of the object that a map with `objects` has for the register. */
  | { readonly kind: 'objrefMap'; readonly set: string | AnonymousSet; readonly source: Register }
  /** Of TCP handshakes, which a proxy takes. */
  | ({ readonly kind: 'synproxy' } & Synproxy)
  /** Later packets of the connection take the way of the flow table. */
  | { readonly kind: 'flowOffload'; readonly table: string }
  | { readonly kind: 'notrack' }
  | {
      readonly kind: 'exthdr';
      /** Number of the header or of the option. */
      readonly type: number;
      readonly offset: number;
      readonly length: number;
      readonly operation?: 'ipv6' | 'tcpopt' | 'ipv4' | 'sctp';
      /** The result is whether it is there. */
      readonly present?: boolean;
      readonly register: Register;
    }
  /** Writes a field of an option of TCP. */
  | {
      readonly kind: 'exthdrSet';
      readonly type: number;
      readonly offset: number;
      readonly length: number;
      readonly operation?: 'ipv6' | 'tcpopt' | 'ipv4' | 'sctp';
      readonly source: Register;
    }
  | {
      readonly kind: 'rt';
      readonly key: 'classid' | 'nexthop4' | 'nexthop6' | 'tcpmss' | 'xfrm';
      readonly register: Register;
    }
  | {
      readonly kind: 'socket';
      readonly key: 'transparent' | 'mark' | 'wildcard' | 'cgroupv2';
      /** Of `cgroupv2`. */
      readonly level?: number;
      readonly register: Register;
    }
  | {
      readonly kind: 'queue';
      readonly first: number;
      readonly total?: number;
      readonly flags?: readonly ('bypass' | 'fanout')[];
    }
  | {
      readonly kind: 'tproxy';
      readonly family: 'ip' | 'ip6' | 'inet';
      readonly address?: Register;
      readonly port?: Register;
    }
  | { readonly kind: 'dup'; readonly address?: Register; readonly device?: Register }
  | { readonly kind: 'fwd'; readonly device: Register }
  | { readonly kind: 'connlimit'; readonly count: number; readonly over?: boolean }
  /** One that this library does not know, or that has attributes that it does not know. It cannot be written. */
  | { readonly kind: 'unknown'; readonly name: string; readonly data: Uint8Array };

/** `NF_NAT_RANGE_` */
export type NatFlag = 'random' | 'fully-random' | 'persistent' | 'netmap';

/** What a proxy of TCP handshakes tells clients. */
export interface Synproxy {
  /** Maximum segment size, in bytes. */
  readonly mss?: number;
  readonly windowScale?: number;
  /** Options that servers have. */
  readonly flags?: readonly ('timestamp' | 'sack-perm')[];
}

/** An element that is written. */
export interface NewElement {
  /** An empty Uint8Array stands for all keys that the set has not: `*` in the notation of nft. */
  readonly key: ElementValue;
  /** The last key of an interval that begins with `key`, inclusive. Of sets with `interval`. Default: `key`. */
  readonly keyEnd?: ElementValue;
  /** Of a map; a {@link Verdict} of a verdict map. */
  readonly data?: ElementValue | Verdict;
  /** The last of the data of a map with `dataIsInterval`. Default: `data`. */
  readonly dataEnd?: ElementValue;
  /** Name of the object that the element of a map with `objects` stands for. */
  readonly object?: string;
  /** Lifetime of a set with `timeout`, in ms. Default: that of the set. */
  readonly timeout?: bigint;
  /** The rest of its lifetime, in ms. Default: `timeout`. */
  readonly expires?: bigint;
  /** At most 255 bytes with its header; nft writes at most 128. */
  readonly comment?: string;
  /** Counters, limits, quotas of the element. Default: those of the set. */
  readonly expressions?: readonly Expression[];
}

/** The name of an element. */
export type ElementName = Pick<NewElement, 'key' | 'keyEnd'>;
