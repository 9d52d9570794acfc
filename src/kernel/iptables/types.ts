// Chains and rules of iptables. Rules are text exactly as iptables-save prints them, so that equal rules are equal text.
import type { NetlinkError } from '../errors.js';
import type { Family } from '../net/address.js';
import type { BatchSource } from '../shared/types.js';

/** A table of iptables. */
export type Table = 'nat' | 'filter' | 'mangle';

/** A user-defined chain with all its rules. */
export interface Chain {
  readonly family: Family;
  readonly table: Table;
  readonly name: string;
  /** Everything after `-A CHAIN `, in order. */
  readonly rules: readonly string[];
}

/** One rule of a chain that has other rules too. */
export interface ChainRule {
  readonly family: Family;
  readonly table: Table;
  /** The chain that has the rule: `INPUT`. */
  readonly chain: string;
  /** Everything after `-A CHAIN `. */
  readonly text: string;
}

/** Rules of a chain that has other rules too, and those that replace them. */
export interface RuleReplacement extends Omit<ChainRule, 'text'> {
  /** The rules to delete, as text. Of equal rules, the first is deleted. */
  readonly before: readonly string[];
  /** The rules to insert, as text, in the order that they have afterwards. */
  readonly after: readonly string[];
}

/** One change of the rules of a family. */
export type IptablesOperation =
  /** Creates the chain if it is missing and makes these its rules. */
  | { readonly do: 'setChain'; readonly chain: Chain }
  /** Inserts the rule at the head of its chain. */
  | { readonly do: 'insertRule'; readonly rule: ChainRule }
  /** Appends the rule to the end of its chain. */
  | { readonly do: 'appendRule'; readonly rule: ChainRule }
  /** Replaces rules of a chain by others, which are then at its head. */
  | { readonly do: 'replaceRules'; readonly rules: RuleReplacement }
  /** Deletes the first rule of the chain that has this text. */
  | { readonly do: 'deleteRule'; readonly rule: ChainRule }
  /** Empties and deletes the chain; nothing may jump to it any more. */
  | { readonly do: 'deleteChain'; readonly chain: Omit<Chain, 'rules'> };

/** The rules of one family, chain by chain: `nat/KUBE-SERVICES` → rules. */
export type SavedRules = ReadonlyMap<string, readonly string[]>;

/** The policy of a built-in chain: the verdict on packets that no rule decides. */
export type Policy = 'ACCEPT' | 'DROP';

/** A chain of any table, as iptables-save prints it. */
export interface SavedChain {
  readonly table: string;
  readonly name: string;
  /** Of a built-in chain. */
  readonly policy?: Policy;
  /** Everything after `-A CHAIN `, in order. */
  readonly rules: readonly string[];
}

/** All rules of one family, with the policies of the built-in chains: `filter/INPUT` → `DROP`. */
export interface SavedTables {
  readonly rules: SavedRules;
  readonly policies: ReadonlyMap<string, Policy>;
}

/** A rule with its counters. */
export interface CountedRule {
  /** Everything after `-A CHAIN `. */
  readonly text: string;
  /** Packets that the rule matched since it was written. */
  readonly packets: number;
  /** Bytes of these packets. */
  readonly bytes: number;
}

/** The rules of one family with their counters, chain by chain: `nat/KUBE-SERVICES` → rules. */
export type CountedRules = ReadonlyMap<string, readonly CountedRule[]>;

/** One `iptables-restore`, as batches are reported. */
export interface IptablesRestore {
  readonly do: 'restore';
  readonly family: Family;
}

/** iptables of the process's network namespace. */
export interface Iptables extends BatchSource<IptablesRestore> {
  /**
   * Called once for each family in which no iptables-restore can run for long, so that each change starts a process: with the
   * name of the program and the reason.
   */
  onFallback?: ((program: string, reason: string) => void) | undefined;
  /**
   * Called when another file has the name of a program that makes changes, so that the rules that were made before are in another
   * backend: with the name, the file before, and the file now, which makes all later changes. It is noticed when rules are read.
   */
  onReplaced?: ((program: string, before: string, now: string) => void) | undefined;
  /**
   * Every chain of every table, in pieces: each chain once, those of one table together, and its chains without rules last. Each
   * iteration runs one process, which waits while no piece is awaited, so that a piece may be older than the call for it. Of a node
   * with many Services, all rules take several times the memory of this process.
   */
  chains(family: Family): AsyncIterable<readonly SavedChain[]>;
  /** The same in one map. */
  save(family: Family): Promise<SavedRules>;
  /** The same, with the policies of the built-in chains. */
  saveTables(family: Family): Promise<SavedTables>;
  /**
   * The rules of one chain, in order, as `save` has them. Runs one process, which with the nf_tables backend reads only
   * this chain. Rejects with `ERR_PROCESS` if the chain does not exist, or if another program held the lock of iptables for
   * 30 s.
   */
  listRules(family: Family, table: Table, chain: string): Promise<readonly string[]>;
  /**
   * Makes all changes of one family in one input of `iptables-restore --noflush`: each table changes as a whole or not at
   * all, in the order nat, filter, mangle. Changes of one family wait for each other.
   * In each table, chains are created or emptied first; then rules are appended, rules inserted or replaced, rules deleted,
   * and chains deleted. Operations of one kind keep their order.
   *
   * Resolves to one result for each operation, undefined if its table was committed. The first table that cannot be changed
   * is the last one that is tried. The operations that the program names have errors of their own: `ERR_PROCESS`, with the
   * output of the program. If it names none, all operations of that table share one error. The other operations have
   * `ERR_ROLLED_BACK`.
   *
   * Nothing is sent if a text is not one rule, or not the name of a chain (a control character, a quote that is not closed, a
   * backslash outside quotes, more bytes than the program reads as a line): such operations have `ERR_INVALID_ARGUMENT`, all
   * others `ERR_ROLLED_BACK`.
   *
   * All operations that were not committed share one error if none of them is the cause: `ERR_UNKNOWN_OUTCOME` (the program was
   * ended by a signal, or by a time limit of 10 s and 50 ms for each 1000 bytes, at most 5 min, for which another program may have held the
   * lock of iptables: some of the tables may have been changed), `ENOENT` or another errno name (it cannot be started).
   */
  restore(family: Family, operations: readonly IptablesOperation[]): Promise<(NetlinkError | undefined)[]>;
}
