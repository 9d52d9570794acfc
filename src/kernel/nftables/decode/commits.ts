// Notifications of the multicast group `NFNLGRP_NFTABLES` → commits. A transaction may have as many notifications as messages; of each,
// only the name of the table is read.
import { readMessages } from '../../netlink/messages.js';
import { MESSAGE, SUBSYSTEM } from '../numbers.js';
import type { Commit, TableName } from '../types.js';
import { Reply } from './reply.js';
import { readGeneration } from './tables.js';

/** The name of the table, in the messages of all kinds of objects: `NFTA_TABLE_NAME`, `NFTA_CHAIN_TABLE`, `NFTA_RULE_TABLE`, … */
const TABLE_NAME = 1;

/**
 * Reads notifications as they arrive, in pieces. A commit ends with the notification of its generation, which may be in a later piece than
 * the others.
 */
export function commitReader(operation = 'nftables.watchCommits'): (records: Uint8Array) => Iterable<Commit> {
  /** Of the current transaction, by family and name. */
  let tables = new Map<string, TableName>();
  return function* (records) {
    for (const { type, payload } of readMessages(records)) {
      if (type >> 8 !== SUBSYSTEM) continue;
      if ((type & 0xff) === MESSAGE.newGeneration) {
        const changed = [...tables.values()];
        tables = new Map();
        yield { kind: 'commit', generation: readGeneration(payload, operation), tables: changed };
        continue;
      }
      const table = readTableName(new Reply(payload, operation));
      tables.set(`${table.family} ${table.name}`, table);
    }
  };
}

function readTableName(reply: Reply): TableName {
  const { family } = reply;
  for (const attributes = reply.attributes(); attributes.next(); ) {
    if (attributes.type === TABLE_NAME) return { family, name: attributes.text() };
  }
  throw reply.malformed('table', 'is missing');
}
