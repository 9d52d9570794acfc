// Weights of endpoints in the modes whose rules select them at random. Pure.
import type { AddressPorts } from '../../../../kernel/net/addressPorts.js';
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
