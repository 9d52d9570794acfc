// The 17 ipsets of ipvs mode, letter for letter kube-proxy's. The comment is never stored in the kernel's set: it is the
// comment of the iptables rules that match it.
import type { SetDefinition, SetReference, SetType } from '../../kernel/ipset/types.js';
import type { Family } from '../../net/address.js';

interface CatalogueEntry {
  readonly type: SetType;
  readonly comment: string;
}

const CATALOGUE = {
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

/** The name of a set in the IPv4 family, which names its role in both. */
export type SetRole = keyof typeof CATALOGUE;

/** Every role. */
export const SET_ROLES = Object.keys(CATALOGUE) as SetRole[];

/** `IPSET_MAXNAMELEN` less the terminator: longer names are cut, as kube-proxy cuts them. */
const MAX_NAME = 31;
/** kube-proxy's, and ours until a plan needs more: then the next power of two. */
const MAX_ELEMENTS = 65_536;
const MIN_HASH_SIZE = 1024;

const REFERENCES: Readonly<Record<Family, ReadonlyMap<SetRole, SetReference>>> = {
  4: new Map(SET_ROLES.map((role) => [role, referTo(role, role, 4)])),
  6: new Map(SET_ROLES.map((role) => [role, referTo(role, nameIn6(role), 6)])),
};

/** Sets of ports hold no addresses, and so have no family. */
function referTo(role: SetRole, name: string, family: Family): SetReference {
  const { type } = CATALOGUE[role];
  return type === 'bitmap:port' ? { name, type } : { name, type, family };
}

/** The set that plays a role in a family. */
export function setOf(role: SetRole, family: Family): SetReference {
  return REFERENCES[family].get(role) as SetReference;
}

/** What the rules that match a set say about it. */
export function commentOf(role: SetRole): string {
  return CATALOGUE[role].comment;
}

/**
 * A set as it is to be created.
 *
 * @param expected entries it is going to hold; a hash that has to grow costs nine times as much as one made large enough
 */
export function defineSet(role: SetRole, family: Family, expected: number): SetDefinition {
  const { name, type } = setOf(role, family);
  if (type === 'bitmap:port') return { name, type, range: [0, 65_535] };
  const hashSize = hashSizeFor(expected);
  return { name, type, family, hashSize, maxElements: Math.max(MAX_ELEMENTS, hashSize) };
}

/** Initial buckets of a hash for so many entries. */
export function hashSizeFor(expected: number): number {
  return Math.max(MIN_HASH_SIZE, 2 ** Math.ceil(Math.log2(Math.max(1, expected))));
}

function nameIn6(role: SetRole): string {
  return `KUBE-6-${role.slice('KUBE-'.length)}`.slice(0, MAX_NAME);
}
