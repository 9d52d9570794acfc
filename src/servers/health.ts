// Whether the proxy keeps up: what was asked of it, what it has done, and for how long it has owed. Pure; the clock is
// handed in. The rule is kube-proxy's.
import type { Family } from '../net/address.js';

/** Two readings of time. */
export interface Clock {
  /** Milliseconds since 1970, for people. */
  now(): number;
  /** Milliseconds of a clock that never runs back, for spans. */
  elapsed(): number;
}

/** Inputs that may be unreadable for a while. */
export type Input = 'objects' | 'configuration';

/** The proxy's health at one moment. Times are ms since 1970. */
export interface HealthState {
  readonly now: number;
  /** Every family is healthy. */
  readonly healthy: boolean;
  /** The node is neither being deleted nor about to be removed by the cluster autoscaler. */
  readonly nodeEligible: boolean;
  /** Names of the inputs that cannot be read. */
  readonly unread: readonly string[];
  /** When the family that was updated last was updated; undefined before any was. */
  readonly lastUpdated: number | undefined;
  /** The families that were ever updated, IPv4 first. */
  readonly families: readonly FamilyHealth[];
}

/** The health of one family's rules. */
export interface FamilyHealth {
  readonly family: Family;
  /** Ms since 1970. */
  readonly lastUpdated: number;
  readonly healthy: boolean;
}

/**
 * Keeps the health of the proxy. A family is unhealthy once a change has waited longer than the timeout; a family that
 * was never updated is not looked at.
 */
export class ProxyHealth {
  readonly #timeout: number;
  readonly #clock: Clock;
  /** When the oldest change that still waits was told; a reading of `elapsed`. */
  readonly #waiting = new Map<Family, number>();
  readonly #updated = new Map<Family, number>();
  #nodeEligible = true;
  readonly #unread = new Map<Input, readonly string[]>();

  /** @param timeout ms that a change may wait; kube-proxy: twice the syncPeriod of the mode that runs (1.36) */
  constructor(timeout: number, clock: Clock) {
    this.#timeout = timeout;
    this.#clock = clock;
  }

  /** A change was told that this family's rules do not show yet. */
  queued(family: Family): void {
    if (!this.#waiting.has(family)) this.#waiting.set(family, this.#clock.elapsed());
  }

  /** This family's rules show everything that was told. kube-proxy also says so once when its loop starts. */
  updated(family: Family): void {
    this.#waiting.delete(family);
    this.#updated.set(family, this.#clock.now());
  }

  /** Takes in what the Node object says: false while it is being deleted or has the taint ToBeDeletedByClusterAutoscaler. */
  setNodeEligible(eligible: boolean): void {
    this.#nodeEligible = eligible;
  }

  /**
   * Takes in the names of everything of an input that cannot be read. The proxy stays healthy: what it programmed works,
   * and were every node that reads the same broken file unhealthy, load balancers would have none left.
   */
  setUnread(input: Input, unread: readonly string[]): void {
    this.#unread.set(input, unread);
  }

  /** Whether every family is healthy. */
  get healthy(): boolean {
    return this.state().healthy;
  }

  /** The health at this moment. */
  state(): HealthState {
    const elapsed = this.#clock.elapsed();
    const families = ([4, 6] as const).flatMap((family) => {
      const lastUpdated = this.#updated.get(family);
      if (lastUpdated === undefined) return [];
      const since = this.#waiting.get(family);
      return { family, lastUpdated, healthy: since === undefined || elapsed - since < this.#timeout };
    });
    const updates = families.map(({ lastUpdated }) => lastUpdated);
    return {
      now: this.#clock.now(),
      healthy: families.every(({ healthy }) => healthy),
      nodeEligible: this.#nodeEligible,
      unread: [...this.#unread.values()].flat(),
      lastUpdated: updates.length === 0 ? undefined : Math.max(...updates),
      families,
    };
  }
}
