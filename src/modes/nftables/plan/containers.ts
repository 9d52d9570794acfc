// The sets and maps that hold the addresses and ports of Services: the same ones in each cluster.
import type {
  KeyExpression,
  SetShape,
  Value,
  ValueType,
  ValueTypes,
} from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';

/** The family of the mode's table for each family of addresses. */
export const TABLE_FAMILY = { 4: 'ip', 6: 'ip6' } as const;

/** The type of an address in each family. */
export const ADDRESS_TYPE = { 4: 'ipv4_addr', 6: 'ipv6_addr' } as const;

/** The names of the sets and maps. */
export type ContainerName =
  | 'cluster-ips'
  | 'hairpin-connections'
  | 'nodeport-ips'
  | 'no-endpoint-services'
  | 'no-endpoint-nodeports'
  | 'firewall-ips'
  | 'service-ips'
  | 'service-nodeports';

/** What the keys of a container are: `address` stands for the type of addresses in the family. */
type KeyPart = 'address' | 'inet_proto' | 'inet_service';

/** A set or a map of a family. */
export interface NamedSet extends SetShape {
  readonly family: Family;
  readonly name: string;
  readonly comment: string;
}

/** A set or a map whose elements are items. */
export interface Container extends NamedSet {
  readonly name: ContainerName;
}

/** The names of the maps of slots. */
export type SlotMapName = 'endpoints' | 'nodeport-endpoints';

/**
 * Layout `scalable`: a map with the endpoints of all frontends of a kind. The key of an element is that of a frontend and the number of a
 * slot, which is below the number of its endpoints.
 */
export interface SlotMap extends NamedSet {
  readonly name: SlotMapName;
}

const ADDRESS_AND_PORT = ['address', 'inet_proto', 'inet_service'] as const;
const PORT = ['inet_proto', 'inet_service'] as const;

const DEFINITIONS: readonly (readonly [
  name: ContainerName,
  key: readonly KeyPart[],
  data: 'verdict' | undefined,
  comment: string,
])[] = [
  ['cluster-ips', ['address'], undefined, 'Active ClusterIPs'],
  ['hairpin-connections', ['address', ...ADDRESS_AND_PORT], undefined, 'service hairpin connections'],
  ['nodeport-ips', ['address'], undefined, 'IPs that accept NodePort traffic'],
  [
    'no-endpoint-services',
    ADDRESS_AND_PORT,
    'verdict',
    'vmap to drop or reject packets to services with no endpoints',
  ],
  [
    'no-endpoint-nodeports',
    PORT,
    'verdict',
    'vmap to drop or reject packets to service nodeports with no endpoints',
  ],
  ['firewall-ips', ADDRESS_AND_PORT, 'verdict', 'destinations that are subject to LoadBalancerSourceRanges'],
  ['service-ips', ADDRESS_AND_PORT, 'verdict', 'ClusterIP, ExternalIP and LoadBalancer IP traffic'],
  ['service-nodeports', PORT, 'verdict', 'NodePort traffic'],
];

function containersOf(family: Family): Readonly<Record<ContainerName, Container>> {
  const typeOf = (part: KeyPart): ValueType => (part === 'address' ? ADDRESS_TYPE[family] : part);
  const entries = DEFINITIONS.map(([name, parts, data, comment]) => {
    const [first, second, ...rest] = parts.map(typeOf) as [ValueType, ValueType?, ...ValueType[]];
    const key: ValueTypes = second === undefined ? first : [first, second, ...rest];
    return [name, { family, name, key, ...(data && { data }), comment } satisfies Container] as const;
  });
  return Object.fromEntries(entries) as Record<ContainerName, Container>;
}

/** The containers of each family, by name. */
export const CONTAINERS: Readonly<Record<Family, Readonly<Record<ContainerName, Container>>>> = {
  4: containersOf(4),
  6: containersOf(6),
};

/** The container with a name; undefined if it is none. */
export function containerNamed(family: Family, name: string): Container | undefined {
  const containers = CONTAINERS[family];
  return Object.hasOwn(containers, name) ? containers[name as ContainerName] : undefined;
}

/**
 * nft takes the type of a slot from a `numgen`, of any modulus. `th dport` in the data: with the port of a certain protocol, nft would
 * restrict the rules to this protocol when it loads its own listing.
 */
const SLOT: KeyExpression = 'numgen random mod 2';

function slotMapsOf(family: Family): Readonly<Record<SlotMapName, SlotMap>> {
  const address = ADDRESS_TYPE[family];
  const destination: KeyExpression = family === 4 ? 'ip daddr' : 'ip6 daddr';
  const port = ['meta l4proto', 'th dport', SLOT] as const;
  const shared = {
    family,
    data: [address, 'inet_service'],
    dataExpressions: [destination, 'th dport'],
  } as const;
  return {
    endpoints: {
      ...shared,
      name: 'endpoints',
      key: [address, 'inet_proto', 'inet_service', 'integer'],
      keyExpressions: [destination, ...port],
      comment: 'endpoints of ClusterIP, ExternalIP and LoadBalancer IP traffic',
    },
    'nodeport-endpoints': {
      ...shared,
      name: 'nodeport-endpoints',
      key: ['inet_proto', 'inet_service', 'integer'],
      keyExpressions: port,
      comment: 'endpoints of NodePort traffic',
    },
  };
}

/** The maps of slots of each family, by name. */
export const SLOT_MAPS: Readonly<Record<Family, Readonly<Record<SlotMapName, SlotMap>>>> = {
  4: slotMapsOf(4),
  6: slotMapsOf(6),
};

/** The map with the endpoints of the frontends in a container; undefined if it has no frontends. */
export function slotMapOf({ family, name }: Container): SlotMap | undefined {
  if (name === 'service-ips') return SLOT_MAPS[family].endpoints;
  return name === 'service-nodeports' ? SLOT_MAPS[family]['nodeport-endpoints'] : undefined;
}

/** The container or the map of slots with a name; undefined if it is none. */
export function setNamed(family: Family, name: string): Container | SlotMap | undefined {
  const maps = SLOT_MAPS[family];
  return Object.hasOwn(maps, name) ? maps[name as SlotMapName] : containerNamed(family, name);
}

/** Between the parts of a key, as nft prints it. No part contains it. */
const SEPARATOR = ' . ';

/** The key of an element as nft prints it: `10.96.0.1 . tcp . 443`. One text, not added from parts. */
export function keyText(parts: readonly Value[]): string {
  return parts.join(SEPARATOR);
}

/** The key of an element of a container from its text. */
export function keyOfText({ key }: SetShape, text: string): Value | readonly Value[] {
  if (!Array.isArray(key)) return text;
  // Ports, and protocols without a name, are numbers.
  return text.split(SEPARATOR).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
