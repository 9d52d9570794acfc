// A Service and its slices → the input of its plan: its frontends and the endpoints that get their traffic.
import { type Family, familyOf } from '../net/address.js';
import type { EndpointSlice, Service, ServiceObjectPort } from '../objects/types.js';
import { StepCounter, type Steps } from '../steps.js';
import { categorizeEndpoints, type Uses, type Whereabouts } from './categorizeEndpoints.js';
import { type Claim, claimOf, RANKS, type RankedClaims } from './claims.js';
import { endpointsOfPort, SlicesByPort } from './endpoints.js';
import type { Frontend, ServicePlanInput, ServicePort } from './types.js';

/** Whether this proxy serves a Service: headless and ExternalName Services, and those of other proxies, are ignored. */
export function isProxied(service: Service): boolean {
  const headless = service.clusterIPs[4] === undefined && service.clusterIPs[6] === undefined;
  return !service.notOurs && !headless && service.type !== 'ExternalName';
}

/** The frontends of a Service port in one family. */
export interface PortFrontends {
  readonly family: Family;
  readonly port: ServiceObjectPort;
  readonly frontends: readonly Frontend[];
}

const FAMILIES: readonly Family[] = [4, 6];

/** The frontends of each port of a Service, once for each of its families; none if the Service is not proxied. */
export function* frontendsOf(service: Service): Generator<PortFrontends, void> {
  if (!isProxied(service)) return;
  for (const family of FAMILIES) {
    const clusterIP = service.clusterIPs[family];
    if (clusterIP === undefined) continue;
    for (const port of service.ports)
      yield { family, port, frontends: frontendsOfPort(service, clusterIP, port, family) };
  }
}

/** The keys of all claims of a Service: its addresses with ports, and its node ports. */
export function claimsOf(service: Service): RankedClaims {
  const claims: [Claim[], Claim[], Claim[]] = [[], [], []];
  for (const { family, port, frontends } of frontendsOf(service))
    for (const frontend of frontends)
      claims[RANKS[frontend.kind]]?.push(claimOf(frontend, family, port.protocol));
  return claims;
}

/** The surroundings of a plan. */
export interface PlanSurroundings {
  readonly slices: readonly EndpointSlice[];
  readonly node: Whereabouts;
  readonly totalEndpoints: ServicePlanInput['totalEndpoints'];
  /** Whether the Service wins this claim: frontends of lost claims are not included. Default: it wins all. */
  readonly holds?: ((claim: Claim) => boolean) | undefined;
  /** See {@link ServicePlanInput.left}. */
  readonly left?: ServicePlanInput['left'] | undefined;
}

/**
 * The input of a Service's plan, in steps: a Service may have thousands of ports.
 *
 * @param key `namespace/name` of the Service
 */
export function* planInputOf(
  key: string,
  service: Service,
  around: PlanSurroundings,
): Steps<ServicePlanInput> {
  const counter = new StepCounter();
  const slices = new SlicesByPort();
  for (const slice of around.slices) {
    slices.add(slice);
    if (counter.isFull()) yield;
  }
  const ports: ServicePort[] = [];
  for (const port of frontendsOf(service)) {
    ports.push(servicePort(service, port, around, slices));
    if (counter.isFull()) yield;
  }
  const checked = service.type === 'LoadBalancer' && externalPolicyIsLocal(service) && ports.length > 0;
  return {
    service: key,
    createdAt: service.createdAt,
    ports,
    healthCheckNodePort: checked ? service.healthCheckNodePort : 0,
    totalEndpoints: around.totalEndpoints,
    ...(around.left && { left: around.left }),
  };
}

function servicePort(
  service: Service,
  { family, port, frontends: claimed }: PortFrontends,
  { node, holds }: PlanSurroundings,
  slices: SlicesByPort,
): ServicePort {
  const { name: portName, protocol } = port;
  const frontends = holds
    ? claimed.filter((frontend) => holds(claimOf(frontend, family, protocol)))
    : claimed;
  const endpoints = endpointsOfPort(slices, { family, name: portName, protocol }, node.name);
  const { clusterEndpoints, localEndpoints } = categorizeEndpoints(
    endpoints,
    usesOf(service, frontends),
    node,
  );
  const { affinitySeconds } = service;
  return {
    family,
    portName,
    protocol,
    affinitySeconds,
    frontends,
    endpoints,
    clusterEndpoints,
    localEndpoints,
  };
}

function frontendsOfPort(
  service: Service,
  clusterIP: string,
  { port, nodePort }: ServiceObjectPort,
  family: Family,
): Frontend[] {
  const internal = service.internalTrafficPolicy === 'Local';
  const external = externalPolicyIsLocal(service);
  const frontends = [frontend('clusterIP', clusterIP, port, internal)];
  for (const address of service.externalIPs) {
    if (familyOf(address) === family) frontends.push(frontend('externalIP', address, port, external));
  }
  const ranges = service.loadBalancerIPs.length > 0 ? sourceRangesOf(service, family) : NO_RANGES;
  for (const address of service.loadBalancerIPs) {
    if (familyOf(address) !== family) continue;
    frontends.push(frontend('loadBalancerIP', address, port, external, ranges));
  }
  if (nodePort !== 0) frontends.push(frontend('nodePort', '', nodePort, external));
  return frontends;
}

const NO_RANGES: readonly string[] = Object.freeze([]);

function frontend(
  kind: Frontend['kind'],
  address: string,
  port: number,
  localPolicy: boolean,
  sourceRanges = NO_RANGES,
): Frontend {
  return { kind, address, port, localPolicy, sourceRanges };
}

/** If a range is `0.0.0.0/0` or `::/0`, its family has no restriction (kube-proxy since 1.34). */
function sourceRangesOf(service: Service, family: Family): readonly string[] {
  const ranges = service.sourceRanges.filter((range) => familyOf(range) === family);
  return ranges.some((range) => range.endsWith('/0')) ? NO_RANGES : ranges;
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
