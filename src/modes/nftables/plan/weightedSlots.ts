// The slots of endpoints with weights in the map of a chain. Pure.
import { reduced } from '../../shared/plan/weights.js';

/** Endpoints of a Service port with other weights have at most so many slots, or four for each endpoint, if that is more. */
const MOST_SLOTS = 1024;
const SLOTS_OF_ENDPOINT = 4;

/**
 * The number of slots of each endpoint in the map from which a random number selects one: its weight, or less in proportion if there
 * were too many slots, but at least 1. Undefined if all have the same number.
 *
 * @param weights see `weightsOf()`
 */
export function slotsByWeight(weights: readonly number[] | undefined): readonly number[] | undefined {
  if (!weights) return undefined;
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const most = Math.max(MOST_SLOTS, SLOTS_OF_ENDPOINT * weights.length);
  if (sum <= most) return weights;
  // Rounding adds less than one slot for each endpoint.
  const scale = (most - weights.length) / sum;
  return reduced(weights.map((weight) => Math.max(1, Math.round(weight * scale))));
}
