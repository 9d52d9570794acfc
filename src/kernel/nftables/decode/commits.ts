// Notifications of the multicast group `NFNLGRP_NFTABLES` → commits. A transaction may have as many notifications as elements; of each,
// only the name of the table is read, and nearly all have that of the one before.
import { aligned, HOST_IS_LITTLE, MessageCursor } from '../../shared/wire/messages.js';
import { MESSAGE, NFGEN_HEADER, SUBSYSTEM } from '../numbers.js';
import type { Commit, TableName } from '../types.js';
import { Reply } from './reply.js';
import { readGeneration } from './tables.js';

/** The name of the table, in the messages of all kinds of objects: `NFTA_TABLE_NAME`, `NFTA_CHAIN_TABLE`, `NFTA_RULE_TABLE`, … */
const TABLE_NAME = 1;

const NOTHING = new Uint8Array();

/**
 * Reads notifications as they arrive, in pieces. A commit ends with the notification of its generation, which may be in a later piece than
 * the others.
 */
export function commitReader(operation = 'nftables.watchCommits'): (records: Uint8Array) => Iterable<Commit> {
  /** Of the current transaction, by family and name. */
  let tables = new Map<string, TableName>();
  /** The beginning of the last message that names one of them. */
  let last: Uint8Array = NOTHING;
  return function* (records) {
    const view = new DataView(records.buffer, records.byteOffset, records.length);
    for (const message = new MessageCursor(view, 'netlink.read'); message.next(); ) {
      const { type, port, start, end } = message;
      if (type >> 8 !== SUBSYSTEM) continue;
      const isGeneration = (type & 0xff) === MESSAGE.newGeneration;
      if (!isGeneration && hasAt(records, start, end, last)) continue;
      const reply = new Reply(records.subarray(start, end), operation);
      if (isGeneration) {
        const changed = [...tables.values()];
        tables = new Map();
        last = NOTHING;
        const generation = readGeneration(reply.bytes, operation);
        yield { kind: 'commit', generation, tables: changed, ...(port !== 0 && { sender: port }) };
        continue;
      }
      const table = readTableName(reply);
      tables.set(`${table.family} ${table.name}`, table);
      last = beginningOf(reply);
    }
  };
}

/** Whether these bytes, of which there is at least one, are at a place of a message that ends at `end`. */
function hasAt(records: Uint8Array, start: number, end: number, bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length === 0 || start + length > end) return false;
  for (let i = 0; i < length; i++) if (records[start + i] !== bytes[i]) return false;
  return true;
}

/** `struct nfgenmsg` and the name of the table, if it is the first attribute, as Linux has it. A copy: the records are not kept. */
function beginningOf({ bytes, view }: Reply): Uint8Array {
  if (view.getUint16(NFGEN_HEADER + 2, HOST_IS_LITTLE) !== TABLE_NAME) return NOTHING;
  const length = view.getUint16(NFGEN_HEADER, HOST_IS_LITTLE);
  return bytes.slice(0, NFGEN_HEADER + aligned(length));
}

function readTableName(reply: Reply): TableName {
  const { family } = reply;
  for (const attributes = reply.attributes(); attributes.next(); ) {
    if (attributes.type === TABLE_NAME) return { family, name: attributes.text() };
  }
  throw reply.malformed('table', 'is missing');
}
