// Records of flows, filters and operations of conntrack, and the rules that they break.

import { FILTER, FLOW as FLOW_RECORD, OPERATION } from '../../../src/kernel/conntrack/layouts.js';
import { writeOperation } from '../../../src/kernel/conntrack/operations.js';
import { writeSelection } from '../../../src/kernel/conntrack/selections.js';
import type { Flow, FlowOperation, FlowSelection } from '../../../src/kernel/conntrack/types.js';
import { describeInvalid } from '../../../src/kernel/shared/arguments.js';
import { RecordWriter } from '../../../src/kernel/shared/records/recordWriter.js';

/** A flow, as it is listed. */
export const FLOW: Flow = {
  family: 4,
  protocol: 'udp',
  original: { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 0x1234, destinationPort: 53 },
  reply: { source: '10.0.0.1', destination: '10.0.0.9', sourcePort: 5353, destinationPort: 0x1234 },
  zone: 0x0102,
  replyZone: 0,
  id: 0x01020304,
  status: ['SEEN_REPLY', 'ASSURED', 'CONFIRMED', 'SRC_NAT_DONE', 'DST_NAT_DONE'],
  mark: 0xffffffff,
  timeout: 119,
  use: 2,
};

/** The record of an operation, or the rule that it breaks. */
export function writtenOperation(operation: unknown): Uint8Array | string {
  const writer = new RecordWriter(OPERATION.SIZE, 1);
  writeOperation(operation as FlowOperation, writer);
  const fault = writer.finish();
  return fault ? describeInvalid(fault) : writer.records();
}

/** As {@link writtenOperation}, of the deletion of a flow. */
export const writtenFlow = (flow: unknown) => writtenOperation({ do: 'deleteFlow', flow });

/** The part of an operation's record that is its flow. */
export function flowOf(record: Uint8Array | string): Uint8Array | string {
  return typeof record === 'string'
    ? record
    : record.subarray(OPERATION.flow, OPERATION.flow + FLOW_RECORD.SIZE);
}

/** The record of a filter, or the rule that it breaks. */
export function written(selection: unknown, toDelete = false): Uint8Array | string {
  const writer = new RecordWriter(FILTER.SIZE, 1);
  writeSelection(selection as FlowSelection, toDelete, writer);
  const fault = writer.finish();
  return fault ? describeInvalid(fault) : writer.records();
}

/** The bytes as text; a broken rule as it is. */
export const hex = (bytes: Uint8Array | string) =>
  typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('hex');
/** So many bytes of 0, as text. */
export const zeros = (bytes: number) => '00'.repeat(bytes);
/** An IPv4 address and the rest of its field. */
export const four = (address: string) => address + zeros(12);
