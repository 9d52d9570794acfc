// Connection tracking over ctnetlink: the flows of one network namespace, listed and deleted.
import { loadAddon, type NativeConntrackClient } from '../addon.js';
import { applyAll, type Packing } from '../batch.js';
import { type Calls, openCalls } from '../calls.js';
import { argumentError, onlyRecord, RecordWriter } from '../fields.js';
import type { OpenOptions, OperationResult } from '../ipvs/types.js';
import { attemptOf, hintFor, nameSelections } from './names.js';
import { FILTER_SIZE, FLOW_SIZE, readCount, readFlows, writeFlowId, writeSelection } from './records.js';
import type { Conntrack, Flow, FlowFilter, FlowId, FlowSelection, ListOptions } from './types.js';

export { NetlinkError } from '../../errors.js';
export type { Family } from '../../net/address.js';
export type { Protocol } from '../../net/protocol.js';
export type { OpenOptions, OperationResult } from '../ipvs/types.js';
export * from './types.js';

const PACKING: Packing<FlowId> = {
  family: 'conntrack',
  recordSize: FLOW_SIZE,
  write: writeFlowId,
  attempt: attemptOf,
};

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
    { partial = false }: ListOptions = {},
  ): Promise<Flow[]> {
    const selections = selection === undefined ? [] : [selection].flat();
    const records = selection === undefined ? EVERY_FLOW : packSelections(selections);
    const attempt = { operation: 'conntrack.list', target: nameSelections(selections), hint: hintFor };
    return readFlows(await this.#calls.run(attempt, (client) => client.list(records, partial)));
  }

  async delete(filter: FlowFilter): Promise<number> {
    const writer = new RecordWriter(FILTER_SIZE, 1);
    writeSelection(filter, true, writer);
    const record = onlyRecord(writer, 'conntrack.delete');
    const attempt = { operation: 'conntrack.delete', target: nameSelections([filter]), hint: hintFor };
    return readCount(await this.#calls.run(attempt, (client) => client.delete(record)));
  }

  deleteFlows(flows: readonly FlowId[]): Promise<OperationResult[]> {
    return applyAll(this.#calls, flows, PACKING);
  }

  close(): void {
    this.#calls.close();
  }
}

function packSelections(selections: readonly FlowSelection[]): Uint8Array {
  const writer = new RecordWriter(FILTER_SIZE, selections.length);
  for (const selection of selections) {
    writeSelection(selection, false, writer);
    const fault = writer.finish();
    if (fault) throw argumentError('conntrack.list', fault);
  }
  return writer.records();
}
