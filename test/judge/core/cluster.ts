// The state of a cluster, and what an event makes of it. States are never changed.
import type { EndpointSpec, Event, ServiceSpec } from './history.js';
import type { Zone } from './world.js';

/** The objects at one time. */
export interface ClusterState {
  readonly services: ReadonlyMap<string, ServiceSpec>;
  /** Endpoints by name of the Service; they may exist without it, and an empty list differs from none. */
  readonly endpoints: ReadonlyMap<string, readonly EndpointSpec[]>;
  /** The zone of node-a; empty without the label. */
  readonly zone: Zone | '';
}

/** A cluster with a node in zone-1, and no Service. */
export const EMPTY_CLUSTER: ClusterState = { services: new Map(), endpoints: new Map(), zone: 'zone-1' };

/**
 * The state after an event. An API server refuses some events, which then change nothing: a Service whose addresses another
 * has, and the deletion of what does not exist. A Service keeps its number.
 */
export function stateAfter(state: ClusterState, event: Event): ClusterState {
  switch (event.do) {
    case 'setService': {
      const number = state.services.get(event.service)?.number ?? event.spec.number;
      const taken = [...state.services].some(
        ([name, other]) => name !== event.service && other.number === number,
      );
      if (taken) return state;
      return { ...state, services: added(state.services, event.service, { ...event.spec, number }) };
    }
    case 'deleteService':
      if (!state.services.has(event.service)) return state;
      return { ...state, services: without(state.services, event.service) };
    case 'setEndpoints':
      return { ...state, endpoints: added(state.endpoints, event.service, event.endpoints) };
    case 'deleteEndpoints':
      if (!state.endpoints.has(event.service)) return state;
      return { ...state, endpoints: without(state.endpoints, event.service) };
    case 'setNode':
      return state.zone === event.zone ? state : { ...state, zone: event.zone };
    case 'fault':
      return state;
  }
}

function added<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
