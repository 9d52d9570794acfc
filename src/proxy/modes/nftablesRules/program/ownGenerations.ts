// Which generations of the ruleset are the mode's own. A large transaction has no notification, which would name its sender.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { Nftables } from '../../../../kernel/nftables/types.js';
import type { Result } from '../../shared/program/result.js';

/** Generations during a transaction of this mode that succeeded, and made one of them. */
interface Range {
  readonly first: number;
  readonly last: number;
  /** One of them has been recognized. */
  found: boolean;
}

/** Ranges that are remembered. Notifications come a moment after the transaction. */
const MOST = 1024;

/** The generations that were committed during the transactions of this mode. */
export class OwnGenerations {
  readonly #nftables: Pick<Nftables, 'generation'>;
  readonly #ranges: Range[] = [];

  constructor(nftables: Pick<Nftables, 'generation'>) {
    this.#nftables = nftables;
  }

  /**
   * Sends a transaction. Its result is that of `send`, also if a generation cannot be read. A transaction with an error has no generation: one
   * that was committed meanwhile is another program's, and may be the reason of the error.
   */
  async during<Results extends readonly Result[]>(send: () => Promise<Results>): Promise<Results> {
    const before = await this.current();
    const results = await send();
    if (before === undefined || results.some((error) => error !== undefined)) return results;
    const after = await this.current();
    // A transaction without a change has no generation.
    if (after !== undefined && after !== before)
      this.#ranges.push({ first: before + 1, last: after, found: false });
    if (this.#ranges.length > MOST) this.#ranges.shift();
    return results;
  }

  /**
   * The current generation. Undefined if it cannot be read: that of the transaction then counts as another program's, and the next pass
   * reads all.
   */
  async current(): Promise<number | undefined> {
    try {
      return (await this.#nftables.generation()).id;
    } catch (error) {
      if (error instanceof NetlinkError) return undefined;
      throw error;
    }
  }

  /** Whether each generation from one up to another is that of a transaction of this mode, of which no other was made meanwhile. */
  areOurs({ after, last }: { readonly after: number; readonly last: number }): boolean {
    const isWithin = (range: Range) => range.first > after && range.last <= last;
    const ours = this.#ranges.filter((range) => isWithin(range) && range.first === range.last);
    return ours.length === last - after;
  }

  /**
   * Whether a generation, which changed our tables, is ours. Call it once for each. If another program changed our tables during such a
   * transaction, the second of the two generations counts as the other program's.
   */
  isOurs(generation: number): boolean {
    const range = this.#ranges.find(({ first, last }) => first <= generation && generation <= last);
    if (!range || range.found) return false;
    range.found = true;
    return true;
  }
}
