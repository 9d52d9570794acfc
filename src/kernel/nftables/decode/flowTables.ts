// Flow tables as the kernel lists them.
import type { ListedAttribute } from '../../shared/types.js';
import type { AttributeCursor } from '../../shared/wire/attributeCursor.js';
import { u32Of, u64Of } from '../expressions/formats.js';
import { FLOW_TABLE, FLOW_TABLE_FLAGS, FLOW_TABLE_HOOK } from '../numbers.js';
import type { FlowTable } from '../types.js';
import { flagsIn, keepAttribute, Reply } from './reply.js';
import { readDevices } from './tables.js';

/** What is being read. */
interface Draft {
  table?: string;
  name?: string;
  priority: number;
  devices?: readonly string[];
  flags?: NonNullable<FlowTable['flags']>;
  handle: bigint;
  use: number;
  attributes?: ListedAttribute[];
}

/** Reads a flow table. Throws a NetlinkError `ERR_MALFORMED_REPLY` if the message is none. */
export function readFlowTable(payload: Uint8Array, operation = 'nftables.listFlowTables'): FlowTable {
  const reply = new Reply(payload, operation);
  const draft: Draft = { priority: 0, handle: 0n, use: 0 };
  for (const attribute = reply.attributes(); attribute.next(); ) {
    if (!readAttribute(attribute, draft)) keepAttribute(attribute, draft);
  }
  const table = reply.required(draft.table, 'NFTA_FLOWTABLE_TABLE');
  return { family: reply.family, ...draft, table, name: reply.required(draft.name, 'NFTA_FLOWTABLE_NAME') };
}

/** Reads an attribute; false if it has no field. */
function readAttribute(attribute: AttributeCursor, draft: Draft): boolean {
  switch (attribute.type) {
    case FLOW_TABLE.table:
      draft.table = attribute.text();
      return true;
    case FLOW_TABLE.name:
      draft.name = attribute.text();
      return true;
    case FLOW_TABLE.hook:
      return readHook(attribute, draft);
    case FLOW_TABLE.use:
      draft.use = u32Of(attribute);
      return true;
    case FLOW_TABLE.handle:
      draft.handle = u64Of(attribute);
      return true;
    case FLOW_TABLE.flags: {
      const flags = flagsIn(u32Of(attribute), FLOW_TABLE_FLAGS);
      if (flags.length > 0) draft.flags = flags;
      return true;
    }
    default:
      return attribute.type === FLOW_TABLE.pad;
  }
}

function readHook(attribute: AttributeCursor, draft: Draft): boolean {
  let isKnown = true;
  for (const inner = attribute.nested(); inner.next(); ) {
    if (inner.type === FLOW_TABLE_HOOK.priority) draft.priority = u32Of(inner) | 0;
    else if (inner.type === FLOW_TABLE_HOOK.devices) {
      const devices = readDevices(inner);
      if (!devices) isKnown = false;
      else if (devices.length > 0) draft.devices = devices;
    } else if (inner.type !== FLOW_TABLE_HOOK.number || u32Of(inner) !== 0) isKnown = false;
  }
  return isKnown;
}
