// What belongs to transactions of nftables: options of their operations, their own ones, and generations.
import type { CallOptions } from '../../shared/types.js';

/** What an `add` does with an object that exists. */
export interface Addition {
  /** Fails with EEXIST if it exists. Default: an equal object is not an error, and stays. */
  readonly exclusive?: boolean;
}

/** What a `delete` does with an object that does not exist. */
export interface Deletion {
  /** A missing object is not an error. Linux 6.3. Default: ENOENT. */
  readonly ifExists?: boolean;
}

/** Options of a transaction. */
export interface TransactionOptions extends CallOptions {
  /**
   * The generation on which the transaction is based: if another one is in force, each result is `ERESTART`, and nothing is applied.
   * Default: any.
   */
  readonly generation?: number | undefined;
}

/** The state of the ruleset of a network namespace: a number that each transaction that changes something raises. */
export interface Generation {
  /** 1 in a new network namespace. */
  readonly id: number;
  /** In an event: the thread that committed it. Of `Nftables.generation`: the one that asked. 0 if unknown. */
  readonly pid: number;
  /** Name of that thread, at most 15 bytes: `nft`. */
  readonly program: string;
}
