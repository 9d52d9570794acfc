// Pauses between requests that failed, as client-go makes them.
import { Backoff, type BackoffBounds } from '../backoff.js';
import type { ApiError } from './error.js';

/** Bounds of the delays after failed requests: those of kube-proxy's reflectors. */
export const BACKOFF: BackoffBounds = { first: 800, most: 30_000, spread: 1 };

/** Number of repetitions of a request before the delays begin to double, as in client-go's rest.Request. */
const REPEATS = 10;

/** Pauses after failed requests. */
export interface Pauses {
  /** Pause before a request is repeated whose connection was closed; up to half as long again at random. In ms. */
  readonly repeat: number;
  /** Bounds of the pause after any other failure. */
  readonly backoff: BackoffBounds;
}

/**
 * The pace of client-go: rest.Request repeats a request up to ten times, a second apart, when its connection was closed,
 * or when the server asks for a pause; then, and after every other failure, the reflector backs off.
 */
export class RetryPace {
  readonly #repeat: number;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  #repeats = 0;

  /** `random` returns numbers from 0 up to 1. */
  constructor({ repeat, backoff }: Pauses, random: () => number) {
    this.#repeat = repeat;
    this.#random = random;
    this.#backoff = new Backoff(backoff, random);
  }

  /** Time to wait now, in ms. `costly`: the request was answered in part, and a repetition would send all of that again. */
  next(error: ApiError, costly = false): number {
    const repeatable = (error.closed && !costly) || error.postponed;
    if (!repeatable || this.#repeats === REPEATS) {
      this.#repeats = 0;
      return Math.max(this.#backoff.next(), error.retryAfter ?? 0);
    }
    this.#repeats++;
    return error.retryAfter ?? this.#repeat * (1 + this.#random() / 2);
  }

  /** Time to wait after a watch that ended without an error and without an event, in ms. */
  backOff(): number {
    return this.#backoff.next();
  }

  /** Begins again with the first pause, after a success. */
  reset(): void {
    this.#repeats = 0;
    this.#backoff.reset();
  }
}
