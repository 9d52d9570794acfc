// The clients, connections and endpoints of the simulation. Pure.
import type { SchedulerName } from './schedulers.js';

/** What clients do. */
export const TRAFFIC = [
  { name: 'short', title: 'short connections, a request each' },
  { name: 'long', title: 'long connections' },
  { name: 'rollout', title: 'long connections, after all endpoints were replaced' },
] as const;
export type TrafficName = (typeof TRAFFIC)[number]['name'];

/** How fast endpoints are: the speed of each, by its place. 1 is the speed of a fast one. */
export const SPEEDS = [
  { name: 'equal', title: 'all equal', speedAt: (): number => 1 },
  { name: 'half', title: 'every second at half', speedAt: (place: number) => (place % 2 === 0 ? 1 : 0.5) },
  { name: 'slow', title: 'one at a quarter', speedAt: (place: number) => (place === 0 ? 0.25 : 1) },
] as const;
export type SpeedName = (typeof SPEEDS)[number]['name'];

/** The weight of an endpoint with speed 1, if weights follow the speed. */
const FULL_WEIGHT = 4;

/** A scheduler with its settings. */
export interface Variant {
  readonly name: string;
  readonly scheduler: SchedulerName;
  /** Whether weights follow the speed of the endpoints; otherwise all are 1. */
  readonly weighted?: true;
  /** Whether mh hashes the port of the client too, which is its setting in kube-proxy. */
  readonly byPort?: true;
}

export const VARIANTS: readonly Variant[] = [
  { name: 'rr', scheduler: 'rr' },
  { name: 'lc', scheduler: 'lc' },
  { name: 'sed', scheduler: 'sed' },
  { name: 'sed+weights', scheduler: 'sed', weighted: true },
  { name: 'mh', scheduler: 'mh', byPort: true },
  { name: 'mh+weights', scheduler: 'mh', byPort: true, weighted: true },
  { name: 'mh-address', scheduler: 'mh' },
];

/** One simulation. */
export interface Case {
  readonly traffic: TrafficName;
  readonly speeds: SpeedName;
  readonly nodes: number;
  readonly variant: Variant;
}

/** What all simulations of a run have in common. */
export interface Surroundings {
  readonly endpoints: number;
  /** Clients of the whole cluster. Each is on a node, and opens as many connections as any other. */
  readonly clients: number;
  /** New short connections of the whole cluster, per second. */
  readonly rate: number;
  /** Long connections that are open in the whole cluster. */
  readonly open: number;
  /** The order of the real servers: the same on all nodes, or one of its own on each. */
  readonly order: 'equal' | 'random';
  readonly seed: number;
}

/** Times of a simulation, in s. */
export interface Schedule {
  /** Mean duration of a connection to an endpoint with speed 1. */
  readonly duration: number;
  /** New connections, per second. */
  readonly rate: number;
  /** Connections that are open at the start. */
  readonly open: number;
  /** When the endpoints are replaced, one every {@link REPLACEMENT_SECONDS}; never, or at this time. */
  readonly rollout: number | undefined;
  /** The first and the last measurement, and the time between two. */
  readonly from: number;
  readonly until: number;
  readonly every: number;
}

/** Mean duration of connections, in s. */
export const SHORT_SECONDS = 0.2;
export const LONG_SECONDS = 600;

/** Time for which IPVS keeps a TCP connection that has ended: TIME_WAIT of ip_vs_proto_tcp.c, in s. */
export const KEPT_SECONDS = 120;

/** Time from one replaced endpoint to the next, in s. */
export const REPLACEMENT_SECONDS = 30;

/** The times of the simulations: those of short connections begin when as many have ended as IPVS then keeps. */
export function scheduleOf(traffic: TrafficName, { endpoints, rate, open }: Surroundings): Schedule {
  if (traffic === 'short') {
    const from = KEPT_SECONDS + 10;
    return { duration: SHORT_SECONDS, rate, open: 0, rollout: undefined, from, until: from + 30, every: 0.1 };
  }
  const long = { duration: LONG_SECONDS, rate: open / LONG_SECONDS, open };
  const steady = 3 * LONG_SECONDS;
  if (traffic === 'long') return { ...long, rollout: undefined, from: steady, until: 2 * steady, every: 10 };
  const end = steady + endpoints * REPLACEMENT_SECONDS;
  return { ...long, rollout: steady, from: end, until: end + 60, every: 10 };
}

/** The speed of an endpoint by its place. */
export function speedOf(speeds: SpeedName, place: number): number {
  const found = SPEEDS.find(({ name }) => name === speeds);
  if (found === undefined) throw new Error(`there are no speeds ${speeds}`);
  return found.speedAt(place);
}

/** The weight of an endpoint with a speed: a whole number. */
export function weightOf({ weighted }: Variant, speed: number): number {
  return weighted === true ? Math.max(1, Math.round(speed * FULL_WEIGHT)) : 1;
}
