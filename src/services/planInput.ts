// A Service and its slices → the input of its plan: its frontends and the endpoints that get their traffic.
import { type Family, familyOf } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import { type EndpointSlice, type Service, type ServiceObjectPort, serviceKey } from '../objects/types.js';
import { categorizeEndpoints, type Uses, type Whereabouts } from './categorizeEndpoints.js';
import { addressClaim, nodePortClaim } from './claims.js';
import { endpointsOfPort } from './endpoints.js';
import type { Frontend, ServicePlanInput, ServicePort } from './types.js';

/** Whether this proxy serves a Service: headless and ExternalName Services, and those of other proxies, are ignored. */
export function isProxied(service: Service): boolean {
  const headless = service.clusterIPs[4] === undefined && service.clusterIPs[6] === undefined;
  return !service.notOurs && !headless && service.type !== 'ExternalName';
}

/** The keys of all claims of a Service: its addresses with ports, and its node ports. */
export function claimsOf(service: Service): Set<string> {
  return new Set(
    portsOf(service).flatMap(({ family, port }) =>
      frontendsOfPort(service, port, family).map((frontend) => claimOf(frontend, family, port.protocol)),
    ),
  );
}

/** The key of the claim for a frontend. */
export function claimOf({ kind, address, port }: Frontend, family: Family, protocol: Protocol): string {
  return kind === 'nodePort' ? nodePortClaim(family, port, protocol) : addressClaim(address, port, protocol);
}

/**
 * The input of a Service's plan on the given node.
 *
 * @param holds whether the Service wins the claim of this key; frontends of lost claims are not included
 */
export function planInputOf(
  service: Service,
  slices: Iterable<EndpointSlice>,
  node: Whereabouts,
  holds: (claim: string) => boolean = () => true,
): ServicePlanInput {
  const all = [...slices];
  const ports = portsOf(service).map(({ family, port }) =>
    servicePort(service, port, family, all, node, holds),
  );
  const checked = service.type === 'LoadBalancer' && externalPolicyIsLocal(service) && ports.length > 0;
  return {
    service: serviceKey(service),
    createdAt: service.createdAt,
    ports,
    healthCheckNodePort: checked ? service.healthCheckNodePort : 0,
  };
}

/** The ports of a proxied Service, once for each of its families. */
function portsOf(service: Service): { readonly family: Family; readonly port: ServiceObjectPort }[] {
  if (!isProxied(service)) return [];
  const families = ([4, 6] as const).filter((family) => service.clusterIPs[family] !== undefined);
  return families.flatMap((family) => service.ports.map((port) => ({ family, port })));
}

function servicePort(
  service: Service,
  port: ServiceObjectPort,
  family: Family,
  slices: readonly EndpointSlice[],
  node: Whereabouts,
  holds: (claim: string) => boolean,
): ServicePort {
  const frontends = frontendsOfPort(service, port, family).filter((frontend) =>
    holds(claimOf(frontend, family, port.protocol)),
  );
  const endpoints = endpointsOfPort(slices, { family, name: port.name, protocol: port.protocol }, node.name);
  return {
    family,
    portName: port.name,
    protocol: port.protocol,
    affinitySeconds: service.affinitySeconds,
    frontends,
    endpoints,
    ...categorizeEndpoints(endpoints, usesOf(service, frontends), node),
  };
}

function frontendsOfPort(service: Service, port: ServiceObjectPort, family: Family): Frontend[] {
  const local = externalPolicyIsLocal(service);
  const ofFamily = (addresses: readonly string[]) =>
    addresses.filter((address) => familyOf(address) === family);
  const at = (kind: Frontend['kind'], address: string, sourceRanges: readonly string[] = []): Frontend => ({
    kind,
    address,
    port: kind === 'nodePort' ? port.nodePort : port.port,
    localPolicy: kind === 'clusterIP' ? service.internalTrafficPolicy === 'Local' : local,
    sourceRanges,
  });
  const ranges = sourceRangesOf(service, family);
  return [
    at('clusterIP', service.clusterIPs[family] ?? ''),
    ...ofFamily(service.externalIPs).map((address) => at('externalIP', address)),
    ...ofFamily(service.loadBalancerIPs).map((address) => at('loadBalancerIP', address, ranges)),
    ...(port.nodePort === 0 ? [] : [at('nodePort', '')]),
  ];
}

/** If any range is `0.0.0.0/0` or `::/0`, there is no restriction (Kubernetes 1.34). */
function sourceRangesOf(service: Service, family: Family): readonly string[] {
  if (service.sourceRanges.some((range) => range.endsWith('/0'))) return [];
  return service.sourceRanges.filter((range) => familyOf(range) === family);
}

/** externalTrafficPolicy applies only if there are external frontends: node ports, load-balancer IPs, external IPs. */
function externalPolicyIsLocal(service: Service): boolean {
  return (
    service.externalTrafficPolicy === 'Local' &&
    (service.type !== 'ClusterIP' || service.externalIPs.length > 0)
  );
}

function usesOf(service: Service, frontends: readonly Frontend[]): Uses {
  const internalLocal = service.internalTrafficPolicy === 'Local';
  const outside = frontends.some((frontend) => frontend.kind !== 'clusterIP');
  return {
    cluster: !internalLocal || outside,
    local: internalLocal || (outside && externalPolicyIsLocal(service)),
  };
}
