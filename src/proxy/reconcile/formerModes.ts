// Removes the state of modes that ran on this node before, after the running mode has programmed its own, or plans that.
import type { FormerMode, FormerState } from '../modes/mode.js';
import { type CleanUpSummary, cleanUp, removeAll } from './cleanUp.js';
import { observeAll } from './observeAll.js';
import { describePlanned, type PlannedOperation } from './plannedOperation.js';

/** Maximum time for which connections keep the state of a former mode, in ms. */
const DRAIN_BOUND = 15 * 60_000;

/** Time until what is left is tried again, in ms. The running mode reads all its items more rarely. */
const AGAIN = 30_000;

/** Reports about former modes. */
export interface FormerModeEvents {
  /** Items of a mode were removed; `left` in the summary has those that could not be. */
  switched?(mode: string, summary: CleanUpSummary): void;
  /** The items of a mode stay, because this number of connections needs them. */
  kept?(mode: string, connections: number): void;
  /** The state of a mode could not be opened, read or removed. */
  unswitched?(mode: string, error: unknown): void;
}

/** The modes whose state has not been removed yet. */
export class FormerModes {
  #modes: readonly FormerMode[];
  readonly #events: FormerModeEvents;
  readonly #now: () => number;
  readonly #bound: number;
  /** Time of the first attempt, in ms. */
  #since: number | undefined;
  /** Whether the attempt under way removed the state of a mode. */
  #switched = false;

  /**
   * @param now monotonic time, in ms
   * @param bound maximum time for which connections keep the state of a mode, in ms
   */
  constructor(
    modes: readonly FormerMode[],
    events: FormerModeEvents,
    now: () => number,
    bound: number = DRAIN_BOUND,
  ) {
    this.#modes = modes;
    this.#events = events;
    this.#now = now;
    this.#bound = bound;
  }

  /** Whether the state of a mode may remain. */
  get pending(): boolean {
    return this.#modes.length > 0;
  }

  /** Time until the next attempt, in ms: never after the time limit of the connections. Undefined if nothing is left. */
  get retryIn(): number | undefined {
    if (!this.pending) return undefined;
    const left = (this.#since ?? this.#now()) + this.#bound - this.#now();
    return left > 0 ? Math.min(left, AGAIN) : AGAIN;
  }

  /**
   * Removes the state of each mode. Call it after a full pass without failures; again after {@link retryIn}.
   *
   * @returns whether a mode had state, which was removed
   */
  async remove(): Promise<boolean> {
    this.#since ??= this.#now();
    this.#switched = false;
    const left: FormerMode[] = [];
    for (const mode of this.#modes) {
      try {
        if (!(await this.#removed(mode, namesOf(left)))) left.push(mode);
      } catch (error) {
        left.push(mode);
        this.#events.unswitched?.(mode.name, error);
      }
    }
    this.#modes = left;
    return this.#switched;
  }

  /**
   * The operations with which {@link remove} removes the state of each mode, in order. Applies none of them. Reports the
   * connections for which the state stays until they end.
   */
  async preview(): Promise<PlannedOperation[]> {
    const planned: PlannedOperation[] = [];
    const remaining: FormerMode[] = [];
    for (const mode of this.#modes) {
      try {
        const removals = await this.#removals(mode, namesOf(remaining));
        if (removals.length > 0) remaining.push(mode);
        for (const removal of removals) planned.push(removal);
      } catch (error) {
        remaining.push(mode);
        this.#events.unswitched?.(mode.name, error);
      }
    }
    return planned;
  }

  async #removals(former: FormerMode, remaining: readonly string[]): Promise<PlannedOperation[]> {
    const { name } = former;
    const state = await former.open(remaining);
    if (!state || state === 'later') return [];
    try {
      const connections = await this.#connectionsOf(state);
      if (connections > 0) this.#events.kept?.(name, connections);
      const known = await observeAll(state.mode);
      const item = { node: false, services: [], state: 'unwanted', formerMode: name } as const;
      return removeAll(state.mode, known).flatMap((operation) =>
        describePlanned(state.mode, operation, known, item),
      );
    } finally {
      state.close();
    }
  }

  /** Whether nothing of the mode is left. */
  async #removed(former: FormerMode, remaining: readonly string[]): Promise<boolean> {
    const state = await former.open(remaining);
    if (!state) return true;
    if (state === 'later') return false;
    try {
      const connections = await this.#connectionsOf(state);
      if (connections > 0) {
        this.#events.kept?.(former.name, connections);
        return false;
      }
      const summary = await cleanUp(state.mode);
      this.#switched = true;
      this.#events.switched?.(former.name, summary);
      await state.finish?.();
      return summary.left.length === 0;
    } finally {
      state.close();
    }
  }

  /** Connections for which the state stays: none after the time limit. */
  async #connectionsOf(state: FormerState): Promise<number> {
    const now = this.#now();
    if (now - (this.#since ?? now) >= this.#bound) return 0;
    return (await state.connections?.()) ?? 0;
  }
}

function namesOf(modes: readonly FormerMode[]): string[] {
  return modes.map(({ name }) => name);
}
