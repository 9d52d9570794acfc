// Histories from seeds: Services of every kind, rollouts with termination, changes of the node, and faults.
import { type ClusterState, EMPTY_CLUSTER, stateAfter } from './cluster.js';
import type { Condition, EndpointSpec, Event, FaultName, History, ServiceSpec, Step } from './history.js';
import { below, oneOf, type Random, randomOf } from './random.js';
import { PODS, ZONES } from './world.js';

/** What histories are made of. */
export interface Kinds {
  /** Events of a history. */
  readonly steps: number;
  /** The longest time between two events, in ms. */
  readonly pause: number;
  /** Faults that may happen; none if empty. */
  readonly faults: readonly FaultName[];
  /** The longest time of a fault, in ms. */
  readonly faultTime: number;
}

const NAMES = ['alpha', 'beta', 'gamma'] as const;
/** Timeouts of session affinity, in s: one that outlasts a history, and the shortest one. */
const AFFINITIES = [10_800, 1] as const;

/** The history of a seed. Its first steps create a Service with endpoints. */
export function generateHistory(seed: number, kinds: Kinds): History {
  const random = randomOf(seed);
  const steps: Step[] = [];
  let state = EMPTY_CLUSTER;
  const add = (event: Event) => {
    // Some events come at once after others: changes are merged, and races happen.
    const after = random() < 0.2 ? 0 : below(random, kinds.pause);
    steps.push({ after, event });
    state = stateAfter(state, event);
  };
  const first = oneOf(random, NAMES);
  add(newService(random, state, first));
  add({ do: 'setEndpoints', service: first, endpoints: newEndpoints(random) });
  while (steps.length < kinds.steps) add(nextEvent(random, state, kinds));
  return { seed, steps };
}

function nextEvent(random: Random, state: ClusterState, kinds: Kinds): Event {
  const dice = random();
  const service = oneOf(random, NAMES);
  if (kinds.faults.length > 0 && dice < 0.12) {
    return { do: 'fault', fault: oneOf(random, kinds.faults), lasts: below(random, kinds.faultTime) };
  }
  if (dice < 0.16) return { do: 'setNode', zone: random() < 0.2 ? '' : oneOf(random, ZONES) };
  if (dice < 0.21) return { do: 'deleteService', service };
  if (dice < 0.24) return { do: 'deleteEndpoints', service };
  if (dice < 0.42) return newService(random, state, service);
  const endpoints = state.endpoints.get(service);
  if (!endpoints || random() < 0.15) return { do: 'setEndpoints', service, endpoints: newEndpoints(random) };
  return { do: 'setEndpoints', service, endpoints: nextEndpoints(random, endpoints) };
}

/** A new Service, or another form of an existing one, which keeps most of its fields. */
function newService(random: Random, state: ClusterState, service: string): Event {
  const old = state.services.get(service);
  const fresh = newSpec(random, old?.number ?? freeNumber(random, state));
  if (!old || random() < 0.3) return { do: 'setService', service, spec: fresh };
  const field = oneOf(random, Object.keys(old) as (keyof ServiceSpec)[]);
  return { do: 'setService', service, spec: { ...old, [field]: fresh[field], number: old.number } };
}

function newSpec(random: Random, number: number): ServiceSpec {
  const chance = (part: number) => random() < part;
  const policy = (part: number) => (chance(part) ? 'Local' : 'Cluster');
  const loadBalancer = chance(0.5);
  const both = chance(0.7);
  return {
    number,
    families: both ? [4, 6] : [chance(0.5) ? 4 : 6],
    protocols: chance(0.6) ? ['TCP', 'UDP'] : [oneOf(random, ['TCP', 'UDP', 'SCTP'] as const)],
    nodePort: loadBalancer || chance(0.4),
    externalIP: chance(0.3),
    loadBalancer,
    internalPolicy: policy(0.15),
    externalPolicy: policy(0.3),
    affinity: chance(0.3) ? oneOf(random, AFFINITIES) : 0,
    ranges: loadBalancer && chance(0.3),
  };
}

/** A number that no Service has. Few numbers: addresses move from one Service to another. */
function freeNumber(random: Random, { services }: ClusterState): number {
  const taken = [...services.values()].map(({ number }) => number);
  return oneOf(
    random,
    [1, 2, 3, 4, 5].filter((number) => !taken.includes(number)),
  );
}

function newEndpoints(random: Random): EndpointSpec[] {
  const hinted = random() < 0.2;
  return PODS.filter(() => random() < 0.6).map(({ name }) => {
    return { pod: name, condition: 'ready' as const, ...(hinted ? { hint: oneOf(random, ZONES) } : {}) };
  });
}

/** What a condition becomes in a rollout; an endpoint that has ended leaves. */
const NEXT: Readonly<Record<Condition, readonly (Condition | 'left')[]>> = {
  notReady: ['ready'],
  ready: ['terminating', 'terminating', 'notReady', 'left'],
  terminating: ['ended', 'left'],
  ended: ['left'],
};

/** A step of a rollout: one endpoint changes, or another comes. */
function nextEndpoints(random: Random, endpoints: readonly EndpointSpec[]): EndpointSpec[] {
  const others = PODS.filter(({ name }) => !endpoints.some(({ pod }) => pod === name));
  if (others.length > 0 && (endpoints.length === 0 || random() < 0.45)) {
    const condition = random() < 0.3 ? 'notReady' : 'ready';
    return [...endpoints, { pod: oneOf(random, others).name, condition }];
  }
  const changed = below(random, endpoints.length);
  return endpoints.flatMap((endpoint, i) => {
    if (i !== changed) return [endpoint];
    const next = oneOf(random, NEXT[endpoint.condition]);
    return next === 'left' ? [] : [{ ...endpoint, condition: next }];
  });
}
