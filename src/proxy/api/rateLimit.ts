// Limits the rate of this node's requests to the API server.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Default requests per second, and largest burst: kube-proxy's. */
export const RATE = { qps: 5, burst: 10 };

/** A token bucket: full at first, filled at a steady rate. Requests that find it empty wait in their order. */
export class RateLimit {
  readonly #perMillisecond: number;
  readonly #burst: number;
  /** A negative number is the number of waiting requests. */
  #tokens: number;
  #filledAt: number;
  readonly #now: () => number;

  /** A negative `qps` means no limit, zero the default. */
  constructor({ qps, burst } = RATE, now: () => number = () => performance.now()) {
    this.#perMillisecond = qps < 0 ? Number.POSITIVE_INFINITY : (qps || RATE.qps) / 1000;
    this.#burst = Math.max(burst || RATE.burst, 1);
    this.#tokens = this.#burst;
    this.#now = now;
    this.#filledAt = now();
  }

  /** Resolves when a request may be sent; rejects if the signal aborts before. */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#perMillisecond === Number.POSITIVE_INFINITY) return;
    const now = this.#now();
    const filled = this.#tokens + (now - this.#filledAt) * this.#perMillisecond;
    this.#filledAt = now;
    this.#tokens = Math.min(filled, this.#burst) - 1;
    if (this.#tokens >= 0) return;
    try {
      await sleep(-this.#tokens / this.#perMillisecond, undefined, signal ? { signal } : {});
    } catch (error) {
      // A request that is aborted leaves its place to later ones.
      this.#tokens++;
      throw error;
    }
  }
}
