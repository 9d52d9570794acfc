// The slots of endpoints with weights in the map of a chain. Pure.
import { MOST_PAIRS } from '../../../services/endpointLimit.js';
import { reduced } from '../../shared/plan/weights.js';

/** Endpoints of a Service port with other weights have at most so many slots, or four for each endpoint, if that is more. */
const MOST_SLOTS = 1024;
const SLOTS_OF_ENDPOINT = 4;
/** Higher weights have as few slots as change no endpoint's share of connections by more than this part of it. */
const PRECISION = 0.01;
/** The fewest slots that are tried for higher weights. */
const FEWEST_SLOTS = 16;

/**
 * The number of slots of each endpoint in the map from which a random number selects one: its weight, or less in proportion if there
 * were too many slots, but at least 1. Undefined if all have the same number.
 *
 * @param weights see `weightsOf()`
 * @param ports number of the ports of the Service: together, they have no more slots than a Service may have pairs
 */
export function slotsByWeight(
  weights: readonly number[] | undefined,
  ports = 1,
): readonly number[] | undefined {
  if (!weights) return undefined;
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const { length } = weights;
  const fair = Math.max(length, Math.floor(MOST_PAIRS / ports));
  const most = Math.min(fair, Math.max(MOST_SLOTS, SLOTS_OF_ENDPOINT * length));
  if (sum <= most) return weights;
  for (let total = Math.max(length, FEWEST_SLOTS); 2 * total <= most; total *= 2) {
    const slots = inProportion(weights, total / sum);
    if (isPrecise(slots, weights, sum)) return reduced(slots);
  }
  // Rounding adds less than one slot for each endpoint.
  return reduced(inProportion(weights, (most - length) / sum));
}

function inProportion(weights: readonly number[], scale: number): number[] {
  return weights.map((weight) => Math.max(1, Math.round(weight * scale)));
}

function isPrecise(slots: readonly number[], weights: readonly number[], sum: number): boolean {
  const all = slots.reduce((total, number) => total + number, 0);
  return slots.every((number, i) => {
    const exact = (weights[i] as number) / sum;
    return Math.abs(number / all - exact) <= PRECISION * exact;
  });
}
