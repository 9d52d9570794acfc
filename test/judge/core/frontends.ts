// The addresses and ports at which Services can be reached, and the connections that clients open to them.
import type { ClusterState } from './cluster.js';
import type { Protocol, ServiceSpec } from './history.js';
import { addressIn, CLIENTS, type ClientName, type Family, JUDGED_NODE, SERVICE_PORT } from './world.js';

/** Kinds of addresses. `localhost` is a node port at 127.0.0.1; `healthCheck` is the health-check node port, which the proxy answers itself. */
export const KINDS = [
  'clusterIP',
  'nodePort',
  'externalIP',
  'loadBalancer',
  'localhost',
  'healthCheck',
] as const;
export type Kind = (typeof KINDS)[number];

/** What clients dial only where it exists. Defaults: false. */
export interface Dials {
  /** Node ports at 127.0.0.1: kube-proxy serves them in iptables mode. */
  readonly localhost?: boolean;
  /** Service ports with SCTP: not every kernel has it. */
  readonly sctp?: boolean;
}

/** An address, port and protocol of a Service. */
export interface ServiceFrontend {
  readonly service: string;
  readonly kind: Kind;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
}

/** A frontend as a client dials it. */
export interface Target extends Omit<ServiceFrontend, 'service'> {
  readonly client: ClientName;
}

/** Networks of the virtual IPs, which all places must route to node-a. */
export const VIRTUAL_NETWORKS: Readonly<Record<Family, readonly string[]>> = {
  4: ['10.96.30.0/24', '203.0.113.0/24'],
  6: ['fd00:10:96::/64', '2001:db8:113::/48'],
};

/** The address of a kind for a Service's number. */
export function addressOf(kind: Kind, number: number, family: Family): string {
  if (kind === 'localhost') return '127.0.0.1';
  if (kind === 'nodePort' || kind === 'healthCheck') return addressIn(JUDGED_NODE, family);
  if (kind === 'clusterIP') return family === 4 ? `10.96.30.${number}` : `fd00:10:96::${number.toString(16)}`;
  const last = (kind === 'externalIP' ? 0 : 100) + number;
  return family === 4 ? `203.0.113.${last}` : `2001:db8:113::${last.toString(16)}`;
}

/** The node port for a Service's number. */
export function nodePortOf(number: number): number {
  return 30_000 + number;
}

/** The health-check node port for a Service's number. */
export function healthPortOf(number: number): number {
  return 31_000 + number;
}

/** Whether a Service has frontends of a kind. */
function hasKind(spec: ServiceSpec, kind: Kind): boolean {
  if (kind === 'healthCheck') return spec.loadBalancer && spec.externalPolicy === 'Local';
  return kind === 'clusterIP' || spec[kind === 'localhost' ? 'nodePort' : kind];
}

/** All frontends of a Service. */
export function frontendsOf(service: string, spec: ServiceSpec): ServiceFrontend[] {
  return KINDS.filter((kind) => hasKind(spec, kind)).flatMap((kind) => {
    const families = spec.families.filter((family) => kind !== 'localhost' || family === 4);
    const protocols = kind === 'healthCheck' ? (['TCP'] as const) : spec.protocols;
    return families.flatMap((family) =>
      protocols.map((protocol) => ({
        ...{ service, kind, family, protocol },
        address: addressOf(kind, spec.number, family),
        port: portOf(kind, spec.number),
      })),
    );
  });
}

function portOf(kind: Kind, number: number): number {
  if (kind === 'healthCheck') return healthPortOf(number);
  return kind === 'nodePort' || kind === 'localhost' ? nodePortOf(number) : SERVICE_PORT;
}

/** The name of an address, port and protocol: `10.96.30.1 80 TCP`. */
export function keyOf({ address, port, protocol }: Pick<ServiceFrontend, 'address' | 'port' | 'protocol'>) {
  return `${address} ${port} ${protocol}`;
}

const FRONTENDS = new WeakMap<ClusterState, ReadonlyMap<string, ServiceFrontend>>();

/** The frontends of a state by {@link keyOf}. */
export function frontendsByKey(state: ClusterState): ReadonlyMap<string, ServiceFrontend> {
  let found = FRONTENDS.get(state);
  if (!found) {
    const all = [...state.services].flatMap(([service, spec]) => frontendsOf(service, spec));
    found = new Map(all.map((frontend) => [keyOf(frontend), frontend]));
    FRONTENDS.set(state, found);
  }
  return found;
}

/** The clients that dial a kind of address: cluster IPs are promised inside of the cluster alone. */
export function clientsOf(kind: Kind): readonly ClientName[] {
  if (kind === 'localhost') return ['node'];
  if (kind === 'healthCheck') return ['node', 'outside'];
  return kind === 'clusterIP' ? ['pod', 'node'] : CLIENTS;
}

const TARGETS = new WeakMap<ClusterState, readonly Target[]>();

/** What clients dial in a state. */
export function targetsOf(state: ClusterState, { localhost, sctp }: Dials): readonly Target[] {
  let targets = TARGETS.get(state);
  if (!targets) {
    targets = [...frontendsByKey(state).values()].flatMap(({ service: _, ...frontend }) =>
      clientsOf(frontend.kind).map((client) => ({ client, ...frontend })),
    );
    TARGETS.set(state, targets);
  }
  return targets.filter(
    ({ kind, protocol }) => (kind !== 'localhost' || localhost) && (protocol !== 'SCTP' || sctp),
  );
}

/** Whether clients keep a connection or a stream to a target. */
export function isKept({ kind, protocol }: Target): boolean {
  return kind !== 'healthCheck' && protocol !== 'SCTP';
}

/** The connections that session affinity binds together. The node sends to 127.0.0.1 from there, and from other addresses to all others. */
export function affinityKey(service: string | undefined, { client, kind, family, protocol }: Target): string {
  return `${kind === 'localhost' ? kind : client} ${service} ${family} ${protocol}`;
}

/** The longest affinity whose end a history is long enough for, in s, and the number of times that it ends in the quiet time of one. */
const SHORT_AFFINITY = 10;
const ENDS = 8;

/** Connections of a client that affinity with a short timeout leads to one endpoint. */
export interface AffinityGroup {
  readonly name: string;
  /** In ms. */
  readonly timeout: number;
}

/** The group of a target; undefined without affinity, or if it outlasts the history. */
export function affinityGroupOf(state: ClusterState, target: Target): AffinityGroup | undefined {
  const service = frontendsByKey(state).get(keyOf(target))?.service;
  const affinity = (service !== undefined && state.services.get(service)?.affinity) || 0;
  if (affinity === 0 || affinity > SHORT_AFFINITY || target.kind === 'healthCheck') return undefined;
  return { name: affinityKey(service, target), timeout: 1000 * affinity };
}

/** The time of traffic after the last event, in ms: long enough that affinity ends several times. */
export function quietFor({ services }: ClusterState, least: number): number {
  const short = [...services.values()].map(({ affinity }) => (affinity > SHORT_AFFINITY ? 0 : affinity));
  return Math.max(least, ...short.map((affinity) => 1000 * ENDS * affinity));
}

/**
 * The pauses of clients between the connections of groups: in turn a shorter and a longer time than the timeout, so that clients see
 * both that affinity holds and that it ends.
 */
export class AffinityPauses {
  readonly #next = new Map<string, { readonly from: number; readonly long: boolean }>();

  /** Whether a client may open a connection of the group at a time, in ms; then it does. */
  opens({ name, timeout }: AffinityGroup, now: number): boolean {
    const next = this.#next.get(name);
    if (next && now < next.from) return false;
    const long = !next?.long;
    this.#next.set(name, { from: now + timeout * (long ? 1.5 : 0.3), long });
    return true;
  }
}

const TARGET_KEYS = new WeakMap<Target, string>();

/** The name of a target: `pod 10.96.30.1 80 TCP`. */
export function targetKey(target: Target): string {
  let key = TARGET_KEYS.get(target);
  if (key === undefined) {
    key = `${target.client} ${keyOf(target)}`;
    TARGET_KEYS.set(target, key);
  }
  return key;
}
