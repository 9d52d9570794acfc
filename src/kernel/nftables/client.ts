// The client of nftables over netlink of the protocol netfilter.
import { NetlinkError, ROLLED_BACK } from '../errors.js';
import { loadAddon, type NativeNetlinkClient } from '../shared/addon.js';
import type { Calls } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import type { Attempt } from '../shared/failures.js';
import type { CallOptions, EventStream, OperationResult, WatchOptions } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { watchEvents } from '../shared/watch.js';
import { TimeSlice } from '../timeSlice.js';
import { commitReader } from './decode/commits.js';
import { generationIn, isOfOneGeneration, readEvents } from './reading.js';
import { generationRequest } from './requests.js';
import { type Answer, readAnswer } from './transaction/answer.js';
import { carryOut } from './transaction/carryOut.js';
import type { WrittenTransaction } from './transaction/write.js';
import type { Commit, Nftables, NftablesEvent, NftablesOperation, TransactionOptions } from './types.js';
import { NftablesVerbs } from './verbs.js';

/** `NETLINK_NETFILTER` */
export const NETLINK_NETFILTER = 12;
/** `NFNLGRP_NFTABLES` */
const NFNLGRP_NFTABLES = 7;

/** Times for which a listing is read, if a transaction is committed meanwhile. */
const MOST_ATTEMPTS = 10;

const APPLY: Attempt = { operation: 'nftables.apply' };

/** A client, which makes its calls through `calls`. */
export class NftablesClient
  extends withVerbs(Client<NativeNetlinkClient, NftablesOperation>, NftablesVerbs)
  implements Nftables
{
  constructor(calls: Calls<NativeNetlinkClient, NftablesOperation>) {
    super(calls);
  }

  watch(options: WatchOptions = {}): EventStream<NftablesEvent> {
    const create = () => new (loadAddon().NetlinkWatch)(NETLINK_NETFILTER, [NFNLGRP_NFTABLES]);
    return watchEvents({ operation: 'nftables.watch', create, read: readEvents }, this.calls, options);
  }

  watchCommits(options: WatchOptions = {}): EventStream<Commit> {
    const create = () => new (loadAddon().NetlinkWatch)(NETLINK_NETFILTER, [NFNLGRP_NFTABLES]);
    const read = commitReader();
    return watchEvents({ operation: 'nftables.watchCommits', create, read }, this.calls, options);
  }

  protected transact(
    operations: readonly NftablesOperation[],
    options: TransactionOptions,
  ): Promise<OperationResult[]> {
    const { generation, signal } = options;
    const call = signal ? { signal } : {};
    const inTurn = (work: (client: NativeNetlinkClient) => Promise<Answer>) =>
      this.calls.run(APPLY, work, call);
    return carryOut(operations, options, inTurn, (client, written) =>
      send(client, written, generation, signal),
    );
  }

  protected async ask(attempt: Attempt, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts++) {
      const replies = await this.calls.run(attempt, (client) => client.query(request), options);
      if (isOfOneGeneration(replies)) return replies;
    }
    const kernelMessage = `the ruleset changed during each of ${MOST_ATTEMPTS} attempts`;
    const { operation, target } = attempt;
    throw new NetlinkError({ code: 'ERR_INTERRUPTED', operation, target, kernelMessage });
  }
}

/** Sends a transaction, piece by piece for the event loop, and as one buffer for the kernel. */
async function send(
  client: NativeNetlinkClient,
  { pieces }: WrittenTransaction,
  generation: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const slice = new TimeSlice();
  try {
    for (const piece of pieces.slice(0, -1)) {
      client.gather(piece);
      if (slice.spend()) await slice.yield();
      signal?.throwIfAborted();
    }
    const last = pieces.at(-1) as Uint8Array;
    return readAnswer(await client.transact(last));
  } catch (error) {
    client.drop();
    if (generation !== undefined && isUnknownOutcome(error)) await checkUncommitted(client, generation);
    throw error;
  }
}

function isUnknownOutcome(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_OUTCOME';
}

/**
 * Throws if a transaction whose replies were lost was not committed: the generation on which it was based is in force. Another one does
 * not tell whose transaction was committed.
 */
async function checkUncommitted(client: NativeNetlinkClient, generation: number): Promise<void> {
  const { id } = generationIn(await client.query(generationRequest()));
  if (id !== generation) return;
  const kernelMessage = `the replies were lost, and generation ${id} is still in force: nothing was applied`;
  throw new NetlinkError({ code: ROLLED_BACK, operation: APPLY.operation, kernelMessage });
}
