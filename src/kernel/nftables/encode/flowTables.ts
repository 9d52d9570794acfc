// Flow tables as messages.
import { FLOW_TABLE, FLOW_TABLE_FLAGS, FLOW_TABLE_HOOK, MESSAGE, NESTED } from '../numbers.js';
import type { FlowTableName, NameInTable, NewFlowTable } from '../types.js';
import { flagsOf, type Messages } from './messages.js';
import { writeDevices } from './tables.js';

const FIELDS = new Set([
  ...['family', 'table', 'name', 'priority', 'devices', 'flags'],
  ...['handle', 'use', 'attributes', 'userData'], // of one that was listed
]);
/** `NF_NETDEV_INGRESS` */
const INGRESS = 0;

/** The message that adds a flow table. */
export function encodeFlowTable(messages: Messages, flags: number, flowTable: NewFlowTable): void {
  const { check } = messages;
  if (!begin(messages, MESSAGE.newFlowTable, flags, flowTable)) return;
  messages.refuseListed('flowTable', flowTable);
  writeHook(messages, flowTable.priority, flowTable.devices);
  messages.u32(FLOW_TABLE.flags, flagsOf(check, 'flowTable.flags', flowTable.flags, FLOW_TABLE_FLAGS));
  messages.end();
}

/** The message that deletes a flow table, or takes links out of it. */
export function encodeFlowTableName(messages: Messages, type: number, flowTable: FlowTableName): void {
  if (!begin(messages, type, 0, flowTable)) return;
  const { priority = 0, devices } = flowTable;
  if (devices !== undefined) writeHook(messages, priority, devices);
  messages.end();
}

function writeHook(messages: Messages, priority: number, devices: readonly string[] | undefined): void {
  const { bytes, check } = messages;
  const start = bytes.begin(FLOW_TABLE.hook | NESTED);
  messages.u32(FLOW_TABLE_HOOK.number, INGRESS);
  const checked = check.integer('flowTable.priority', priority, -0x8000_0000, 0x7fff_ffff);
  messages.u32(FLOW_TABLE_HOOK.priority, checked >>> 0);
  if (devices !== undefined) writeDevices(messages, 'flowTable.devices', devices, FLOW_TABLE_HOOK);
  bytes.end(start);
}

function begin(messages: Messages, type: number, flags: number, flowTable: NameInTable): boolean {
  if (!messages.check.object('flowTable', flowTable, FIELDS, 'a flow table')) return false;
  messages.begin(type, flags, messages.family('flowTable.family', flowTable.family));
  messages.name(FLOW_TABLE.table, 'flowTable.table', flowTable.table);
  messages.name(FLOW_TABLE.name, 'flowTable.name', flowTable.name);
  return true;
}
