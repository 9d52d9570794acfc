// Detects that another program changed our tables, from the kernel's notifications, and from our own transactions that fail for want of what
// it deleted. kube-proxy finds such changes in the next full pass, after an hour at most.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { Commit, Nftables, TableName } from '../../../../kernel/nftables/types.js';
import type { Resync } from '../../../../kernel/shared/types.js';
import type { DisturbedListener } from '../../mode.js';
import type { Result } from '../../shared/program/result.js';
import { familyOfTable, TABLE_FAMILY } from '../plan/families.js';
import { OwnGenerations } from './ownGenerations.js';

/** Notifications are gathered for so long, in ms. */
const GATHER = 100;

/**
 * A transaction with more elements is not notified of. The kernel writes a notification for each element as long as somebody listens, which
 * takes as long as to add it.
 */
const MOST_NOTIFIED = 1024;

/** The watch starts again so long after the last such transaction, in ms: they follow each other in a large pass. */
const QUIET = 100;

type Commits = AsyncIterator<Commit | Resync>;

/** What the watch asks the kernel. */
type Client = Pick<Nftables, 'generation' | 'getChain' | 'getTable' | 'port' | 'watchCommits'>;

/** The tables of a mode, one in each family. */
export interface WatchedTables {
  readonly families: readonly Family[];
  /** Their name. */
  readonly name: string;
  /** The key of the item of a table. */
  tableKey(family: Family): string;
  /** The chains by which packets come to all others: the keys of their items, and their names. */
  chains(family: Family): Iterable<readonly [key: string, name: string]>;
}

/** The transactions of the mode, and a watch for those of other programs. */
export class TableWatch<Item> {
  readonly #nftables: Client;
  readonly #tables: WatchedTables;
  readonly #own: OwnGenerations;
  /** Undefined before the start and after the end. */
  #listener: DisturbedListener<Item> | undefined;
  /** The notifications that are read. */
  #commits: Commits | undefined;
  /** The last generation that was looked at; undefined if it is not known. */
  #seen: number | undefined;
  /** Number of large transactions under way. */
  #large = 0;
  /** Set while the watch has to start again. */
  #timer: NodeJS.Timeout | undefined;

  constructor({ nftables }: { readonly nftables: Client }, tables: WatchedTables) {
    this.#nftables = nftables;
    this.#tables = tables;
    this.#own = new OwnGenerations(nftables);
  }

  /** Watches until closed. Resolves when changes from now on are noticed. */
  async start(listener: DisturbedListener<Item>): Promise<{ close(): void }> {
    const commits = await this.#subscribe();
    this.#seen = await this.#own.current();
    this.#listener = listener;
    this.#read(commits);
    return {
      close: () => {
        this.#listener = undefined;
        clearTimeout(this.#timer);
        this.#end();
      },
    };
  }

  /** Sends a transaction of the mode. Its result is that of `send`. @param elements the number of those that it adds and deletes */
  async during<Results extends readonly Result[]>(
    elements: number,
    send: () => Promise<Results>,
  ): Promise<Results> {
    if (!this.#listener || elements <= MOST_NOTIFIED) return this.#own.during(send);
    clearTimeout(this.#timer);
    this.#end();
    this.#large++;
    try {
      return await this.#own.during(send);
    } finally {
      this.#large--;
      clearTimeout(this.#timer);
      // The process may end meanwhile.
      if (this.#listener) this.#timer = setTimeout(() => void this.#startAgain(), QUIET).unref();
    }
  }

  /** Looks at once: a transaction of the family failed, perhaps because its table or chains were deleted. */
  look(family: Family): void {
    // The failed transaction is reported and retried: an error of this look need not be.
    this.#listener?.disturbed((known) => this.#hasLost(family, known).catch(() => false));
  }

  /** Whether the kernel lacks the known table of a family, or one of its known chains by which packets come to those of Services. */
  async #hasLost(family: Family, known: ReadonlyMap<string, Item>): Promise<boolean> {
    const { name: table, tableKey, chains } = this.#tables;
    const inFamily = TABLE_FAMILY[family];
    const isGone =
      known.has(tableKey(family)) && !(await this.#nftables.getTable({ family: inFamily, name: table }));
    if (isGone) return true;
    for (const [key, name] of chains(family)) {
      if (!known.has(key)) continue;
      if (!(await this.#nftables.getChain({ family: inFamily, table, name }))) return true;
    }
    return false;
  }

  /**
   * Watches again, unless a large transaction has begun. The generations since the last look must be those of our own transactions: otherwise
   * another program may have changed anything.
   */
  async #startAgain(): Promise<void> {
    try {
      const commits = await this.#subscribe();
      const current = await this.#own.current();
      if (!this.#listener || this.#large > 0) {
        await commits.return?.();
        return;
      }
      const before = this.#seen;
      this.#seen = current;
      const isOurs = () =>
        before !== undefined && current !== undefined && this.#own.areOurs({ after: before, last: current });
      // Asked again after the current pass: a small transaction that is under way has committed its generation, and has not recorded it.
      if (!isOurs()) this.#listener.disturbed(() => !isOurs());
      this.#read(commits);
    } catch {
      this.#fail();
    }
  }

  async #subscribe(): Promise<Commits> {
    const commits = this.#nftables.watchCommits({ gather: GATHER, keepAlive: false })[Symbol.asyncIterator]();
    await commits.next(); // The first event: later changes are notified of.
    return commits;
  }

  #read(commits: Commits): void {
    this.#end();
    this.#commits = commits;
    this.#reportAll(commits).catch(() => {
      if (this.#commits === commits) this.#fail();
    });
  }

  async #reportAll(commits: Commits): Promise<void> {
    for (let next = await commits.next(); !next.done; next = await commits.next()) {
      if (this.#commits !== commits) return;
      this.#report(next.value);
    }
  }

  #report(commit: Commit | Resync): void {
    if (commit.kind === 'resync') {
      this.#listener?.disturbed(() => true);
      return;
    }
    const { id } = commit.generation;
    if (this.#seen !== undefined && id <= this.#seen) return;
    this.#seen = id;
    // Asked after the current pass: only then the generations of its transactions are known.
    if (commit.tables.some((table) => this.#isOurs(table)))
      this.#listener?.disturbed(async () => !((await this.#isSender(commit)) && this.#own.isOurs(id)));
  }

  /** Whether our socket sent a transaction. After an error the client may have another socket, and so another port. */
  async #isSender({ sender }: Commit): Promise<boolean> {
    try {
      return sender === (await this.#nftables.port());
    } catch (error) {
      if (error instanceof NetlinkError) return false;
      throw error;
    }
  }

  /** Without notifications, audits find the changes; the next pass reads all, and reports what prevents it. */
  #fail(): void {
    this.#end();
    this.#listener?.disturbed(() => true);
  }

  #end(): void {
    const commits = this.#commits;
    this.#commits = undefined;
    commits?.return?.().catch(() => {});
  }

  /** Whether a table is one of this mode. */
  #isOurs({ family, name }: TableName): boolean {
    const ours = familyOfTable(family);
    return name === this.#tables.name && ours !== undefined && this.#tables.families.includes(ours);
  }
}
