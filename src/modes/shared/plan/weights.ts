// Weights of endpoints in the modes whose rules select them at random. Pure.
import type { AddressPorts } from '../../../net/addressPorts.js';
import { categorizeEndpoints, type NodeTopology } from '../../../services/categorizeEndpoints.js';
import type { EndpointList } from '../../../services/endpointList.js';
import type { ServicePort } from '../../../services/types.js';

/**
 * The port without the endpoints that have weight 0, which get no new connections: its policies select among the others, as if those were
 * not ready. Their connections need no rule. The port itself if none has weight 0.
 */
export function withoutWeightZero(port: ServicePort, node: NodeTopology): ServicePort {
  const endpoints = port.endpoints.withoutWeightZero;
  if (endpoints === port.endpoints) return port;
  const uses = { cluster: port.clusterEndpoints.size > 0, local: port.localEndpoints.size > 0 };
  return { ...port, endpoints, ...categorizeEndpoints(endpoints, uses, node) };
}

/**
 * The weights of some endpoints, in the order of the list, divided by their greatest common divisor. Undefined if all are equal: then
 * nothing differs from a Service without weights.
 *
 * @param list some of the endpoints; none has weight 0
 */
export function weightsOf(list: AddressPorts, endpoints: EndpointList): readonly number[] | undefined {
  if (!endpoints.isWeighted) return undefined;
  const weights: number[] = [];
  for (let index = 0; index < list.size; index++)
    weights.push(endpoints.weightAt(endpoints.addressPorts.indexOf(list, index)));
  return reduced(weights);
}

/** Endpoints of a Service port with other weights have at most so many slots, or four for each endpoint, if that is more. */
const MOST_SLOTS = 1024;
const SLOTS_OF_ENDPOINT = 4;

/**
 * The number of slots of each endpoint in the map from which a random number selects one: its weight, or less in proportion if there
 * were too many slots, but at least 1. Undefined if all have the same number.
 *
 * @param weights see {@link weightsOf}
 */
export function slotsOf(weights: readonly number[] | undefined): readonly number[] | undefined {
  if (!weights) return undefined;
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const most = Math.max(MOST_SLOTS, SLOTS_OF_ENDPOINT * weights.length);
  if (sum <= most) return weights;
  // Rounding adds less than one slot for each endpoint.
  const scale = (most - weights.length) / sum;
  return reduced(weights.map((weight) => Math.max(1, Math.round(weight * scale))));
}

/** The numbers divided by their greatest common divisor; undefined if all are equal. */
export function reduced(numbers: readonly number[]): readonly number[] | undefined {
  const divisor = numbers.reduce(greatestCommonDivisor, 0);
  if (numbers.every((number) => number === divisor)) return undefined;
  return divisor === 1 ? numbers : numbers.map((number) => number / divisor);
}

function greatestCommonDivisor(a: number, b: number): number {
  let [divisor, rest] = [a, b];
  while (rest > 0) [divisor, rest] = [rest, divisor % rest];
  return divisor;
}
