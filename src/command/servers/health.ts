// The health of the proxy, by kube-proxy's rule: it is unhealthy if a change waits longer than a timeout. Pure; the clock
// is injected.
import type { Family } from '../../kernel/net/address.js';

/** Two clocks. */
interface Clock {
  /** Time of day, in ms since 1970. */
  now(): number;
  /** Monotonic time, in ms, for durations. */
  elapsed(): number;
}

/** Inputs that may be temporarily unreadable. */
export type Input = 'objects' | 'configuration';

/** The proxy's health at one time. Times are in ms since 1970. */
export interface HealthState {
  readonly now: number;
  /** Every family is healthy. */
  readonly healthy: boolean;
  /** Every family is alive. */
  readonly alive: boolean;
  /** The Node is neither being deleted nor tainted by the cluster autoscaler for removal. */
  readonly nodeEligible: boolean;
  /** The Node was read since the start, or the source has none. */
  readonly nodeSeen: boolean;
  /** A full pass has written the state that all Services share. */
  readonly synced: boolean;
  /** Names of the unreadable inputs. */
  readonly unread: readonly string[];
  /** Time of the last update of any family; undefined before the first. */
  readonly lastUpdated: number | undefined;
  /** The families that have been updated at least once, IPv4 first. */
  readonly families: readonly FamilyHealth[];
}

/** The health of one family's rules. */
interface FamilyHealth {
  readonly family: Family;
  /** In ms since 1970. */
  readonly lastUpdated: number;
  readonly healthy: boolean;
  /** Healthy, or only what a restart does not help has waited longer than the timeout. */
  readonly alive: boolean;
}

/**
 * Tracks the health of the proxy. A family is unhealthy if a change has waited longer than the timeout. A family that has
 * never been updated is ignored.
 */
export class ProxyHealth {
  readonly #timeout: number;
  readonly #clock: Clock;
  /** Arrival of the oldest change that still waits, by `elapsed`. */
  readonly #waiting = new Map<Family, number>();
  /** The same of what a restart may help. */
  readonly #restart = new Map<Family, number>();
  readonly #updated = new Map<Family, number>();
  #nodeEligible = true;
  #nodeSeen = true;
  #synced = false;
  readonly #unread = new Map<Input, readonly string[]>();

  /** @param timeout maximum time that a change may wait, in ms; in kube-proxy 1.36 twice the mode's syncPeriod */
  constructor(timeout: number, clock: Clock) {
    this.#timeout = timeout;
    this.#clock = clock;
  }

  /** A change has arrived that is not programmed in this family. */
  queued(family: Family): void {
    for (const waiting of [this.#waiting, this.#restart])
      if (!waiting.has(family)) waiting.set(family, this.#clock.elapsed());
  }

  /** Only what a restart does not help waits in this family: it becomes unhealthy, and stays alive. */
  needsNoRestart(family: Family): void {
    this.queued(family);
    this.#restart.delete(family);
  }

  /** All changes are programmed in this family. kube-proxy also reports this once when its loop starts. */
  updated(family: Family): void {
    this.#waiting.delete(family);
    this.#restart.delete(family);
    this.#updated.set(family, this.#clock.now());
  }

  /** A full pass has ended, and no failure concerns all Services. Load balancers may use the node from now on. */
  completed(): void {
    this.#synced = true;
  }

  /** The source has the Node, which has not been read: it is not eligible until then. */
  awaitNode(): void {
    this.#nodeEligible = false;
    this.#nodeSeen = false;
  }

  /** The Node was read. Sets whether it is eligible: not being deleted, and without the taint ToBeDeletedByClusterAutoscaler. */
  setNodeEligible(eligible: boolean): void {
    this.#nodeSeen = true;
    this.#nodeEligible = eligible;
  }

  /**
   * Sets the names of the unreadable files of an input. The proxy stays healthy: the programmed state works, and a broken
   * file that all nodes share must not remove all nodes from load balancers.
   */
  setUnread(input: Input, unread: readonly string[]): void {
    this.#unread.set(input, unread);
  }

  /** Every family is healthy. */
  get healthy(): boolean {
    return this.state().healthy;
  }

  /** The current health. */
  state(): HealthState {
    const elapsed = this.#clock.elapsed();
    const families = ([4, 6] as const).flatMap((family) => {
      const lastUpdated = this.#updated.get(family);
      if (lastUpdated === undefined) return [];
      const inTime = (since: number | undefined) => since === undefined || elapsed - since < this.#timeout;
      const healthy = inTime(this.#waiting.get(family));
      return { family, lastUpdated, healthy, alive: inTime(this.#restart.get(family)) };
    });
    const updates = families.map(({ lastUpdated }) => lastUpdated);
    return {
      now: this.#clock.now(),
      healthy: families.every(({ healthy }) => healthy),
      alive: families.every(({ alive }) => alive),
      nodeEligible: this.#nodeEligible,
      nodeSeen: this.#nodeSeen,
      synced: this.#synced,
      unread: [...this.#unread.values()].flat(),
      lastUpdated: updates.length === 0 ? undefined : Math.max(...updates),
      families,
    };
  }
}
