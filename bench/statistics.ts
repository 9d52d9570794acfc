// The arithmetic of measurements. Pure.
import type { Spread } from './types.js';

/** The spread of at least one value. */
export function spread(values: readonly number[]): Spread {
  return { min: Math.min(...values), median: median(values), max: Math.max(...values), values };
}

/** The middle value, or the mean of the two in the middle. Throws a RangeError for no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [below, above] = [sorted[middle - 1], sorted[middle]];
  if (above === undefined) throw new RangeError('the median of no values');
  return sorted.length % 2 === 1 || below === undefined ? above : (below + above) / 2;
}

/** The value below which this part of the ascending values is; NaN for no values. */
export function quantile(ascending: readonly number[], part: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Number.NaN;
}

/** The place of the run that is nearest to the median. */
export function medianRun(values: readonly number[]): number {
  const middle = median(values);
  const distances = values.map((value) => Math.abs(value - middle));
  return distances.indexOf(Math.min(...distances));
}

/** A seeded generator of numbers in [0, 1): mulberry32. Not for secrets. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
