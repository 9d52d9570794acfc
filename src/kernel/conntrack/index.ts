// Connection tracking over ctnetlink: the flows of one network namespace.

import { loadAddon, type NativeNetlinkClient } from '../shared/addon.js';
import { checkArray, checkCallOptions, checkOptions } from '../shared/arguments.js';
import { applyAll } from '../shared/batch.js';
import { openCalls, unless } from '../shared/calls.js';
import { Client } from '../shared/client.js';
import { toNetlinkError } from '../shared/failures.js';
import { RecordListing } from '../shared/listing.js';
import type { CallOptions, EventStream, Listing, OpenOptions, OperationResult } from '../shared/types.js';
import { withVerbs } from '../shared/verbs.js';
import { watchEvents } from '../shared/watch.js';
import { TimeSlice } from '../timeSlice.js';
import { readCapabilities } from './capabilities.js';
import { readCpus, readExpectations, readTotals } from './decode/reports.js';
import { deleteFlows } from './deletion.js';
import { checkedName } from './encode/operations.js';
import { FLUSH, GET_STATISTICS, LIST_CPUS, LIST_EXPECTATIONS } from './encode/requests.js';
import { watchOf } from './events.js';
import { getFlow, listFlows, readFlows } from './listing.js';
import { attemptOn, hintFor, nameFlow, nameSelections } from './names.js';
import { NETLINK_NETFILTER } from './numbers.js';
import { DELETION_PACKING, deletionOf } from './packing.js';
import { planListingInSteps, planOf, planWatch, readGetOptions, selectionsOf } from './plans.js';
import { deletionFilter } from './selections.js';
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
  const native = new (loadAddon().NetlinkClient)(NETLINK_NETFILTER, false);
  const attempt = { operation: 'conntrack.open', hint: hintFor };
  const calls = await openCalls<NativeNetlinkClient, FlowChange>(native, options, attempt);
  try {
    const ask = (client: NativeNetlinkClient) => client.query(GET_STATISTICS);
    await calls.run({ ...attempt, target: calls.opening.target }, ask, { signal: options.signal });
  } catch (error) {
    void calls.close();
    throw error;
  }
  return new ConntrackClient(calls);
}

class ConntrackClient
  extends withVerbs(Client<NativeNetlinkClient, FlowChange>, ConntrackVerbs)
  implements Conntrack
{
  list(selection?: FlowSelection | readonly FlowSelection[], options: ListOptions = {}): Listing<Flow> {
    const operation = 'conntrack.list';
    checkOptions(operation, options);
    const { signal } = options;
    const call = { signal };
    checkCallOptions(operation, call);
    const selections = selection === undefined ? undefined : selectionsOf(selection);
    const list = async (client: NativeNetlinkClient) => {
      const plan = await new TimeSlice().finish(planListingInSteps(selections, options));
      return listFlows(client, plan, operation, signal);
    };
    const attempt = attemptOn('list', nameSelections(selections ?? []));
    const start = async () => readFlows(await this.calls.run(attempt, list, call), operation);
    return new RecordListing(start, signal);
  }

  async get(flow: FlowId, options: GetOptions = {}): Promise<Flow | undefined> {
    const name = checkedName(flow, 'conntrack.get');
    const { zeroCounters, call } = readGetOptions(options);
    const get = (client: NativeNetlinkClient) => getFlow(client, name, zeroCounters);
    return unless('ENOENT', this.calls.run(attemptOn('get', nameFlow(flow)), get, call));
  }

  async deleteFlows(flows: readonly FlowId[], options?: CallOptions): Promise<OperationResult[]> {
    checkArray('conntrack.deleteFlows', 'flows', flows);
    return applyAll(this.calls, flows, DELETION_PACKING, options, deletionOf);
  }

  protected async deleteEach(filter: FlowFilter, options?: CallOptions): Promise<FlowDeletion> {
    const attempt = attemptOn('delete', nameSelections([filter]));
    const plan = planOf(deletionFilter(filter));
    return this.calls.run(attempt, (client) => deleteFlows(client, plan), options);
  }

  protected async deleteAll(options: CallOptions): Promise<void> {
    const attempt = attemptOn('flush');
    const [failure] = await this.calls.run(attempt, (client) => client.apply(FLUSH), options);
    if (failure) throw toNetlinkError(failure, attempt);
  }

  watch(options: FlowWatchOptions = {}): EventStream<FlowEvent> {
    const { groups, selector } = planWatch(options);
    const { kinds: _, selection: __, ...watching } = options;
    return watchEvents(watchOf(groups, selector), this.calls, watching);
  }

  async statistics(options?: CallOptions): Promise<ConntrackStatistics> {
    const read = async (client: NativeNetlinkClient) => {
      const totals = readTotals(await client.query(GET_STATISTICS));
      return { ...totals, cpus: readCpus(await client.query(LIST_CPUS)) };
    };
    return this.calls.run(attemptOn('statistics'), read, options);
  }

  expectations(options?: CallOptions): Listing<Expectation> {
    const list = (client: NativeNetlinkClient) => client.query(LIST_EXPECTATIONS);
    return this.listing(attemptOn('expectations'), list, readExpectations, options);
  }

  async capabilities(options?: CallOptions): Promise<ConntrackCapabilities> {
    const attempt = attemptOn('capabilities');
    const { netns } = this.calls.opening;
    return this.calls.run(attempt, (client) => readCapabilities(client, netns, attempt), options);
  }
}
