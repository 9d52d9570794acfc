// The health of the proxy, by kube-proxy's rule: it is unhealthy if a change waits longer than a timeout. Pure; the clock
// is injected.
import type { Family } from '../../kernel/net/address.js';

/** Two clocks. */
interface Clock {
  /** Time of day, in ms since 1970. */
  now(): number;
  /** Monotonic time, in ms, the same in all threads. */
  elapsed(): number;
}

/** The clocks of this machine. */
export const CLOCK: Clock = {
  now: Date.now,
  elapsed: () => Number(process.hrtime.bigint() / 1_000_000n),
};

/** Inputs that may be temporarily unreadable. */
export type Input = 'objects' | 'configuration';

/** What happened in one family. */
export interface FamilyFacts {
  /** Arrival of the oldest change that still waits, by `elapsed`. */
  readonly waiting?: number | undefined;
  /** The same of what a restart may help. */
  readonly restart?: number | undefined;
  /** Time of the last update, by `now`; undefined before the first. */
  readonly updated?: number | undefined;
}

/** What the health follows from, and what rarely changes. Plain data, for another thread. */
export interface RareFacts {
  readonly nodeEligible: boolean;
  readonly nodeSeen: boolean;
  readonly synced: boolean;
  readonly unread: Readonly<Record<Input, readonly string[]>>;
}

/** All that the health follows from. */
export interface HealthFacts extends RareFacts {
  readonly families: Readonly<Record<Family, FamilyFacts>>;
}

/** The proxy's health at one time. Times are in ms since 1970. */
export interface HealthState {
  readonly now: number;
  /** Every family is healthy, and the main thread moves. */
  readonly healthy: boolean;
  /** Every family is alive, and the main thread moves. */
  readonly alive: boolean;
  /** The Node is neither being deleted nor tainted by the cluster autoscaler for removal. */
  readonly nodeEligible: boolean;
  /** The Node was read since the start, or the source has none. */
  readonly nodeSeen: boolean;
  /** A full pass has written the state that all Services share. */
  readonly synced: boolean;
  /** Names of the unreadable inputs. */
  readonly unread: readonly string[];
  /** The main thread has not moved for so long that a restart may help. */
  readonly stalled: boolean;
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

/** The facts before anything has happened. */
export const NO_FACTS: HealthFacts = {
  families: { 4: {}, 6: {} },
  nodeEligible: true,
  nodeSeen: true,
  synced: false,
  unread: { objects: [], configuration: [] },
};

/** Tracks the health of the proxy. */
export class ProxyHealth {
  readonly #clock: Clock;
  readonly #changed: (facts: HealthFacts) => void;
  #facts = NO_FACTS;

  /** @param changed called with the facts after each change */
  constructor(clock: Clock, changed: (facts: HealthFacts) => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** A change has arrived that is not programmed in this family. */
  queued(family: Family): void {
    const { waiting, restart } = this.#facts.families[family];
    if (waiting !== undefined && restart !== undefined) return;
    const elapsed = this.#clock.elapsed();
    this.#setFamily(family, { waiting: waiting ?? elapsed, restart: restart ?? elapsed });
  }

  /** Only what a restart does not help waits in this family: it becomes unhealthy, and stays alive. */
  needsNoRestart(family: Family): void {
    const { waiting = this.#clock.elapsed() } = this.#facts.families[family];
    this.#setFamily(family, { waiting, restart: undefined });
  }

  /** All changes are programmed in this family. kube-proxy also reports this once when its loop starts. */
  updated(family: Family): void {
    this.#setFamily(family, { waiting: undefined, restart: undefined, updated: this.#clock.now() });
  }

  /** A full pass has ended, and no failure concerns all Services. Load balancers may use the node from now on. */
  completed(): void {
    if (!this.#facts.synced) this.#set({ synced: true });
  }

  /** The source has the Node, which has not been read: it is not eligible until then. */
  awaitNode(): void {
    this.#set({ nodeEligible: false, nodeSeen: false });
  }

  /** The Node was read. Sets whether it is eligible: not being deleted, and without the taint ToBeDeletedByClusterAutoscaler. */
  setNodeEligible(nodeEligible: boolean): void {
    this.#set({ nodeSeen: true, nodeEligible });
  }

  /**
   * Sets the names of the unreadable files of an input. The proxy stays healthy: the programmed state works, and a broken
   * file that all nodes share must not remove all nodes from load balancers.
   */
  setUnread(input: Input, unread: readonly string[]): void {
    this.#set({ unread: { ...this.#facts.unread, [input]: unread } });
  }

  #setFamily(family: Family, facts: FamilyFacts): void {
    const { families } = this.#facts;
    this.#set({ families: { ...families, [family]: { ...families[family], ...facts } } });
  }

  #set(facts: Partial<HealthFacts>): void {
    this.#facts = { ...this.#facts, ...facts };
    this.#changed(this.#facts);
  }
}

/**
 * The health at this time. A family is unhealthy if a change has waited longer than the timeout. A family that has never been
 * updated is ignored.
 *
 * @param timeout maximum time that a change may wait, in ms; in kube-proxy 1.36 twice the mode's syncPeriod
 * @param stalled the main thread does not move
 */
export function healthOf(facts: HealthFacts, timeout: number, clock: Clock, stalled = false): HealthState {
  const elapsed = clock.elapsed();
  const inTime = (since: number | undefined) =>
    !stalled && (since === undefined || elapsed - since < timeout);
  const families = ([4, 6] as const).flatMap((family) => {
    const { waiting, restart, updated } = facts.families[family];
    if (updated === undefined) return [];
    return [{ family, lastUpdated: updated, healthy: inTime(waiting), alive: inTime(restart) }];
  });
  const updates = families.map(({ lastUpdated }) => lastUpdated);
  const { nodeEligible, nodeSeen, synced, unread } = facts;
  return {
    ...{ now: clock.now(), nodeEligible, nodeSeen, synced, stalled, families },
    healthy: !stalled && families.every(({ healthy }) => healthy),
    alive: !stalled && families.every(({ alive }) => alive),
    unread: [...unread.objects, ...unread.configuration],
    lastUpdated: updates.length === 0 ? undefined : Math.max(...updates),
  };
}
