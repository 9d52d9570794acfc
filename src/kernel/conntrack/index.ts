// Connection tracking over ctnetlink: the flows of one network namespace.
import type { NetlinkError } from '../../errors.js';
import { loadAddon, type NativeConntrackClient } from '../shared/addon.js';
import { checkArray, checkOptions } from '../shared/arguments.js';
import { applyAll, applyOne } from '../shared/batch.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { checkConfirmation } from '../shared/confirmation.js';
import { toNetlinkError } from '../shared/failures.js';
import { readAll } from '../shared/listing.js';
import { changed, reported } from '../shared/reported.js';
import type { CallOptions, EventStream, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { watchEvents } from '../shared/watch.js';
import { attemptOn, hintFor, nameFlow, nameSelections } from './names.js';
import { packName } from './operations.js';
import { DELETION_PACKING, deletionOf, PACKING } from './packing.js';
import { readCapabilities, readEvents, readExpectations, readFlows, readStatistics } from './records.js';
import { packFilter, packListing, packWatch, readGetOptions } from './selections.js';
import {
  type Conntrack,
  type ConntrackCapabilities,
  type ConntrackStatistics,
  type Expectation,
  FLUSH_CONFIRMATION,
  type Flow,
  type FlowChange,
  type FlowChanges,
  type FlowDeletion,
  type FlowEvent,
  type FlowFilter,
  type FlowId,
  type FlowOperation,
  type FlowSelection,
  type FlowWatchOptions,
  type FlushOptions,
  type GetOptions,
  type ListOptions,
  type NewFlow,
} from './types.js';

export type { Family } from '../../net/address.js';
export type { IpProtocol, Protocol } from '../../net/protocol.js';
export * from '../shared/everyClient.js';
export type { EventStream, Resync, WatchOptions } from '../shared/types.js';
export { type Endpoint, type FlowNat, natOf } from './nat.js';
export { newFlowOf } from './newFlow.js';
export {
  FLOW_STATUSES,
  type FlowStatus,
  SCTP_STATES,
  type SctpState,
  TCP_STATES,
  type TcpState,
} from './states.js';
export * from './types.js';

/**
 * Opens conntrack. The kernel loads nf_conntrack_netlink by itself. It tracks flows only if a rule of iptables or nftables, or
 * IPVS (`net.ipv4.vs.conntrack`), needs them.
 *
 * Rejects with NetlinkError `EINVAL` when the module is missing or `options.netns` is not a network namespace, `ENOENT` when
 * `options.netns` is missing, and `EPERM` without CAP_NET_ADMIN, or without CAP_SYS_ADMIN, which `options.netns` needs.
 */
export async function openConntrack(options: OpenOptions = {}): Promise<Conntrack> {
  const native = new (loadAddon().ConntrackClient)();
  const attempt = { operation: 'conntrack.open', hint: hintFor };
  return new ConntrackClient(await openCalls(native, options, attempt));
}

class ConntrackClient extends Client<NativeConntrackClient, FlowChange> implements Conntrack {
  list(selection?: FlowSelection | readonly FlowSelection[], options: ListOptions = {}): Listing<Flow> {
    checkOptions('conntrack.list', options);
    const selections = selection === undefined ? undefined : [selection].flat();
    const list = (client: NativeConntrackClient) => {
      const { filters, how } = packListing(selections, options);
      return client.list(filters, how);
    };
    return this.listing(attemptOn('list', nameSelections(selections ?? [])), list, readFlows, {
      signal: options.signal,
    });
  }

  async get(flow: FlowId, options: GetOptions = {}): Promise<Flow | undefined> {
    const name = packName(flow, 'conntrack.get');
    const { zeroCounters, call } = readGetOptions(options);
    const attempt = attemptOn('get', nameFlow(flow));
    const found = this.calls.run(attempt, (client) => client.get(name, zeroCounters), call);
    const record = await unless('ENOENT', found);
    return record && (await readAll(readFlows(record)))[0];
  }

  add(flow: NewFlow, options?: CallOptions): Promise<void> {
    return applyOne(this.calls, { do: 'addFlow', flow }, PACKING, options);
  }

  update(flow: FlowId, changes: FlowChanges, options?: CallOptions): Promise<void> {
    return applyOne(this.calls, { do: 'updateFlow', flow, changes }, PACKING, options);
  }

  async delete(filter: FlowFilter, options?: CallOptions): Promise<FlowDeletion> {
    const record = packFilter(filter);
    let deleted = 0;
    let failures: NetlinkError[] = [];
    const change = { do: 'delete', filter } as const;
    await reported<FlowChange, OperationResult>(
      this,
      [change],
      () => 'delete',
      async () => {
        const attempt = attemptOn('delete', nameSelections([filter]));
        const deletion = await this.calls.run(attempt, (client) => client.delete(record), options);
        const flows = await readAll(readFlows(deletion.failed));
        deleted = deletion.deleted;
        failures = deletion.failures.flatMap((failure) => {
          const flow = flows[failure.index];
          return flow ? [toNetlinkError(failure, attemptOn('delete', nameFlow(flow)))] : [];
        });
        return [failures[0]];
      },
    );
    return { deleted, failures };
  }

  async deleteFlows(flows: readonly FlowId[], options?: CallOptions): Promise<OperationResult[]> {
    checkArray('conntrack.deleteFlows', 'flows', flows);
    return applyAll(this.calls, flows, DELETION_PACKING, options, deletionOf);
  }

  apply(operations: readonly FlowOperation[], options?: CallOptions): Promise<OperationResult[]> {
    return applyAll(this.calls, operations, PACKING, options);
  }

  async flush(options: FlushOptions): Promise<void> {
    checkConfirmation('conntrack.flush', FLUSH_CONFIRMATION, options);
    const { signal } = options;
    await changed<FlowChange>(this, { do: 'flush' }, async () => {
      await this.calls.run(attemptOn('flush'), (client) => client.flush(), { signal });
    });
  }

  watch(options: FlowWatchOptions = {}): EventStream<FlowEvent> {
    const selected = packWatch(options);
    const { kinds: _, selection: __, ...watching } = options;
    const create = () => {
      const watch = new (loadAddon().ConntrackWatch)();
      watch.select(selected.kinds, selected.filters);
      return watch;
    };
    const kind = { operation: 'conntrack.watch', create, read: readEvents };
    return watchEvents(kind, this.calls, watching);
  }

  async statistics(options?: CallOptions): Promise<ConntrackStatistics> {
    return readStatistics(
      await this.calls.run(attemptOn('statistics'), (client) => client.statistics(), options),
    );
  }

  expectations(options?: CallOptions): Listing<Expectation> {
    const list = (client: NativeConntrackClient) => client.listExpectations();
    return this.listing(attemptOn('expectations'), list, readExpectations, options);
  }

  async capabilities(options?: CallOptions): Promise<ConntrackCapabilities> {
    return readCapabilities(
      await this.calls.run(attemptOn('capabilities'), (client) => client.capabilities(), options),
    );
  }
}
