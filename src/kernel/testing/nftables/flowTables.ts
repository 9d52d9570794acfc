// Flow tables of the fake kernel: nf_tables_newflowtable(), nf_tables_delflowtable().
import { constants } from 'node:os';
import { FLOW_TABLE, MESSAGE, NLM_F } from '../../nftables/numbers.js';
import { type Context, nameIn, nextHandle, refuse, tableKey, tableOf } from './context.js';
import { flowTableMessage } from './dump.js';
import type { FakeFlowTable } from './state.js';

const { EBUSY, EEXIST, EINVAL, ENOENT } = constants.errno;

/** Adds a flow table; one that exists stays as it is. */
export function newFlowTable(context: Context): void {
  const { changes, flags, attributes, notify } = context;
  const table = tableOf(context, FLOW_TABLE.table);
  const name = nameIn(attributes, FLOW_TABLE.name);
  if (table.flowTables.has(name)) {
    if (flags & NLM_F.exclusive) refuse(EEXIST, attributes.bytes(FLOW_TABLE.name));
    return;
  }
  const flowTable: FakeFlowTable = {
    table,
    name,
    handle: nextHandle(context, table),
    hook: attributes.copy(FLOW_TABLE.hook) ?? refuse(EINVAL),
    flags: attributes.u32(FLOW_TABLE.flags) ?? 0,
    uses: 0,
  };
  changes.add(table.flowTables, name, flowTable);
  notify(() => flowTableMessage(MESSAGE.newFlowTable, flowTable));
}

/** Deletes a flow table, unless rules refer to it. */
export function deleteFlowTable(context: Context): void {
  const { tables, family, ifExists, attributes } = context;
  const name = nameIn(attributes, FLOW_TABLE.name);
  const found = tables.get(tableKey(family, nameIn(attributes, FLOW_TABLE.table)));
  if (ifExists && !found?.flowTables.has(name)) return;
  const flowTable = tableOf(context, FLOW_TABLE.table).flowTables.get(name);
  if (!flowTable) refuse(ENOENT, attributes.bytes(FLOW_TABLE.name));
  if (flowTable.uses > 0) refuse(EBUSY, attributes.bytes(FLOW_TABLE.name));
  removeFlowTable(context, flowTable);
}

/** Deletes a flow table that nothing refers to. */
export function removeFlowTable({ changes, notify }: Context, flowTable: FakeFlowTable): void {
  changes.deleteInOrder(flowTable.table.flowTables, flowTable.name);
  notify(() => flowTableMessage(MESSAGE.deleteFlowTable, flowTable));
}
