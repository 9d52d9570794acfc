// The types of sets: the parameters that each has and needs, and the fields of its entries. The same rules at run time are in
// shapes.ts. Source: ipset(8), include/uapi/linux/netfilter/ipset/ip_set.h.
import type { Family } from '../../net/address.js';
import type { IpProtocol } from '../../net/protocol.js';
import type { ListedAttribute } from '../../shared/types.js';

/** The set types of the kernel. A listing has another name for a type of a newer kernel. */
export type SetType =
  | 'bitmap:ip'
  | 'bitmap:ip,mac'
  | 'bitmap:port'
  | 'hash:ip'
  | 'hash:mac'
  | 'hash:ip,mac'
  | 'hash:net'
  | 'hash:net,net'
  | 'hash:ip,port'
  | 'hash:net,port'
  | 'hash:ip,port,ip'
  | 'hash:ip,port,net'
  | 'hash:ip,mark'
  | 'hash:net,port,net'
  | 'hash:net,iface'
  | 'list:set';

/** The parameters of all set types; those that one type has, and needs, are in {@link SetDefinition}. */
export interface SetParameters {
  /** Address family of a hash; left out for hash:mac, bitmap:port and list:set; at most 4 for bitmap:ip and bitmap:ip,mac. */
  readonly family?: Family | undefined;
  /** Hash only: initial buckets, default 1024, rounded up by the kernel to a power of two. At least the expected entries: growing is slow. */
  readonly hashSize?: number | undefined;
  /** Hash only: most entries, default 65536. */
  readonly maxElements?: number | undefined;
  /** Hash only: most entries in a bucket, 1–255; the kernel uses an even number from 2 to its limit, its default (12 or 14). Linux 5.11, libipset 7.10. */
  readonly bucketSize?: number | undefined;
  /** Hash only: initial value of the hash function, default random. Linux 5.11, libipset 7.10. */
  readonly initval?: number | undefined;
  /** hash:ip, hash:ip,port, hash:net,net and bitmap:ip: addresses are stored without the bits behind this prefix length. */
  readonly netmask?: number | undefined;
  /** hash:ip, hash:ip,port and hash:net,net: addresses are stored with these bits only; not with `netmask`. Linux 6.3, libipset 7.16. */
  readonly bitmask?: string | undefined;
  /** hash:ip,mark: marks are stored with these bits only; default all, not 0. */
  readonly markMask?: number | undefined;
  /** list:set: number of its members, default 8. Newer kernels keep it and have no limit. */
  readonly size?: number | undefined;
  /**
   * bitmap:port: first and last port, default 0–65535. bitmap:ip and bitmap:ip,mac: first and last IPv4 address, at most 65536
   * (with `netmask`: networks).
   */
  readonly range?: readonly [from: number, to: number] | readonly [from: string, to: string] | undefined;
  /** Entries have a timeout; this one, in s, if they are added without. 0: they stay. At most 2147483. */
  readonly timeout?: number | undefined;
  /** Entries count packets and bytes. */
  readonly counters?: boolean | undefined;
  /** Entries have comments. */
  readonly comment?: boolean | undefined;
  /** Entries have a packet mark, a tc class and a hardware queue, for the target SET (`--map-set`). */
  readonly skbInfo?: boolean | undefined;
  /** Hash only: an entry added to the full set replaces another one. */
  readonly forceAdd?: boolean | undefined;
}

/** Type and code of an ICMP message, 0–255. */
export interface IcmpType {
  readonly type: number;
  readonly code: number;
}

/**
 * The fields of all entries; those of one type are in {@link EntryOf}. Which fields an entry has follows from the set's type. A listing leaves nothing out: `attributes` has what has no field.
 *
 * Fields whose names begin with `last` make a range: the operation adds or deletes every entry of it. The kernel exchanges
 * the ends of a range if the last one is less. It accepts ranges of addresses for IPv4 only.
 */
export interface SetEntry {
  /** Canonical address; types with `ip` or `net` in the first place. */
  readonly address?: string | undefined;
  /**
   * Prefix length of `address`. Types with `net` in the first place: of the network, where it is not the full length; 0 only in
   * hash:net,iface and hash:net,port,net. Types with `ip` in the first place (IPv4): a range, every address of the network.
   */
  readonly prefix?: number | undefined;
  /** Last address of a range that begins with `address`; not with `prefix`. Networks are made of it where the type has them. */
  readonly lastAddress?: string | undefined;
  /** Types with `port`, but for bitmap:port. */
  readonly protocol?: IpProtocol | undefined;
  /** 0–65535; of tcp, udp, sctp and UDP-Lite (136), and of bitmap:port. */
  readonly port?: number | undefined;
  /** Last port of a range that begins with `port`. */
  readonly lastPort?: number | undefined;
  /** Instead of a port: of ICMP (1) in sets of IPv4, of ICMPv6 (58) in sets of IPv6. Other protocols have neither. */
  readonly icmp?: IcmpType | undefined;
  /** Types with `ip` or `net` in another place: canonical address, or base address of the network. */
  readonly address2?: string | undefined;
  /** Prefix length of `address2` in types with `net` in the last place; left out for the full length; 0 only in hash:net,port,net. */
  readonly prefix2?: number | undefined;
  /** Last address of a range that begins with `address2`; not with `prefix2`. */
  readonly lastAddress2?: string | undefined;
  /** `01:23:45:67:89:ab`, in hash:mac and its kin; may be left out in bitmap:ip,mac, and the kernel fills it in with that of the first packet. */
  readonly mac?: string | undefined;
  /** Packet mark of hash:ip,mark, 32 bits. */
  readonly mark?: number | undefined;
  /** Network interface of hash:net,iface, at most 15 bytes. It need not exist. */
  readonly interface?: string | undefined;
  /** `interface` is a port of a bridge. */
  readonly physdev?: boolean | undefined;
  /** `interface` is the beginning of a name. Linux 5.5. */
  readonly wildcard?: boolean | undefined;
  /** Types with `net`: an exception from a larger network in the same set (`nomatch`). */
  readonly noMatch?: boolean | undefined;
  /** The member of a list:set, an existing set that is not a list. */
  readonly set?: string | undefined;
  /** list:set: the member is put before this one; deleted and tested only if it is there. Never listed. */
  readonly before?: string | undefined;
  /** list:set: the same, after. Not with `before`. */
  readonly after?: string | undefined;
  /** Sets with `timeout`: time left, in s, at most 2147483; 0 for an entry that stays. Default: the set's. */
  readonly timeout?: number | undefined;
  /** Sets with `counters`: counted packets, 64 bits; default 0. */
  readonly packets?: bigint | undefined;
  /** Sets with `counters`: counted bytes, 64 bits; default 0. */
  readonly bytes?: bigint | undefined;
  /** Sets with `comment`: a text of 1 to 255 bytes without quotation marks and line breaks, which `ipset save` could not print. */
  readonly comment?: string | undefined;
  /** Sets with `skbInfo`: packet mark, 32 bits. */
  readonly skbMark?: number | undefined;
  /** The bits of the packet's mark that `skbMark` replaces; default all. */
  readonly skbMask?: number | undefined;
  /** Sets with `skbInfo`: tc class, the major number in the upper 16 of 32 bits. */
  readonly skbPrio?: number | undefined;
  /** Sets with `skbInfo`: hardware queue, 16 bits. */
  readonly skbQueue?: number | undefined;
  /** Listed only, and ignored when the entry is deleted or tested: attributes of a newer kernel. */
  readonly attributes?: readonly ListedAttribute[] | undefined;
}

/** `Needed` fields, fields that are `Allowed`, and none of the others. */
export type OnlyFields<Fields, Needed extends keyof Fields, Allowed extends keyof Fields> = {
  readonly [Field in Needed]-?: Exclude<Fields[Field], undefined>;
} & Pick<Fields, Exclude<Allowed, Needed>> & {
    readonly [Field in Exclude<keyof Fields, Needed | Allowed>]?: undefined;
  };

/** Parameters of every set: its entries have extensions. */
export type ExtensionParameter = 'timeout' | 'counters' | 'comment' | 'skbInfo';
/** Parameters of every hash. */
export type HashParameter = 'hashSize' | 'maxElements' | 'bucketSize' | 'initval' | 'forceAdd';

/** The parameters of a hash of addresses or networks. */
export type HashParameters<Own extends keyof SetParameters = never> = OnlyFields<
  SetParameters,
  'family',
  ExtensionParameter | HashParameter | Own
>;

/** The same with one mask at most. */
export type MaskedParameters = HashParameters<'netmask'> | HashParameters<'bitmask'>;

/** The parameters of a bitmap of addresses. */
export type BitmapParameters<Own extends 'netmask' = never> = OnlyFields<
  RangelessParameters,
  never,
  ExtensionParameter | Own
> & {
  readonly family?: 4 | undefined;
  readonly range: readonly [from: string, to: string];
};

/** The parameters but for those that have another type in bitmaps. */
export type RangelessParameters = Omit<SetParameters, 'range' | 'family'>;

/** The parameters of a set, by its type. */
export interface ParametersByType {
  /** `range`, and a netmask. */
  'bitmap:ip': BitmapParameters<'netmask'>;
  /** `range`. */
  'bitmap:ip,mac': BitmapParameters;
  /** A range of ports. */
  'bitmap:port': OnlyFields<RangelessParameters, never, ExtensionParameter> & {
    readonly family?: undefined;
    readonly range?: readonly [from: number, to: number] | undefined;
  };
  /** A family, and masks. */
  'hash:ip': MaskedParameters;
  /** No family. */
  'hash:mac': OnlyFields<SetParameters, never, ExtensionParameter | HashParameter>;
  /** A family. */
  'hash:ip,mac': HashParameters;
  /** A family. */
  'hash:net': HashParameters;
  /** A family, and masks. */
  'hash:net,net': MaskedParameters;
  /** A family, and masks. */
  'hash:ip,port': MaskedParameters;
  /** A family. */
  'hash:net,port': HashParameters;
  /** A family. */
  'hash:ip,port,ip': HashParameters;
  /** A family. */
  'hash:ip,port,net': HashParameters;
  /** A family, and a mask of marks. */
  'hash:ip,mark': HashParameters<'markMask'>;
  /** A family. */
  'hash:net,port,net': HashParameters;
  /** A family. */
  'hash:net,iface': HashParameters;
  /** A size. */
  'list:set': OnlyFields<SetParameters, never, ExtensionParameter | 'size'>;
}

/** The family of a set's addresses: needed for a hash of addresses or networks, left out for a type without addresses. */
export type FamilyOf<Type extends SetType> = Pick<ParametersByType[Type], 'family'>;

/** A set as it is created: its name of at most 31 bytes (`IPSET_MAXNAMELEN` less the terminator), its type, and the type's parameters. */
export type SetDefinition = {
  [Type in SetType]: { readonly name: string; readonly type: Type } & ParametersByType[Type];
}[SetType];

/** The set of an entry: its name, and the properties on which the encoding of its entries depends. */
export type SetReference<Type extends SetType = SetType> = {
  readonly name: string;
  readonly type: Type;
} & FamilyOf<Type>;

/** Fields of every entry: its extensions, which the set must have. */
export type ExtensionField =
  | ('timeout' | 'packets' | 'bytes' | 'comment')
  | ('skbMark' | 'skbMask' | 'skbPrio' | 'skbQueue');

/** The fields of an entry: needed ones, and ones that it may have beside its extensions. */
export type EntryFields<Needed extends keyof SetEntry, Allowed extends keyof SetEntry = never> = OnlyFields<
  SetEntry,
  Needed,
  Allowed | ExtensionField
>;

/** Fields that make a range of an address. */
export type AddressField = 'prefix' | 'lastAddress';
/** Fields of a network in the first place. */
export type NetworkField = AddressField | 'noMatch';
/** Fields of a network in another place. */
export type SecondNetworkField = 'prefix2' | 'lastAddress2' | 'noMatch';

/** A protocol with its port, or one that has none. */
export type PortFields =
  | { readonly protocol: IpProtocol; readonly port: number; readonly icmp?: undefined }
  | {
      readonly protocol: number;
      readonly icmp?: IcmpType | undefined;
      readonly port?: undefined;
      readonly lastPort?: undefined;
    };
/** The fields of an entry with a protocol. */
export type PortEntryFields<Needed extends keyof SetEntry, Allowed extends keyof SetEntry> = EntryFields<
  Needed | 'protocol',
  Allowed | 'port' | 'lastPort' | 'icmp'
> &
  PortFields;

/** The fields of an entry, by the type of its set. */
export interface EntryByType {
  /** `IP|IP/CIDR|FROM-TO`. */
  'bitmap:ip': EntryFields<'address', AddressField>;
  /** `IP[,MAC]`. */
  'bitmap:ip,mac': EntryFields<'address', 'mac'>;
  /** `[PROTO:]PORT|FROM-TO`. */
  'bitmap:port': EntryFields<'port', 'lastPort'>;
  /** `IP`. */
  'hash:ip': EntryFields<'address', AddressField>;
  /** `MAC`. */
  'hash:mac': EntryFields<'mac'>;
  /** `IP,MAC`. */
  'hash:ip,mac': EntryFields<'address' | 'mac'>;
  /** `IP[/CIDR]`. */
  'hash:net': EntryFields<'address', NetworkField>;
  /** `IP[/CIDR]|FROM-TO,IP[/CIDR]|FROM-TO`. */
  'hash:net,net': EntryFields<'address' | 'address2', NetworkField | SecondNetworkField>;
  /** `IP,[PROTO:]PORT`. */
  'hash:ip,port': PortEntryFields<'address', AddressField>;
  /** `IP[/CIDR]|FROM-TO,[PROTO:]PORT`. */
  'hash:net,port': PortEntryFields<'address', NetworkField>;
  /** `IP,[PROTO:]PORT,IP`. */
  'hash:ip,port,ip': PortEntryFields<'address' | 'address2', AddressField>;
  /** `IP,[PROTO:]PORT,IP[/CIDR]`. */
  'hash:ip,port,net': PortEntryFields<'address' | 'address2', AddressField | SecondNetworkField>;
  /** `IP,MARK`. */
  'hash:ip,mark': EntryFields<'address' | 'mark', AddressField>;
  /** `IP[/CIDR],[PROTO:]PORT,IP[/CIDR]`. */
  'hash:net,port,net': PortEntryFields<'address' | 'address2', NetworkField | SecondNetworkField>;
  /** `IP[/CIDR]|FROM-TO,[physdev:]IFACE`. */
  'hash:net,iface': EntryFields<'address' | 'interface', NetworkField | 'physdev' | 'wildcard'>;
  /** `NAME [before|after NAME]`. */
  'list:set': EntryFields<'set', 'before' | 'after'>;
}

declare const LISTED: unique symbol;

/**
 * An entry as the kernel lists it: it may be given for a set of any type, because the kernel had it. OnlyFields the compiler sees the
 * mark that makes it different from an object with the same fields.
 */
export interface ListedEntry extends SetEntry {
  /** Only for the compiler. */
  readonly [LISTED]: true;
}

/** What an operation on a set of this type takes: the fields that its entries have, or an entry that was listed. */
export type EntryOf<Type extends SetType = SetType> = EntryByType[Type] | ListedEntry;

/** The change of one entry: the type of the set says which fields the entry has. */
export type EntryChange =
  | {
      [Type in SetType]: {
        readonly do: 'add' | 'delete';
        readonly set: SetReference<Type>;
        readonly entry: EntryByType[Type];
      };
    }[SetType]
  | { readonly do: 'add' | 'delete'; readonly set: SetReference; readonly entry: ListedEntry };
