// The 17 ipsets of ipvs mode, identical to kube-proxy's. The comment is not in the ipset: it is the comment of the
// iptables rules that match it.
import type { SetDefinition, SetReference, SetType } from '../../../../kernel/ipset/types.js';
import type { Family } from '../../../../kernel/net/address.js';

interface CatalogueEntry {
  readonly type: SetType;
  readonly comment: string;
}

const SETS = {
  'KUBE-LOOP-BACK': {
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose',
  },
  'KUBE-CLUSTER-IP': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service cluster ip + port for masquerade purpose',
  },
  'KUBE-EXTERNAL-IP': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port for masquerade and filter purpose',
  },
  'KUBE-EXTERNAL-IP-LOCAL': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port with externalTrafficPolicy=local',
  },
  'KUBE-LOAD-BALANCER': { type: 'hash:ip,port', comment: 'Kubernetes service lb portal' },
  'KUBE-LOAD-BALANCER-FW': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  },
  'KUBE-LOAD-BALANCER-LOCAL': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  },
  'KUBE-LOAD-BALANCER-SOURCE-IP': {
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  },
  'KUBE-LOAD-BALANCER-SOURCE-CIDR': {
    type: 'hash:ip,port,net',
    comment: 'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  },
  'KUBE-NODE-PORT-TCP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port for masquerade purpose',
  },
  'KUBE-NODE-PORT-LOCAL-TCP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port with externalTrafficPolicy=local',
  },
  'KUBE-NODE-PORT-UDP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port for masquerade purpose',
  },
  'KUBE-NODE-PORT-LOCAL-UDP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port with externalTrafficPolicy=local',
  },
  'KUBE-NODE-PORT-SCTP-HASH': {
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  },
  'KUBE-NODE-PORT-LOCAL-SCTP-HASH': {
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  },
  'KUBE-HEALTH-CHECK-NODE-PORT': { type: 'bitmap:port', comment: 'Kubernetes health check node port' },
  'KUBE-IPVS-IPS': { type: 'hash:ip', comment: 'Addresses on the ipvs interface' },
} as const satisfies Record<string, CatalogueEntry>;

/** The role of a set: its name in IPv4. */
export type SetRole = keyof typeof SETS;

/** Every role. */
export const SET_ROLES = Object.keys(SETS) as SetRole[];

/** `IPSET_MAXNAMELEN` without the terminator: longer names are truncated, as in kube-proxy. */
const MAX_NAME = 31;
/** Maximum number of entries of a set, kube-proxy's value. If a plan needs more, the next power of two is used. */
const MAX_ELEMENTS = 65_536;
const MIN_HASH_SIZE = 1024;

const REFERENCES: Readonly<Record<Family, ReadonlyMap<SetRole, SetReference>>> = {
  4: new Map(SET_ROLES.map((role) => [role, referTo(role, role, 4)])),
  6: new Map(SET_ROLES.map((role) => [role, referTo(role, nameIn6(role), 6)])),
};

/** A bitmap of ports has no family. */
function referTo(role: SetRole, name: string, family: Family): SetReference {
  const { type } = SETS[role];
  return type === 'bitmap:port' ? { name, type } : { name, type, family };
}

/** The set of a role in a family. */
export function setOf(role: SetRole, family: Family): SetReference {
  return REFERENCES[family].get(role) as SetReference;
}

/** Whether a set has the name of one of this mode, and another type: another program made it. */
export function isForeignSet({ name, type }: { readonly name: string; readonly type: string }): boolean {
  return FAMILIES.some((family) =>
    SET_ROLES.some((role) => setOf(role, family).name === name && setOf(role, family).type !== type),
  );
}

const FAMILIES = [4, 6] as const;

/** The set of the mode with a name; undefined for other names. */
export function setNamed(name: string): { readonly family: Family; readonly set: SetReference } | undefined {
  return BY_NAME.get(name);
}

const BY_NAME = new Map(
  FAMILIES.flatMap((family) =>
    [...REFERENCES[family].values()].map((set) => [set.name, { family, set }] as const),
  ),
);

/** The comment of the rules that match a set. */
export function commentOf(role: SetRole): string {
  return SETS[role].comment;
}

/**
 * The definition of a set.
 *
 * @param expected expected number of entries; a hash that must grow costs nine times as much as one of sufficient size
 */
export function defineSet(role: SetRole, family: Family, expected: number): SetDefinition {
  const { name, type } = setOf(role, family);
  if (type === 'bitmap:port') return { name, type, range: [0, 65_535] };
  const hashSize = hashSizeFor(expected);
  return { name, type, family, hashSize, maxElements: Math.max(MAX_ELEMENTS, hashSize) } as SetDefinition;
}

/** Initial number of buckets of a hash with this number of entries. */
export function hashSizeFor(expected: number): number {
  return Math.max(MIN_HASH_SIZE, 2 ** Math.ceil(Math.log2(Math.max(1, expected))));
}

function nameIn6(role: SetRole): string {
  return `KUBE-6-${role.slice('KUBE-'.length)}`.slice(0, MAX_NAME);
}
