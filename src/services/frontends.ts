// A Service and its slices → what clients can dial and who may answer.
import { type Family, familyOf } from '../net/address.js';
import { type EndpointSlice, type Service, type ServiceObjectPort, serviceKey } from '../objects/types.js';
import { chooseEndpoints, type Uses, type Whereabouts } from './chooseEndpoints.js';
import { endpointsOfPort } from './endpoints.js';
import type { Frontend, PortFrontends, ServiceFrontends } from './types.js';

/** Whether a Service is one that a proxy serves: headless and ExternalName ones, and those of other proxies, are not. */
export function isProxied(service: Service): boolean {
  const headless = service.clusterIPs[4] === undefined && service.clusterIPs[6] === undefined;
  return !service.notOurs && !headless && service.type !== 'ExternalName';
}

/** Everything a Service means to the given node. */
export function frontendsOf(
  service: Service,
  slices: Iterable<EndpointSlice>,
  node: Whereabouts,
): ServiceFrontends {
  const all = [...slices];
  const families = ([4, 6] as const).filter((family) => service.clusterIPs[family] !== undefined);
  const ports = isProxied(service)
    ? families.flatMap((family) =>
        service.ports.map((port) => portFrontends(service, port, family, all, node)),
      )
    : [];
  const checked = service.type === 'LoadBalancer' && externalPolicyIsLocal(service) && ports.length > 0;
  return {
    service: serviceKey(service),
    createdAt: service.createdAt,
    ports,
    healthCheckNodePort: checked ? service.healthCheckNodePort : 0,
  };
}

function portFrontends(
  service: Service,
  port: ServiceObjectPort,
  family: Family,
  slices: readonly EndpointSlice[],
  node: Whereabouts,
): PortFrontends {
  const frontends = frontendsOfPort(service, port, family);
  const endpoints = endpointsOfPort(slices, { family, name: port.name, protocol: port.protocol }, node.name);
  return {
    family,
    portName: port.name,
    protocol: port.protocol,
    affinitySeconds: service.affinitySeconds,
    frontends,
    endpoints,
    ...chooseEndpoints(endpoints, usesOf(service, frontends), node),
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

/** `0.0.0.0/0` or `::/0` anywhere among the ranges means that there is no restriction (Kubernetes 1.34). */
function sourceRangesOf(service: Service, family: Family): readonly string[] {
  if (service.sourceRanges.some((range) => range.endsWith('/0'))) return [];
  return service.sourceRanges.filter((range) => familyOf(range) === family);
}

/** externalTrafficPolicy counts where there is an outside: node ports, load balancers, external IPs. */
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
