// nftables in memory: keeps a ruleset, and carries transactions out as the kernel does, as a whole or not at all.

import type { NetlinkError } from '../errors.js';
import { commitReader } from '../nftables/decode/commits.js';
import { NAMING } from '../nftables/names.js';
import { readEvents } from '../nftables/reading.js';
import type { Answer } from '../nftables/transaction/answer.js';
import { carryOut } from '../nftables/transaction/carryOut.js';
import type { WrittenTransaction } from '../nftables/transaction/write.js';
import type {
  Commit,
  Nftables,
  NftablesEvent,
  NftablesOperation,
  TransactionOptions,
} from '../nftables/types.js';
import { NftablesVerbs } from '../nftables/verbs.js';
import { attemptAt } from '../shared/batch.js';
import type { Attempt } from '../shared/failures.js';
import type { CallOptions, EventStream, OperationResult, WatchOptions } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { TimeSlice } from '../timeSlice.js';
import { FakeClient, refusalError } from './client.js';
import { FakeEvents } from './events.js';
import { FakeRuleset } from './nftables/ruleset.js';
import { textOf } from './nftables/text.js';

const APPLY: Attempt = { operation: 'nftables.apply' };

/**
 * A fake of nftables. It takes the messages that the client would send, and refuses what the kernel refuses: objects that are missing or
 * exist otherwise, chains and sets in use, verdicts and translations of addresses in the wrong chains. It does not look for loops of
 * jumps, and of a translation only whether the base chain that has its rule is right for it.
 */
export class FakeNftables
  extends withVerbs(FakeClient<NftablesOperation>, NftablesVerbs)
  implements Nftables
{
  /** The time by which timeouts pass, in ms; that of the machine by default. */
  now: () => number = () => Date.now();
  /** Notifications, for all watches. */
  readonly events = new FakeEvents<NftablesEvent>();
  /** Commits, for all watches of these. */
  readonly commits = new FakeEvents<Commit>();
  readonly #ruleset = new FakeRuleset(() => this.now(), this.#watched());

  #watched() {
    const { events, commits } = this;
    const readCommits = commitReader();
    return {
      get isWatched() {
        return events.isWatched || commits.isWatched;
      },
      notify(messages: Uint8Array) {
        for (const event of readEvents(messages)) events.emit({ ...event, sender: process.pid });
        for (const commit of readCommits(messages)) commits.emit({ ...commit, sender: process.pid });
      },
    };
  }

  watch(options: WatchOptions = {}): EventStream<NftablesEvent> {
    return this.events.stream('nftables.watch', options, this.closed);
  }

  watchCommits(options: WatchOptions = {}): EventStream<Commit> {
    return this.commits.stream('nftables.watchCommits', options, this.closed);
  }

  override async port(options?: CallOptions): Promise<number> {
    await super.port(options);
    return process.pid;
  }

  /** The output of `nft list ruleset`. */
  dump(): string {
    return textOf(this.#ruleset);
  }

  protected async transact(
    operations: readonly NftablesOperation[],
    options: TransactionOptions,
  ): Promise<OperationResult[]> {
    const { signal } = options;
    const call = signal ? { signal } : {};
    const inTurn = (work: (kernel: FakeRuleset) => Promise<Answer>) => {
      this.check(APPLY, call);
      return this.inTurn(() => {
        this.check(APPLY, call);
        return work(this.#ruleset);
      });
    };
    return carryOut(operations, options, inTurn, (kernel, written) =>
      this.#send(kernel, written, operations),
    );
  }

  async #send(
    kernel: FakeRuleset,
    { pieces }: WrittenTransaction,
    operations: readonly NftablesOperation[],
  ): Promise<Answer> {
    const errors = new Map<number, NetlinkError>();
    const slice = new TimeSlice();
    for (const [place, operation] of operations.entries()) {
      const { operation: name, target = '' } = attemptAt(operation, NAMING);
      const fault = this.fault(name, target);
      if (fault) errors.set(place, fault);
      if (slice.spend(1)) await slice.yield();
    }
    if (errors.size > 0) return { refused: [], errorsLost: false, errors };
    const refused = kernel.transact(Buffer.concat(pieces));
    if (typeof refused === 'number') throw refusalError(refused, APPLY);
    return { refused, errorsLost: false };
  }

  protected ask(attempt: Attempt, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    const read = () => {
      const replies = this.#ruleset.query(request);
      if (typeof replies === 'number') throw refusalError(replies, attempt);
      return replies;
    };
    return this.read(attempt, read, options);
  }

  /** Unused: transactions are carried out as a whole. */
  protected act(): undefined {}
}
