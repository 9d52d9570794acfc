// A Service and its slices → the input of its plan: its frontends and the endpoints that get their traffic.

import type { EndpointSlice, Service } from '../objects/types.js';
import { categorizeEndpoints, type NodeTopology, type Uses } from './categorizeEndpoints.js';
import { type Claim, claimOf } from './claims.js';
import { isWithinLimit, type LimitedSlices, limitSlices } from './endpointLimit.js';
import { endpointsOfPort, SlicesByPort } from './endpoints.js';
import { externalPolicyIsLocal, frontendsOf, type PortFrontends } from './frontends.js';
import type { SettingsReader } from './settings/settingsReader.js';
import type { ServiceSettings } from './settings/types.js';
import { weightsInZones } from './settings/zoneWeights.js';
import type { Frontend, ServicePlanInput, ServicePort } from './types.js';

/** What a plan needs besides the Service. */
interface PlanContext {
  readonly slices: readonly EndpointSlice[];
  readonly node: NodeTopology;
  readonly totalEndpoints: ServicePlanInput['totalEndpoints'];
  /** Whether the Service wins this claim: frontends of lost claims are not included. Default: it wins all. */
  readonly holds?: ((claim: Claim) => boolean) | undefined;
  /** See {@link ServicePlanInput.left}. */
  readonly left?: ServicePlanInput['left'] | undefined;
  /** See {@link ServicePlanInput.failed}. */
  readonly failed?: ServicePlanInput['failed'] | undefined;
  /** See `Mode.sharedEndpoints`. */
  readonly sharesEndpoints: boolean;
  /** The settings by annotation. */
  readonly settings: SettingsReader;
}

/** The input of a Service's plan. @param key `namespace/name` of the Service */
export function planInputOf(key: string, service: Service, context: PlanContext): ServicePlanInput {
  const slices = new SlicesByPort();
  const limited: LimitedSlices = isWithinLimit(service, context.slices)
    ? { slices: context.slices }
    : limitSlices(service, context.slices, context.sharesEndpoints);
  const { settings } = context.settings.ofService(service);
  for (const slice of limited.slices) {
    const { weight } = context.settings.ofSlice(slice);
    slices.add(slice, weightsInZones(slice.endpoints, weight, settings?.zoneWeights, context.node.zone));
  }
  const ports: ServicePort[] = [];
  for (const port of frontendsOf(service)) {
    ports.push(servicePort(service, port, context, slices, settings));
  }
  const checked = service.type === 'LoadBalancer' && externalPolicyIsLocal(service) && ports.length > 0;
  return {
    service: key,
    createdAt: service.createdAt,
    ports,
    healthCheckNodePort: checked ? service.healthCheckNodePort : 0,
    totalEndpoints: context.totalEndpoints,
    ...(context.left && { left: context.left }),
    ...(context.failed && settings?.failFast && { failed: context.failed }),
    ...(limited.beyond && { beyond: limited.beyond }),
    ...(settings && { settings }),
  };
}

function servicePort(
  service: Service,
  { family, port, frontends: claimed }: PortFrontends,
  { node, holds }: PlanContext,
  slices: SlicesByPort,
  settings: ServiceSettings | undefined,
): ServicePort {
  const { name: portName, protocol } = port;
  const frontends: Frontend[] = [];
  for (const frontend of claimed) {
    if (!holds || holds(claimOf(frontend, family, protocol))) frontends.push(frontend);
  }
  const all = endpointsOfPort(slices, { family, name: portName, protocol }, node.name);
  const endpoints = node.unreachable ? all.withoutNodes(node.unreachable) : all;
  const { clusterEndpoints, localEndpoints } = categorizeEndpoints(
    endpoints,
    usesOf(service, frontends),
    node,
  );
  const affinitySeconds = settings?.persistenceTimeout ?? service.affinitySeconds;
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

function usesOf(service: Service, frontends: readonly Frontend[]): Uses {
  const internalLocal = service.internalTrafficPolicy === 'Local';
  const outside = frontends.some((frontend) => frontend.kind !== 'clusterIP');
  return {
    cluster: !internalLocal || outside,
    local: internalLocal || (outside && externalPolicyIsLocal(service)),
  };
}
