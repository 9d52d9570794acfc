// The weights of the endpoints of a slice: that of the slice, times those of their zones. Pure.
import type { SliceEndpoints } from '../../objects/sliceEndpoints.js';
import { DEFAULT_WEIGHT } from '../endpointList.js';
import type { ZoneWeights } from './types.js';

/** The words that stand for zones. A zone of this name cannot be named. */
const SAME = 'same';
const OTHER = 'other';

/**
 * The weight of each endpoint of a slice, in order, or of all if they are equal; undefined if nothing gives them a weight.
 *
 * @param ofSlice the weight of the slice; undefined: it has none
 * @param ofZones the weights of zones; undefined: there are none
 * @param nodeZone the zone of this node; empty if it is unknown: then no zone is `same`
 */
export function weightsInZones(
  { zones }: Pick<SliceEndpoints, 'zones'>,
  ofSlice: number | undefined,
  ofZones: ZoneWeights | undefined,
  nodeZone: string,
): number | readonly number[] | undefined {
  if (!ofZones) return ofSlice;
  const weightOf = (zone: string) => (ofSlice ?? DEFAULT_WEIGHT) * weightOfZone(zone, ofZones, nodeZone);
  if (!zones) return weightOf('');
  const weights = zones.map(weightOf);
  const [first] = weights;
  return weights.every((weight) => weight === first) ? first : weights;
}

function weightOfZone(zone: string, weights: ZoneWeights, nodeZone: string): number {
  const named = zone === SAME || zone === OTHER ? undefined : weights.get(zone);
  const same = zone !== '' && zone === nodeZone ? weights.get(SAME) : undefined;
  return named ?? same ?? weights.get(OTHER) ?? DEFAULT_WEIGHT;
}

/** Whether the weights depend on the zone of the node. */
export function dependOnNodeZone(weights: ZoneWeights | undefined): boolean {
  return weights?.has(SAME) === true;
}
