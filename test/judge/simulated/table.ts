// What a simulated proxy programs for a state of the cluster: frontends with the endpoints of each kind of client. It shares no
// rule with the model of the verdict.
import type { ClusterState } from '../core/cluster.js';
import { frontendsOf, type Kind, keyOf, type ServiceFrontend } from '../core/frontends.js';
import type { EndpointSpec, ServiceSpec } from '../core/history.js';
import { podNamed } from '../core/world.js';
import type { Flaw } from './flaws.js';

/** A programmed frontend. */
export interface ProgrammedFrontend {
  readonly service: string;
  readonly kind: Kind;
  readonly key: string;
  /** Endpoints for clients in the cluster, and for those outside. */
  readonly inside: readonly string[];
  readonly outside: readonly string[];
  /** Endpoints whose UDP flows stay. */
  readonly flows: readonly string[];
  readonly ranges: boolean;
  readonly affinity: number;
  readonly keepsOutside: boolean;
  readonly family: 4 | 6;
}

/** The frontends by address, port and protocol. */
export function tableOf(state: ClusterState, flaw: Flaw | undefined): Map<string, ProgrammedFrontend> {
  const table = new Map<string, ProgrammedFrontend>();
  for (const [service, spec] of state.services) {
    const endpoints = state.endpoints.get(service) ?? [];
    for (const frontend of frontendsOf(service, spec)) {
      if (flaw === 'localhostMissing' && frontend.kind === 'localhost') continue;
      if (flaw === 'sctpMissing' && frontend.protocol === 'SCTP') continue;
      if (flaw === 'familyMissing' && frontend.family === 6 && spec.families.length > 1) continue;
      if (flaw === 'protocolMissing' && frontend.protocol === 'UDP' && spec.protocols.length > 1) continue;
      const programmed = programmedOf(frontend, spec, endpoints, state.zone, flaw);
      table.set(programmed.key, programmed);
    }
  }
  return table;
}

function programmedOf(
  frontend: ServiceFrontend,
  spec: ServiceSpec,
  endpoints: readonly EndpointSpec[],
  zone: string,
  flaw: Flaw | undefined,
): ProgrammedFrontend {
  const { service, kind, family } = frontend;
  if (kind === 'healthCheck') return healthCheck(frontend, endpoints, flaw);
  const isInternal = kind === 'clusterIP';
  const local =
    (isInternal ? spec.internalPolicy : spec.externalPolicy) === 'Local' && flaw !== 'localIgnored';
  const everywhere = select(endpoints, zone, flaw);
  const here = select(
    endpoints.filter(({ pod }) => podNamed(pod).node === 'node-a'),
    '',
    flaw,
  );
  return {
    ...{ service, kind, family },
    key: keyOf(frontend),
    inside: local && isInternal ? here : everywhere,
    outside: local ? here : everywhere,
    flows: endpoints
      .filter((e) => e.condition === 'ready' || e.condition === 'terminating')
      .map((e) => e.pod),
    ranges: spec.ranges && kind === 'loadBalancer' && flaw !== 'rangesIgnored',
    affinity: spec.affinity,
    keepsOutside: local,
  };
}

function healthCheck(
  frontend: ServiceFrontend,
  endpoints: readonly EndpointSpec[],
  flaw: Flaw | undefined,
): ProgrammedFrontend {
  const isLocal = ({ pod, condition }: EndpointSpec) =>
    condition === 'ready' && podNamed(pod).node === 'node-a';
  const answer = [endpoints.some(isLocal) || flaw === 'alwaysHealthy' ? 'status 200' : 'status 503'];
  const { service, kind, family } = frontend;
  const none = { flows: [], ranges: false, affinity: 0, keepsOutside: false };
  return { service, kind, family, key: keyOf(frontend), inside: answer, outside: answer, ...none };
}

/** The endpoints that new connections reach, in their order. */
function select(endpoints: readonly EndpointSpec[], zone: string, flaw: Flaw | undefined): string[] {
  const pods: string[] = [];
  const last: string[] = [];
  const near: string[] = [];
  let unhinted = false;
  for (const { pod, condition, hint } of endpoints) {
    if (flaw === 'notReadyChosen') pods.push(pod);
    else if (condition === 'ready') {
      pods.push(pod);
      if (hint === undefined) unhinted = true;
      else if (hint === zone) near.push(pod);
    } else if (condition === 'terminating') {
      if (flaw === 'terminatingChosen') pods.push(pod);
      else last.push(pod);
    }
  }
  if (!unhinted && near.length > 0 && flaw !== 'hintsIgnored') return near;
  return pods.length > 0 ? pods : last;
}
