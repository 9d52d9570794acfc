// Which generations of the ruleset are the mode's own: a notification does not say which program made the change.
import type { NftablesKernel } from './kernel.js';

/** Generations of which one is of a transaction of ours. */
interface Range {
  readonly first: number;
  readonly last: number;
  /** One of them has been recognized. */
  found: boolean;
}

/** Ranges that are remembered. Notifications come a moment after the transaction. */
const MOST = 1024;

/** The generations that were committed while transactions of ours were under way. */
export class OwnGenerations {
  readonly #nftables: Pick<NftablesKernel['nftables'], 'generation'>;
  readonly #ranges: Range[] = [];

  constructor(nftables: Pick<NftablesKernel['nftables'], 'generation'>) {
    this.#nftables = nftables;
  }

  /** Sends a transaction. */
  async during<Result>(send: () => Promise<Result>): Promise<Result> {
    const before = await this.#nftables.generation();
    try {
      return await send();
    } finally {
      const after = await this.#nftables.generation();
      // A transaction without a change has no generation.
      if (after.id !== before.id) this.#ranges.push({ first: before.id + 1, last: after.id, found: false });
      if (this.#ranges.length > MOST) this.#ranges.shift();
    }
  }

  /**
   * Whether a generation, which changed our tables, is ours. Call it once for each. If another program changed our tables during a transaction
   * of ours, the second of both generations is not ours.
   */
  isOurs(generation: number): boolean {
    const range = this.#ranges.find(({ first, last }) => first <= generation && generation <= last);
    if (!range || range.found) return false;
    range.found = true;
    return true;
  }
}
