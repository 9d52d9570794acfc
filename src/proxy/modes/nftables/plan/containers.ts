// The sets and maps that hold the addresses and ports of Services: the same ones in each cluster. Some depend on the options of the mode.

import type { Family } from '../../../../kernel/net/address.js';
import type {
  KeyExpression,
  SetShape,
  Value,
  ValueType,
  ValueTypes,
} from '../../../../kernel/nftables/types.js';
import { ADDRESS_TYPE, TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { TABLE } from './names.js';

/** The names of the sets and maps. */
export type ContainerName =
  | 'cluster-ips'
  | 'hairpin-connections'
  | 'nodeport-ips'
  | 'no-endpoint-services'
  | 'no-endpoint-nodeports'
  | 'firewall-ips'
  | 'service-ips'
  | 'service-nodeports'
  | 'localhost-nodeport-reject-ports'
  | 'flow-table-ips'
  | 'flow-table-nodeports';

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

/**
 * Layout `scalable`: a map with endpoints of many frontends of a kind. The key of an element is that of a frontend and the number of a
 * slot, which is below the number of its endpoints.
 */
export interface SlotMap extends NamedSet {
  /** `endpoints-0` to `endpoints-15`, or `nodeport-endpoints`. */
  readonly name: string;
}

/**
 * Maps over which the endpoints of frontends with an address are spread. The kernel lists a map in portions, and counts from its beginning
 * for each: the time of a listing grows with the square of the number of elements. Node ports are few.
 */
const SHARDS = 16;

/** The number of the map that has the endpoints of a frontend, below {@link SHARDS}. @param text key of the frontend's element */
export function shardOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 16) % SHARDS;
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
  ['localhost-nodeport-reject-ports', PORT, 'verdict', 'localhost NodePorts rejected by kube-proxy'],
  ['flow-table-ips', ADDRESS_AND_PORT, undefined, 'ExternalIP and LoadBalancer IP traffic of the flow table'],
  ['flow-table-nodeports', PORT, undefined, 'NodePort traffic of the flow table'],
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

/** The map for node ports, or one of those for addresses. */
type SlotMaps = Readonly<Record<'nodePorts', SlotMap> & Record<'addresses', readonly SlotMap[]>>;

function slotMapsOfFamily(family: Family): SlotMaps {
  const address = ADDRESS_TYPE[family];
  const destination: KeyExpression = family === 4 ? 'ip daddr' : 'ip6 daddr';
  const port = ['meta l4proto', 'th dport', SLOT] as const;
  const shared = {
    family,
    data: [address, 'inet_service'],
    dataExpressions: [destination, 'th dport'],
  } as const;
  return {
    addresses: Array.from({ length: SHARDS }, (_, shard) => ({
      ...shared,
      name: `endpoints-${shard}`,
      key: [address, 'inet_proto', 'inet_service', 'integer'],
      keyExpressions: [destination, ...port],
      comment: 'endpoints of ClusterIP, ExternalIP and LoadBalancer IP traffic',
    })),
    nodePorts: {
      ...shared,
      name: 'nodeport-endpoints',
      key: ['inet_proto', 'inet_service', 'integer'],
      keyExpressions: port,
      comment: 'endpoints of NodePort traffic',
    },
  };
}

/** The maps of slots of each family. Those for addresses have the order of their numbers. */
export const SLOT_MAPS: Readonly<Record<Family, SlotMaps>> = {
  4: slotMapsOfFamily(4),
  6: slotMapsOfFamily(6),
};

/** The maps with the endpoints of the frontends in a container; none if it has no frontends. */
export function slotMapsOf({ family, name }: Container): readonly SlotMap[] {
  const { addresses, nodePorts } = SLOT_MAPS[family];
  if (name === 'service-ips') return addresses;
  return name === 'service-nodeports' ? [nodePorts] : [];
}

/** The map with the endpoints of a frontend; undefined if the container has no frontends. @param text key of the frontend's element */
export function slotMapOf(container: Container, text: string): SlotMap | undefined {
  const maps = slotMapsOf(container);
  return maps.length > 1 ? maps[shardOf(text)] : maps[0];
}

const SLOT_MAPS_BY_NAME: Readonly<Record<Family, ReadonlyMap<string, SlotMap>>> = {
  4: slotMapsByName(4),
  6: slotMapsByName(6),
};

function slotMapsByName(family: Family): Map<string, SlotMap> {
  const { addresses, nodePorts } = SLOT_MAPS[family];
  return new Map([...addresses, nodePorts].map((map) => [map.name, map]));
}

/** The names of all maps of slots of a family. */
export function slotMapNames(family: Family): Iterable<string> {
  return SLOT_MAPS_BY_NAME[family].keys();
}

/** The container or the map of slots with a name; undefined if it is none. */
export function setNamed(family: Family, name: string): Container | SlotMap | undefined {
  return SLOT_MAPS_BY_NAME[family].get(name) ?? containerNamed(family, name);
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

/** The name of a chain, set or object of the mode's table, as operations name it. */
export function nameIn(family: Family, name: string) {
  return { family: TABLE_FAMILY[family], table: TABLE, name } as const;
}

/** What the elements of a set are. */
export function shapeOf({ key, data, keyExpressions, dataExpressions }: NamedSet): SetShape {
  return {
    key,
    ...(data !== undefined && { data }),
    ...(keyExpressions && { keyExpressions }),
    ...(dataExpressions && { dataExpressions }),
  };
}
