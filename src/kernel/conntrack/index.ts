// Connection tracking over ctnetlink: the flows of one network namespace, listed and deleted.
import { loadAddon, type NativeConntrackClient } from '../addon.js';
import { applyAll } from '../batch.js';
import { type Calls, openCalls } from '../calls.js';
import { toNetlinkError } from '../failures.js';
import type { OpenOptions, OperationResult } from '../ipvs/types.js';
import { inSlices } from '../slices.js';
import { attemptOf, attemptOn, hintFor } from './names.js';
import { PACKING } from './packing.js';
import { FILTER_SIZE, packFilter, packSelections, readFlows } from './records.js';
import type {
  Conntrack,
  Flow,
  FlowDeletion,
  FlowFilter,
  FlowId,
  FlowSelection,
  ListOptions,
} from './types.js';

export { NetlinkError } from '../../errors.js';
export type { Family } from '../../net/address.js';
export type { IpProtocol, Protocol } from '../../net/protocol.js';
export type { OpenOptions, OperationResult } from '../ipvs/types.js';
export * from './types.js';

/**
 * Opens conntrack. The kernel loads nf_conntrack_netlink by itself; it begins to track flows only once a rule of iptables
 * or nftables, or IPVS (`net.ipv4.vs.conntrack`), asks for it.
 *
 * Rejects with NetlinkError: `EINVAL` when the module is missing; `ENOENT` and `EINVAL` for a path that is missing or no
 * network namespace; `EPERM` without CAP_NET_ADMIN, or without CAP_SYS_ADMIN to enter a namespace.
 */
export async function openConntrack(options: OpenOptions = {}): Promise<Conntrack> {
  const { ConntrackClient } = loadAddon();
  const attempt = { operation: 'conntrack.open', hint: hintFor };
  return new Client(await openCalls(new ConntrackClient(), options, attempt));
}

/** A filter that says nothing. */
const EVERY_FLOW = new Uint8Array(FILTER_SIZE);

class Client implements Conntrack {
  readonly #calls: Calls<NativeConntrackClient>;

  constructor(calls: Calls<NativeConntrackClient>) {
    this.#calls = calls;
  }

  async list(
    selection?: FlowSelection | readonly FlowSelection[],
    options: ListOptions = {},
  ): Promise<Flow[]> {
    const selections = selection === undefined ? [] : [selection].flat();
    const packed = packSelections(selections, options);
    const records = selection === undefined ? EVERY_FLOW : packed;
    const { partial = false } = options;
    const attempt = attemptOn('list', selections);
    return inSlices(readFlows(await this.#calls.run(attempt, (client) => client.list(records, partial))));
  }

  async delete(filter: FlowFilter): Promise<FlowDeletion> {
    const record = packFilter(filter);
    const deletion = await this.#calls.run(attemptOn('delete', [filter]), (client) => client.delete(record));
    const flows = await inSlices(readFlows(deletion.failed));
    const failures = deletion.failures.flatMap((failure) => {
      const flow = flows[failure.index];
      return flow ? [toNetlinkError(failure, attemptOf(flow, 'delete'))] : [];
    });
    return { deleted: deletion.deleted, failures };
  }

  deleteFlows(flows: readonly FlowId[]): Promise<OperationResult[]> {
    return applyAll(this.#calls, flows, PACKING);
  }

  close(): void {
    this.#calls.close();
  }
}
