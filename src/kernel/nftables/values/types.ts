// Keys and data of sets as JavaScript values. Source of every rule: include/uapi/linux/netfilter/nf_tables.h,
// net/netfilter/nf_tables_api.c, nft(8).

/** The types of objects that rules refer to by name. */
export type ObjectType =
  | 'counter'
  | 'quota'
  | 'ct helper'
  | 'limit'
  | 'ct timeout'
  | 'secmark'
  | 'ct expectation'
  | 'synproxy';

/** The end of a packet's path through a chain. */
export type Verdict =
  | { readonly verdict: 'accept' | 'drop' | 'continue' | 'break' | 'return' }
  /** `jump` comes back to the next rule, `goto` does not. */
  | { readonly verdict: 'jump' | 'goto'; readonly chain: string };

/**
 * A type of keys and data, by the name that nft has for it: what a value of an element is, and how nft prints it. The kernel knows
 * only its length.
 */
export type ValueType =
  | 'ipv4_addr'
  | 'ipv6_addr'
  | 'ether_addr'
  | 'ether_type'
  | 'inet_proto'
  | 'inet_service'
  | 'mark'
  | 'ifname'
  | 'iface_index'
  | 'devgroup'
  | 'realm'
  | 'uid'
  | 'gid'
  | 'nf_proto'
  | 'pkt_type'
  | 'tcp_flag'
  | 'ct_state'
  | 'ct_dir'
  | 'ct_status'
  | 'icmp_type'
  | 'icmp_code'
  | 'icmpv6_type'
  | 'icmpv6_code'
  | 'fib_addrtype'
  | 'boolean'
  | 'dscp'
  | 'ecn'
  | 'arp_op'
  | 'igmp_type'
  | 'dccp_pkttype'
  | 'mh_type'
  | 'iface_type'
  | 'ct_event'
  | 'day'
  /** In ms. */
  | 'time'
  /** Of traffic control: both halves of `1:2`. */
  | 'classid'
  /** 4 bytes in the machine's byte order. */
  | 'integer'
  /** A number in network order, by its bits: nft calls all of them `integer`. */
  | `integer${8 | 16 | 24 | 32 | 64 | 128}`;

/** A flag of a set (`NFT_SET_`). The flags `anonymous`, `map` and `object` follow from other fields. */
export type SetFlag = 'constant' | 'interval' | 'timeout' | 'dynamic' | number;

/** The type of keys or of data: one type, or two to five in a concatenation. */
export type ValueTypes = ValueType | readonly [ValueType, ValueType, ...ValueType[]];

/** What the elements of a set are. */
export interface SetShape {
  readonly key: ValueTypes;
  /** The data of a map. `verdict`: a verdict map. Absent: it is a set, and no map. */
  readonly data?: ValueTypes | 'verdict';
  /** Elements of the map have two data each, a first and a last one: `interval`. Of types whose bytes are a multiple of 4. */
  readonly dataIsInterval?: true;
  /** The type of the objects that the elements of the map name, in place of `data`. */
  readonly objects?: ObjectType;
  readonly flags?: readonly SetFlag[];
  /**
   * What nft knows an `integer` in the key by, one for each type of it: nft 1.0.6 ends when it lists a concatenation with an `integer`
   * without.
   */
  readonly keyExpressions?: readonly KeyExpression[];
  /** The same of the data. Default with `keyExpressions`: an address of the network header, a port of any transport header, and so on. */
  readonly dataExpressions?: readonly KeyExpression[];
}

/**
 * The expression from which a part of a key comes, as `typeof` names it: nft reads from it the length of an `integer`. In place of a
 * `numgen`, of any modulus, `numgen random mod 2` serves.
 */
export type KeyExpression =
  | 'ip saddr'
  | 'ip daddr'
  | 'ip protocol'
  | 'ip6 saddr'
  | 'ip6 daddr'
  | 'ip6 nexthdr'
  | 'th sport'
  | 'th dport'
  | 'tcp sport'
  | 'tcp dport'
  | 'udp sport'
  | 'udp dport'
  | 'sctp sport'
  | 'sctp dport'
  | 'meta l4proto'
  | 'meta nfproto'
  | 'meta mark'
  | 'meta iif'
  | 'meta oif'
  | 'meta iifname'
  | 'meta oifname'
  | `meta ${'length' | 'protocol' | 'priority' | 'iiftype' | 'skuid' | 'skgid' | 'pkttype' | 'cpu' | 'cgroup'}`
  | `ether ${'saddr' | 'daddr' | 'type'}`
  | `vlan ${'id' | 'pcp' | 'dei' | 'type'}`
  | `ip ${'version' | 'hdrlength' | 'dscp' | 'ecn' | 'length' | 'id' | 'frag-off' | 'ttl' | 'checksum'}`
  | `ip6 ${'version' | 'dscp' | 'ecn' | 'flowlabel' | 'length' | 'hoplimit'}`
  | `tcp ${'sequence' | 'ackseq' | 'flags' | 'window' | 'checksum' | 'urgptr'}`
  | `udp ${'length' | 'checksum'}`
  | `udplite ${'sport' | 'dport'}`
  | `dccp ${'sport' | 'dport' | 'type'}`
  | `sctp ${'vtag' | 'checksum'}`
  | `icmp ${'type' | 'code' | 'id' | 'sequence'}`
  | `icmpv6 ${'type' | 'code' | 'id' | 'sequence'}`
  | `ct ${'state' | 'direction' | 'status' | 'mark' | 'l3proto' | 'protocol'}`
  | `ct ${'original' | 'reply'} ${'ip saddr' | 'ip daddr' | 'ip6 saddr' | 'ip6 daddr' | 'proto-src' | 'proto-dst'}`
  /** Any bits of a header, by the first one and their number: `@th,16,16`. */
  | `@${'ll' | 'nh' | 'th' | 'ih'},${number},${number}`
  | `numgen ${'inc' | 'random'} mod ${number}`;

/**
 * A value of a type: addresses and names of links are texts, ports, marks and indexes of links numbers, all others the numbers or the
 * names that nft has for them (`tcp` or 6, `established` or 2). Listings have the name if there is one.
 */
export type Value = string | number;

/**
 * A key, or the data of a map: a value, the values of a concatenation, or the bytes as the kernel has them: each part padded to 4 bytes;
 * addresses and ports in network order, marks and integers in the machine's.
 */
export type ElementValue = Value | readonly Value[] | Uint8Array;

/**
 * Elements as bytes, for a program that writes many: none of them costs an object. Of sets without the flag `interval`, and of maps whose data is
 * no verdict.
 */
export interface ElementBytes {
  /** Number of elements. */
  readonly count: number;
  /** Their keys, one behind the other, each in the bytes of an {@link ElementValue}: `bytesOf` has those of one. */
  readonly keys: Uint8Array;
  /** Of a map: their data, likewise. */
  readonly data?: Uint8Array;
}

/** The names of elements as bytes. */
export type ElementKeyBytes = Omit<ElementBytes, 'data'>;
