// Flow tables of the fake kernel: nf_tables_newflowtable(), nf_tables_delflowtable().
import { constants } from 'node:os';
import { FLOW_TABLE, FLOW_TABLE_HOOK, MESSAGE, NLM_F } from '../../nftables/numbers.js';
import { type Attributes, eachIn } from './attributes.js';
import { type Context, nameIn, nextHandle, refuse, tableKey, tableOf } from './context.js';
import { flowTableMessage } from './dump.js';
import type { FakeFlowTable } from './state.js';

const { EBUSY, EEXIST, EINVAL, ENOENT } = constants.errno;

/** Adds a flow table; one that exists gets the links that it does not have. */
export function newFlowTable(context: Context): void {
  const { changes, flags, attributes, notify } = context;
  const table = tableOf(context, FLOW_TABLE.table);
  const name = nameIn(attributes, FLOW_TABLE.name);
  const hook = attributes.nested(FLOW_TABLE.hook) ?? refuse(EINVAL);
  const devices = devicesIn(hook);
  const found = table.flowTables.get(name);
  if (found) {
    if (flags & NLM_F.exclusive) refuse(EEXIST, attributes.bytes(FLOW_TABLE.name));
    changeDevices(context, found, new Map([...found.devices, ...devices]));
    return;
  }
  const flowTable: FakeFlowTable = {
    table,
    name,
    handle: nextHandle(context, table),
    priority: hook.u32(FLOW_TABLE_HOOK.priority) ?? refuse(ENOENT),
    devices,
    flags: attributes.u32(FLOW_TABLE.flags) ?? 0,
    uses: 0,
  };
  changes.add(table.flowTables, name, flowTable);
  notify(() => flowTableMessage(MESSAGE.newFlowTable, flowTable));
}

/** Deletes a flow table, unless rules refer to it; or takes links out of it. */
export function deleteFlowTable(context: Context): void {
  const { tables, family, ifExists, attributes } = context;
  const name = nameIn(attributes, FLOW_TABLE.name);
  const found = tables.get(tableKey(family, nameIn(attributes, FLOW_TABLE.table)));
  if (ifExists && !found?.flowTables.has(name)) return;
  const flowTable = tableOf(context, FLOW_TABLE.table).flowTables.get(name);
  if (!flowTable) refuse(ENOENT, attributes.bytes(FLOW_TABLE.name));
  const hook = attributes.nested(FLOW_TABLE.hook);
  if (hook) {
    const devices = new Map(flowTable.devices);
    if (![...devicesIn(hook).keys()].every((device) => devices.delete(device))) refuse(ENOENT);
    changeDevices(context, flowTable, devices);
    return;
  }
  if (flowTable.uses > 0) refuse(EBUSY, attributes.bytes(FLOW_TABLE.name));
  removeFlowTable(context, flowTable);
}

function devicesIn(hook: Attributes): ReadonlyMap<string, number> {
  const list = hook.bytes(FLOW_TABLE_HOOK.devices) ?? new Uint8Array();
  return new Map(
    [...eachIn(list)].map(({ type, value }) => [Buffer.from(value).toString().replace(/\0$/, ''), type]),
  );
}

function changeDevices(
  { changes, notify }: Context,
  flowTable: FakeFlowTable,
  devices: FakeFlowTable['devices'],
): void {
  if (devices.size === flowTable.devices.size) return;
  changes.set(flowTable, 'devices', devices);
  notify(() => flowTableMessage(MESSAGE.newFlowTable, flowTable));
}

/** Deletes a flow table that nothing refers to. */
export function removeFlowTable({ changes, notify }: Context, flowTable: FakeFlowTable): void {
  changes.deleteInOrder(flowTable.table.flowTables, flowTable.name);
  notify(() => flowTableMessage(MESSAGE.deleteFlowTable, flowTable));
}
