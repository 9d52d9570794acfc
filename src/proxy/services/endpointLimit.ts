// Limits the frontends × endpoints of a Service before any pair is made: both are lists of a tenant. Pure.

import { frontendCount } from '../objects/frontendCount.js';
import type { EndpointSlice, Service } from '../objects/types.js';
import { keyOf } from './endpoints.js';
import { frontendsOf } from './frontends.js';
import type { EndpointExcess } from './types.js';

/**
 * Maximum number of pairs of a frontend and an endpoint of its port in one Service. Where the frontends of a port share its
 * endpoints: of a port and an endpoint.
 */
export const MOST_PAIRS = 500_000;

/** The slices that a plan may use. */
export interface LimitedSlices {
  readonly slices: readonly EndpointSlice[];
  /** Absent: the slices are all those of the Service, as they are. */
  readonly beyond?: EndpointExcess;
}

/** Whether a Service has no more than {@link MOST_PAIRS}, as far as this is certain without a look at its ports: nearly always. */
export function isWithinLimit(service: Service, slices: readonly EndpointSlice[]): boolean {
  let endpoints = 0;
  for (const slice of slices) endpoints += slice.endpoints.size;
  return endpoints * frontendCount(service) <= MOST_PAIRS;
}

/**
 * The slices of a Service, without the endpoints with which it would have more than {@link MOST_PAIRS}. Those that remain are the
 * first ones, by the names of slices and then by address, so that all nodes have the same ones.
 *
 * @param isShared whether the frontends of a port share its endpoints; otherwise each has its own
 */
export function limitSlices(
  service: Service,
  slices: readonly EndpointSlice[],
  isShared: boolean,
): LimitedSlices {
  const frontends = frontendsByPort(service, isShared);
  const pairs = new Map<EndpointSlice, number>();
  let sum = 0;
  for (const slice of slices) {
    const own = pairsOfEndpoint(slice, frontends);
    pairs.set(slice, own);
    sum += own * slice.endpoints.size;
  }
  if (sum <= MOST_PAIRS) return { slices };
  const limited = first(slices, (slice) => pairs.get(slice) ?? 0);
  const counted = isShared ? 'ports' : 'frontends';
  return { slices: limited.slices, beyond: { counted, pairs: sum, unused: limited.unused } };
}

/** Number of the frontends of each port, by the key of slices; 1 where they share their endpoints. */
function frontendsByPort(service: Service, isShared: boolean): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { family, port, frontends } of frontendsOf(service)) {
    const key = keyOf({ family, name: port.name, protocol: port.protocol });
    let number = found.get(key) ?? 0;
    if (isShared) number++;
    else for (const _ of frontends) number++;
    found.set(key, number);
  }
  return found;
}

/** Number of the pairs that each endpoint of a slice makes. */
function pairsOfEndpoint({ family, ports }: EndpointSlice, frontends: ReadonlyMap<string, number>): number {
  let pairs = 0;
  for (const { name, protocol } of ports) {
    pairs += frontends.get(keyOf({ family, name, protocol })) ?? 0;
  }
  return pairs;
}

/** The first endpoints that make at most {@link MOST_PAIRS}. */
function first(
  slices: readonly EndpointSlice[],
  pairsOf: (slice: EndpointSlice) => number,
): { readonly slices: readonly EndpointSlice[]; readonly unused: number } {
  const sorted = [...slices].sort((a, b) => (a.name < b.name ? -1 : 1));
  let left = MOST_PAIRS;
  let unused = 0;
  const used = sorted.map((slice) => {
    const own = pairsOf(slice);
    const { size } = slice.endpoints;
    const count = own === 0 ? size : Math.min(size, Math.floor(left / own));
    left -= count * own;
    unused += size - count;
    return count === size ? slice : { ...slice, endpoints: slice.endpoints.first(count) };
  });
  return { slices: used, unused };
}
