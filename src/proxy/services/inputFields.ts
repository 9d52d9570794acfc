// The fields of objects in the input of a plan, each with an input that lacks it. The plans of these inputs show on which fields an
// item depends, so that no item has to store its fields.

import { AddressPorts } from '../../kernel/net/addressPorts.js';
import { annotationsOf } from '../input/settingNames.js';
import type { PerFamily } from '../objects/types.js';
import { SETTING_OF, type ServiceSettings } from './settings/types.js';
import type { Frontend, FrontendKind, ServicePlanInput, ServicePort } from './types.js';

/** A field with its value, and an input that shows its effect. */
export interface InputField {
  /** Object, field and value: `Service demo/web: spec.loadBalancerSourceRanges: 10.0.0.0/8`. */
  readonly text: string;
  readonly input: ServicePlanInput;
}

const ADDRESS_FIELDS: Readonly<Record<FrontendKind, string>> = {
  clusterIP: 'spec.clusterIPs',
  externalIP: 'spec.externalIPs',
  loadBalancerIP: 'status.loadBalancer.ingress[].ip',
  nodePort: 'spec.ports[].nodePort',
};

/** The optional values of the Service, each with the input without it. */
export function serviceFields(input: ServicePlanInput): InputField[] {
  const fields = new Map<string, ServicePlanInput>();
  const add = (field: string, value: string | number, without: Partial<ServicePlanInput>) =>
    fields.set(`Service ${input.service}: ${field}: ${value}`, { ...input, ...without });
  const addOfPorts = (field: string, value: string | number, without: (port: ServicePort) => ServicePort) =>
    add(field, value, { ports: input.ports.map(without) });
  for (const { affinitySeconds, frontends } of input.ports) {
    for (const range of frontends.flatMap(({ sourceRanges }) => sourceRanges))
      addOfPorts('spec.loadBalancerSourceRanges', range, (port) => withoutRange(port, range));
    if (affinitySeconds > 0) {
      const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
      addOfPorts(field, affinitySeconds, (port) => ({ ...port, affinitySeconds: 0 }));
    }
    for (const frontend of frontends) {
      const value = fieldValue(frontend);
      addOfPorts(ADDRESS_FIELDS[frontend.kind], value, (port) =>
        withoutFrontends(port, frontend.kind, value),
      );
    }
  }
  for (const [field, value] of Object.entries(input.settings ?? {})) {
    const setting = SETTING_OF[field as keyof ServiceSettings];
    const { [field as keyof ServiceSettings]: _, ...settings } = input.settings ?? {};
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    add(`metadata.annotations.${annotationsOf(setting)[0]}`, shown, { settings });
  }
  if (input.healthCheckNodePort !== 0)
    add('spec.healthCheckNodePort', input.healthCheckNodePort, { healthCheckNodePort: 0 });
  return [...fields].map(([text, without]) => ({ text, input: without }));
}

/** Each endpoint that gets traffic, with the input in which all endpoints are this one. */
export function* endpointFields(input: ServicePlanInput): Generator<InputField, void> {
  const seen = new Set<string>();
  for (const { family, clusterEndpoints, localEndpoints } of input.ports) {
    for (const endpoint of clusterEndpoints.with(localEndpoints)) {
      if (seen.has(endpoint)) continue;
      seen.add(endpoint);
      const text = `EndpointSlices of Service ${input.service}: endpoint ${endpoint}`;
      yield { text, input: withEndpoint(input, { [family]: AddressPorts.ofTexts(family, [endpoint]) }) };
    }
  }
}

/** The input in which all endpoints are one that no slice has. */
export function withOtherEndpoint(input: ServicePlanInput): ServicePlanInput {
  return withEndpoint(input, OTHER);
}

/** The unspecified addresses: no endpoint has them. */
const OTHER: PerFamily<AddressPorts | undefined> = {
  4: AddressPorts.ofTexts(4, ['0.0.0.0:1']),
  6: AddressPorts.ofTexts(6, ['[::]:1']),
};

/** @param endpoint the list with it; a family without one has no endpoints */
function withEndpoint(
  input: ServicePlanInput,
  endpoint: PerFamily<AddressPorts | undefined>,
): ServicePlanInput {
  const instead = (list: AddressPorts) =>
    (list.size > 0 && endpoint[list.family]) || AddressPorts.none(list.family);
  const ports = input.ports.map((port) => ({
    ...port,
    clusterEndpoints: instead(port.clusterEndpoints),
    localEndpoints: instead(port.localEndpoints),
  }));
  return { ...input, ports };
}

function withoutRange(port: ServicePort, range: string): ServicePort {
  const frontends = port.frontends.map((frontend) => ({
    ...frontend,
    sourceRanges: frontend.sourceRanges.filter((each) => each !== range),
  }));
  return { ...port, frontends };
}

function withoutFrontends(port: ServicePort, kind: FrontendKind, value: string | number): ServicePort {
  const frontends = port.frontends.filter((each) => each.kind !== kind || fieldValue(each) !== value);
  return { ...port, frontends };
}

/** The value of the field that names the frontend. */
function fieldValue({ kind, address, port }: Frontend): string | number {
  return kind === 'nodePort' ? port : address;
}
