// A Service → its frontends, and the claims for them. Both are products of lists: they are made one by one.
import { type Family, familyOf } from '../../kernel/net/address.js';
import { isProxied } from '../objects/frontendCount.js';
import type { Service, ServiceObjectPort } from '../objects/types.js';
import { type Claim, claimOf, RANKS, type RankedClaims } from './claims.js';
import type { Frontend } from './types.js';

/** The frontends of a Service port in one family. */
export interface PortFrontends {
  readonly family: Family;
  readonly port: ServiceObjectPort;
  /** Made while they are read; once. */
  readonly frontends: Iterable<Frontend>;
}

const FAMILIES: readonly Family[] = [4, 6];

/** The frontends of each port of a Service, once for each of its families; none if the Service is not proxied. */
export function* frontendsOf(service: Service): Generator<PortFrontends, void> {
  if (!isProxied(service)) return;
  for (const family of FAMILIES) {
    const addresses = addressesOf(service, family);
    if (!addresses) continue;
    for (const port of service.ports) yield { family, port, frontends: frontendsOfPort(addresses, port) };
  }
}

/** The keys of all claims of a Service: its addresses with ports, and its node ports. */
export function claimsOf(service: Service): RankedClaims {
  const ranks = new Map<Claim, number>();
  for (const { family, port, frontends } of frontendsOf(service)) {
    for (const frontend of frontends) {
      const claim = claimOf(frontend, family, port.protocol);
      const rank = RANKS[frontend.kind];
      // A Service may name an address in several fields: the stronger claim counts.
      const known = ranks.get(claim);
      if (known === undefined || rank < known) ranks.set(claim, rank);
    }
  }
  return ranks;
}

/** The addresses of a Service in one family, with what its frontends have in common. */
interface Addresses {
  /** May be empty: see {@link Service.clusterIPs}. */
  readonly clusterIP: string;
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  readonly sourceRanges: readonly string[];
  /** The traffic policies are `Local`. */
  readonly internalLocal: boolean;
  readonly externalLocal: boolean;
}

function addressesOf(service: Service, family: Family): Addresses | undefined {
  const clusterIP = service.clusterIPs[family];
  if (clusterIP === undefined) return undefined;
  const loadBalancerIPs = ofFamily(service.loadBalancerIPs, family);
  return {
    clusterIP,
    externalIPs: ofFamily(service.externalIPs, family),
    loadBalancerIPs,
    sourceRanges: loadBalancerIPs.length > 0 ? sourceRangesOf(service, family) : NONE,
    internalLocal: service.internalTrafficPolicy === 'Local',
    externalLocal: externalPolicyIsLocal(service),
  };
}

function* frontendsOfPort(
  { clusterIP, externalIPs, loadBalancerIPs, sourceRanges, internalLocal, externalLocal }: Addresses,
  { port, nodePort }: ServiceObjectPort,
): Generator<Frontend, void> {
  if (clusterIP !== '') yield frontend('clusterIP', clusterIP, port, internalLocal);
  for (const address of externalIPs) yield frontend('externalIP', address, port, externalLocal);
  for (const address of loadBalancerIPs)
    yield frontend('loadBalancerIP', address, port, externalLocal, sourceRanges);
  if (nodePort !== 0) yield frontend('nodePort', '', nodePort, externalLocal);
}

const NONE: readonly string[] = Object.freeze([]);

function frontend(
  kind: Frontend['kind'],
  address: string,
  port: number,
  localPolicy: boolean,
  sourceRanges = NONE,
): Frontend {
  return { kind, address, port, localPolicy, sourceRanges };
}

function ofFamily(texts: readonly string[], family: Family): readonly string[] {
  return texts.length === 0 ? texts : texts.filter((text) => familyOf(text) === family);
}

/** If a range is `0.0.0.0/0` or `::/0`, its family has no restriction (kube-proxy since 1.34). */
function sourceRangesOf(service: Service, family: Family): readonly string[] {
  const ranges = ofFamily(service.sourceRanges, family);
  return ranges.some((range) => range.endsWith('/0')) ? NONE : ranges;
}

/** externalTrafficPolicy applies only if there are external frontends: node ports, load-balancer IPs, external IPs. */
export function externalPolicyIsLocal(service: Service): boolean {
  return (
    service.externalTrafficPolicy === 'Local' &&
    (service.type !== 'ClusterIP' || service.externalIPs.length > 0)
  );
}
