// Entries of our sets that record which virtual services are ours. The record survives restarts, and a former
// kube-proxy has the same one.
import type { AddressId } from '../../../../kernel/ipvs/types.js';
import { type Family, familyOf, joinHostPort } from '../../../../kernel/net/address.js';
import type { Item } from './items.js';
import { type SetRole, setOf } from './sets.js';

/** Sets whose entries are addresses and ports of our virtual services. */
const BY_ADDRESS = new Set(
  namesOf([
    'KUBE-CLUSTER-IP',
    'KUBE-EXTERNAL-IP',
    'KUBE-EXTERNAL-IP-LOCAL',
    'KUBE-LOAD-BALANCER',
    'KUBE-NODE-PORT-SCTP-HASH',
  ]).map(([name]) => name),
);

/** Sets whose entries are node ports of our virtual services. */
const BY_PORT = {
  tcp: new Map(namesOf(['KUBE-NODE-PORT-TCP'])),
  udp: new Map(namesOf(['KUBE-NODE-PORT-UDP'])),
} as const;

function namesOf(roles: readonly SetRole[]): [name: string, family: Family][] {
  return ([4, 6] as const).flatMap((family) =>
    roles.map((role): [string, Family] => [setOf(role, family).name, family]),
  );
}

/** The record of an item, comparable with {@link recordsNaming}; undefined if it records no virtual service. */
export function recordOf(item: Item): string | undefined {
  if (item.kind !== 'entry') return undefined;
  const { address, port, protocol } = item.entry;
  const { name } = item.set;
  if (BY_ADDRESS.has(name)) return `${joinHostPort(address ?? '', port ?? 0)}/${protocol}`;
  if (BY_PORT.tcp.has(name)) return `${BY_PORT.tcp.get(name)} ${port}/tcp`;
  return BY_PORT.udp.has(name) ? `${BY_PORT.udp.get(name)} ${port}/udp` : undefined;
}

/** The possible records of a virtual service: by address and port, and by node port. */
export function recordsNaming({ address, port, protocol }: AddressId): string[] {
  return [`${joinHostPort(address, port)}/${protocol}`, `${familyOf(address)} ${port}/${protocol}`];
}
