// The sets and maps that hold the addresses and ports of Services: the same ones in each cluster.
import type { SetShape, Value, ValueType, ValueTypes } from '../../../kernel/nftables/types.js';
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
export interface Container extends SetShape {
  readonly family: Family;
  readonly name: ContainerName;
  readonly comment: string;
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
