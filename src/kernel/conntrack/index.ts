// Connection tracking over ctnetlink: the flows of one network namespace.

import { loadAddon, type NativeConntrackClient } from '../shared/addon.js';
import { checkArray, checkOptions } from '../shared/arguments.js';
import { applyAll } from '../shared/batch.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { toNetlinkError } from '../shared/failures.js';
import { readAll } from '../shared/listing.js';
import type { CallOptions, EventStream, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { watchEvents } from '../shared/watch.js';
import { TimeSlice } from '../timeSlice.js';
import { attemptOn, hintFor, nameFlow, nameSelections } from './names.js';
import { packName } from './operations.js';
import { DELETION_PACKING, deletionOf } from './packing.js';
import { readCapabilities, readEvents, readExpectations, readFlows, readStatistics } from './records.js';
import { packFilter, packListingInSteps, packWatch, readGetOptions, selectionsOf } from './selections.js';
import type {
  Conntrack,
  ConntrackCapabilities,
  ConntrackStatistics,
  Expectation,
  Flow,
  FlowChange,
  FlowDeletion,
  FlowEvent,
  FlowFilter,
  FlowId,
  FlowSelection,
  FlowWatchOptions,
  GetOptions,
  ListOptions,
} from './types.js';
import { ConntrackVerbs } from './verbs.js';

export type { Family } from '../net/address.js';
export type { IpProtocol, Protocol } from '../net/protocol.js';
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

class ConntrackClient
  extends withVerbs(Client<NativeConntrackClient, FlowChange>, ConntrackVerbs)
  implements Conntrack
{
  list(selection?: FlowSelection | readonly FlowSelection[], options: ListOptions = {}): Listing<Flow> {
    checkOptions('conntrack.list', options);
    const selections = selection === undefined ? undefined : selectionsOf(selection);
    const list = async (client: NativeConntrackClient) => {
      const { filters, how } = await new TimeSlice().finish(packListingInSteps(selections, options));
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

  async deleteFlows(flows: readonly FlowId[], options?: CallOptions): Promise<OperationResult[]> {
    checkArray('conntrack.deleteFlows', 'flows', flows);
    return applyAll(this.calls, flows, DELETION_PACKING, options, deletionOf);
  }

  protected async deleteEach(filter: FlowFilter, options?: CallOptions): Promise<FlowDeletion> {
    const attempt = attemptOn('delete', nameSelections([filter]));
    const record = packFilter(filter);
    const deletion = await this.calls.run(attempt, (client) => client.delete(record), options);
    const flows = await readAll(readFlows(deletion.failed));
    const failures = deletion.failures.flatMap((failure) => {
      const flow = flows[failure.index];
      return flow ? [toNetlinkError(failure, attemptOn('delete', nameFlow(flow)))] : [];
    });
    return { deleted: deletion.deleted, failures };
  }

  protected async deleteAll(options: CallOptions): Promise<void> {
    await this.calls.run(attemptOn('flush'), (client) => client.flush(), options);
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
    const read = this.calls.run(attemptOn('statistics'), (client) => client.statistics(), options);
    return readStatistics(await read);
  }

  expectations(options?: CallOptions): Listing<Expectation> {
    const list = (client: NativeConntrackClient) => client.listExpectations();
    return this.listing(attemptOn('expectations'), list, readExpectations, options);
  }

  async capabilities(options?: CallOptions): Promise<ConntrackCapabilities> {
    const read = this.calls.run(attemptOn('capabilities'), (client) => client.capabilities(), options);
    return readCapabilities(await read);
  }
}
