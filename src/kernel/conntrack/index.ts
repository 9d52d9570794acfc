// Connection tracking over ctnetlink: the flows of one network namespace, listed and deleted.
import type { NetlinkError } from '../../errors.js';
import { loadAddon, type NativeConntrackClient } from '../addon.js';
import { applyAll } from '../batch.js';
import { openCalls } from '../calls.js';
import { Client } from '../client.js';
import { toNetlinkError } from '../failures.js';
import { readAll } from '../listing.js';
import { reported } from '../reported.js';
import type { OpenOptions, OperationResult } from '../types.js';
import { FILTER } from './layouts.js';
import { attemptOf, attemptOn, hintFor } from './names.js';
import { PACKING } from './packing.js';
import { packFilter, packSelections, readFlows } from './records.js';
import type {
  Conntrack,
  Flow,
  FlowChange,
  FlowDeletion,
  FlowFilter,
  FlowId,
  FlowSelection,
  ListOptions,
} from './types.js';

export { NetlinkError } from '../../errors.js';
export type { Family } from '../../net/address.js';
export type { IpProtocol, Protocol } from '../../net/protocol.js';
export { throwOnFailure } from '../failures.js';
export type {
  Batch,
  BatchSource,
  CallOptions,
  KernelClient,
  Listing,
  OpenOptions,
  OperationResult,
} from '../types.js';
export * from './types.js';

/**
 * Opens conntrack. The kernel loads nf_conntrack_netlink by itself; it begins to track flows only once a rule of iptables
 * or nftables, or IPVS (`net.ipv4.vs.conntrack`), asks for it.
 *
 * Rejects with NetlinkError: `EINVAL` when the module is missing; `ENOENT` and `EINVAL` for a path that is missing or no
 * network namespace; `EPERM` without CAP_NET_ADMIN, or without CAP_SYS_ADMIN to enter a namespace.
 */
export async function openConntrack(options: OpenOptions = {}): Promise<Conntrack> {
  const native = new (loadAddon().ConntrackClient)();
  const attempt = { operation: 'conntrack.open', hint: hintFor };
  return new ConntrackClient(await openCalls(native, options, attempt));
}

/** A filter without conditions. */
const EVERY_FLOW = new Uint8Array(FILTER.SIZE);

class ConntrackClient extends Client<NativeConntrackClient, FlowChange> implements Conntrack {
  async list(
    selection?: FlowSelection | readonly FlowSelection[],
    options: ListOptions = {},
  ): Promise<Flow[]> {
    const selections = selection === undefined ? [] : [selection].flat();
    const packed = packSelections(selections, options);
    const records = selection === undefined ? EVERY_FLOW : packed;
    const { partial = false } = options;
    const attempt = attemptOn('list', selections);
    return readAll(readFlows(await this.calls.run(attempt, (client) => client.list(records, partial))));
  }

  async delete(filter: FlowFilter): Promise<FlowDeletion> {
    const record = packFilter(filter);
    let deleted = 0;
    let failures: NetlinkError[] = [];
    const change = { do: 'delete', filter } as const;
    await reported<FlowChange, OperationResult>(
      this,
      [change],
      () => 'delete',
      async () => {
        const deletion = await this.calls.run(attemptOn('delete', [filter]), (client) =>
          client.delete(record),
        );
        const flows = await readAll(readFlows(deletion.failed));
        deleted = deletion.deleted;
        failures = deletion.failures.flatMap((failure) => {
          const flow = flows[failure.index];
          return flow ? [toNetlinkError(failure, attemptOf(flow, 'delete'))] : [];
        });
        return [failures[0]];
      },
    );
    return { deleted, failures };
  }

  deleteFlows(flows: readonly FlowId[]): Promise<OperationResult[]> {
    return applyAll(this.calls, flows, PACKING);
  }
}
