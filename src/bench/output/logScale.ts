// A logarithmic axis: values to coordinates, and its ticks. Pure.

/** A logarithmic axis. Values are greater than 0. */
export interface LogScale {
  /** The least and the greatest value of the axis. */
  readonly domain: readonly [least: number, greatest: number];
  /** The coordinate of a value, in px. */
  at(value: number): number;
}

/**
 * The axis that maps the least value of `domain` to the first coordinate of `range`, and the greatest to the second one.
 * A domain of one value is in the middle.
 */
export function logScale(
  domain: readonly [number, number],
  [start, end]: readonly [start: number, end: number],
): LogScale {
  const [low, high] = [Math.log10(domain[0]), Math.log10(domain[1])];
  const share = (value: number) => (high === low ? 0.5 : (Math.log10(value) - low) / (high - low));
  return { domain, at: (value) => start + share(value) * (end - start) };
}

/** The least powers of ten that enclose all values; at least one decade. */
export function decadesAround(values: readonly number[]): [least: number, greatest: number] {
  const least = Math.floor(nearlyWhole(Math.log10(Math.min(...values))));
  const greatest = Math.ceil(nearlyWhole(Math.log10(Math.max(...values))));
  return [10 ** least, 10 ** Math.max(greatest, least + 1)];
}

/** The powers of ten of a domain, in ascending order. */
export function decadesOf([least, greatest]: LogScale['domain']): number[] {
  const first = Math.ceil(nearlyWhole(Math.log10(least)));
  const last = Math.floor(nearlyWhole(Math.log10(greatest)));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** Math.log10(0.001) is not exactly -3. */
function nearlyWhole(exponent: number): number {
  const whole = Math.round(exponent);
  return Math.abs(exponent - whole) < 1e-9 ? whole : exponent;
}
