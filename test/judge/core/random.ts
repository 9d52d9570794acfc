// Random numbers from a seed.

/** A source of random numbers, each from 0 to below 1. */
export type Random = () => number;

/** The numbers of a seed: xorshift32, started from a mixed seed, because near seeds would begin alike. */
export function randomOf(seed: number): Random {
  let state = Math.imul((seed >>> 0) + 0x9e3779b9, 0x85ebca6b) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  return next;
}

/** An integer from 0 to below a limit. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** One of some values, of which there is at least one. */
export function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[below(random, values.length)] as T;
}
