// What Kubernetes promises about a connection in one state of the cluster.
import type { ClusterState } from './cluster.js';
import { frontendsByKey, keyOf, type ServiceFrontend, type Target, targetKey } from './frontends.js';
import type { EndpointSpec, ServiceSpec } from './history.js';
import type { Bounds } from './rules.js';
import { podNamed } from './world.js';

/** The promise for a target. */
export interface ConnectionPromise {
  /** The Service that has the address; undefined if there is none. */
  readonly service: string | undefined;
  readonly kind: ServiceFrontend['kind'] | undefined;
  /** Pods that may answer a new connection. */
  readonly may: ReadonlySet<string>;
  /** Those of `may` from which a proxy chooses whatever of several permitted behaviours it has. */
  readonly always: ReadonlySet<string>;
  /** Pods that may still answer a connection or a UDP stream that reached them before. */
  readonly serving: ReadonlySet<string>;
  /** All pods of the Service's slices. */
  readonly present: ReadonlySet<string>;
  /** Whether all of `may` can be chosen, and not some or others of them. */
  readonly certain: boolean;
  /** Whether a new connection must be answered. */
  readonly answers: boolean;
  /** Whether a new connection must be refused at once, because the Service has no endpoint. */
  readonly refuses: boolean;
  /** Whether the source ranges exclude the client. */
  readonly excluded: boolean;
  /** Whether the pod must see the client's address. */
  readonly keepsSource: boolean;
  /** Timeout of session affinity, in s; 0 for none. */
  readonly affinity: number;
}

/** What a health-check node port answers, in the place of a pod: 200 or 503. */
export const HEALTHY = 'status 200';
export const UNHEALTHY = 'status 503';

const NOBODY: ReadonlySet<string> = new Set();
const NOTHING: ConnectionPromise = {
  ...{ service: undefined, kind: undefined, may: NOBODY, always: NOBODY, serving: NOBODY, present: NOBODY },
  ...{ certain: true, answers: false, refuses: false, excluded: false, keepsSource: false, affinity: 0 },
};

const PROMISES = new WeakMap<ClusterState, Map<string, ConnectionPromise>>();

/** What depends on the mode of the proxy. */
type Mode = Pick<Bounds, 'ipvs'>;

/** The promise for a target in a state. */
export function promiseOf(state: ClusterState, target: Target, mode: Mode): ConnectionPromise {
  let known = PROMISES.get(state);
  if (!known) {
    known = new Map();
    PROMISES.set(state, known);
  }
  const key = `${targetKey(target)} ${mode.ipvs}`;
  let promise = known.get(key);
  if (!promise) {
    promise = computePromise(state, target, mode);
    known.set(key, promise);
  }
  return promise;
}

function computePromise(state: ClusterState, target: Target, mode: Mode): ConnectionPromise {
  const frontend = frontendsByKey(state).get(keyOf(target));
  const spec = frontend && state.services.get(frontend.service);
  if (!frontend || !spec) return NOTHING;
  const endpoints = state.endpoints.get(frontend.service) ?? NO_ENDPOINTS;
  return promiseFrom(frontend, spec, chosenEndpoints(endpoints, state.zone), target, mode);
}

/**
 * The promises for a target if a proxy has the Services of one of these states, the slices of another, and the node of a third:
 * they come over separate watches, without an order between them.
 */
export function mixedPromises(
  states: readonly ClusterState[],
  target: Target,
  mode: Mode,
): ConnectionPromise[] {
  const key = keyOf(target);
  const zones = new Set(states.map(({ zone }) => zone));
  const owners = new Map<ServiceSpec | undefined, ServiceFrontend | undefined>();
  for (const state of states) {
    const frontend = frontendsByKey(state).get(key);
    owners.set(frontend && state.services.get(frontend.service), frontend);
  }
  return [...owners].flatMap(([spec, frontend]) => {
    if (!spec || !frontend) return [NOTHING];
    const lists = new Set(states.map(({ endpoints }) => endpoints.get(frontend.service) ?? NO_ENDPOINTS));
    return [...lists].flatMap((list) =>
      [...zones].map((zone) => promiseFrom(frontend, spec, chosenEndpoints(list, zone), target, mode)),
    );
  });
}

const NO_ENDPOINTS: readonly EndpointSpec[] = [];

function promiseFrom(
  frontend: ServiceFrontend,
  spec: ServiceSpec,
  chosen: ChosenEndpoints,
  target: Target,
  mode: Mode,
): ConnectionPromise {
  const { endpoints, cluster } = chosen;
  const excluded = excludes(spec, frontend, target);
  const { kind } = frontend;
  const { may, always, answers, certain } = choicesOf(frontend, spec, chosen, target, mode);
  // The node's own packets to a load balancer with source ranges: modes and versions differ.
  const uncertain = spec.ranges && kind === 'loadBalancer' && target.client === 'node';
  return {
    service: frontend.service,
    kind,
    may: excluded ? NOBODY : new Set(may),
    always: excluded ? NOBODY : new Set(always),
    serving: new Set(endpoints.filter(isServing).map(({ pod }) => pod)),
    present: new Set(endpoints.map(({ pod }) => pod)),
    certain,
    answers: answers && !excluded && !uncertain,
    // The kernel takes no message of ICMP for a refusal of SCTP.
    refuses:
      kind === 'clusterIP' &&
      target.protocol !== 'SCTP' &&
      spec.internalPolicy === 'Cluster' &&
      cluster.length === 0,
    excluded,
    keepsSource: keepsSource(spec, frontend, target),
    affinity: kind === 'healthCheck' ? 0 : spec.affinity,
  };
}

/** The pods that may be chosen for a target, and how much of that is certain. */
interface Choices extends Pick<ConnectionPromise, 'answers' | 'certain'> {
  readonly may: readonly string[];
  readonly always: readonly string[];
}

function choicesOf(
  { kind }: ServiceFrontend,
  { internalPolicy, externalPolicy }: ServiceSpec,
  { cluster, local, healthy }: ChosenEndpoints,
  { client }: Target,
  { ipvs = false }: Mode,
): Choices {
  if (kind === 'healthCheck') return onlyOf([healthy ? HEALTHY : UNHEALTHY]);
  const isInside = client === 'pod' || client === 'node';
  const policy = kind === 'clusterIP' ? internalPolicy : externalPolicy;
  if (policy === 'Cluster') return onlyOf(cluster);
  // Modes differ in whether clients in the cluster reach endpoints of other nodes with the external policy Local.
  const isUncertain = kind === 'clusterIP' ? ipvs && local.length === 0 : isInside;
  if (!isUncertain) return onlyOf(local);
  const always = cluster.filter((pod) => local.includes(pod));
  return { may: [...cluster, ...local], always, answers: local.length > 0, certain: false };
}

function onlyOf(pods: readonly string[]): Choices {
  return { may: pods, always: pods, answers: pods.length > 0, certain: true };
}

/** The endpoints of a Service, and the pods that a proxy chooses from, of the whole cluster and of its node. */
interface ChosenEndpoints {
  readonly endpoints: readonly EndpointSpec[];
  readonly cluster: readonly string[];
  readonly local: readonly string[];
  /** Whether the node has a ready endpoint. */
  readonly healthy: boolean;
}

/** Terminating pods are chosen only if none is ready, and hints only if every ready pod has one and one is for the node's zone. */
function chosenEndpoints(endpoints: readonly EndpointSpec[], zone: string): ChosenEndpoints {
  const ready = endpoints.filter(({ condition }) => condition === 'ready');
  const draining = endpoints.filter(({ condition }) => condition === 'terminating');
  const hinted = ready.filter(({ hint }) => hint === zone);
  const hintsCount = zone !== '' && hinted.length > 0 && ready.every(({ hint }) => hint !== undefined);
  const here = ({ pod }: EndpointSpec) => podNamed(pod).node === 'node-a';
  const names = (list: readonly EndpointSpec[]) => list.map(({ pod }) => pod);
  const localReady = ready.filter(here);
  return {
    endpoints,
    cluster: names(ready.length === 0 ? draining : hintsCount ? hinted : ready),
    local: names(localReady.length > 0 ? localReady : draining.filter(here)),
    healthy: localReady.length > 0,
  };
}

function isServing({ condition }: EndpointSpec): boolean {
  return condition === 'ready' || condition === 'terminating';
}

function excludes(spec: ServiceSpec, { kind }: ServiceFrontend, { client }: Target): boolean {
  return spec.ranges && kind === 'loadBalancer' && (client === 'stranger' || client === 'pod');
}

function keepsSource(spec: ServiceSpec, { kind }: ServiceFrontend, { client }: Target): boolean {
  if (client === 'node') return false;
  if (kind === 'clusterIP') return true;
  return spec.externalPolicy === 'Local' && client !== 'pod';
}
