// The state of the fake kernel as nft lists it.
import { ElementReader } from '../../nftables/decode/elements.js';
import { readFlowTable } from '../../nftables/decode/flowTables.js';
import { readSet } from '../../nftables/decode/sets.js';
import { readChain, readObject, readRule, readTable } from '../../nftables/decode/tables.js';
import { type Read, readEach } from '../../nftables/reading.js';
import {
  chainsRequest,
  elementsRequest,
  flowTablesRequest,
  objectsRequest,
  rulesRequest,
  setsRequest,
  tablesRequest,
} from '../../nftables/requests.js';
import { formatRuleset } from '../../nftables/text/ruleset.js';
import type { FakeRuleset } from './ruleset.js';

/** The output of `nft list ruleset`. */
export function textOf(kernel: FakeRuleset): string {
  const list = <T>(request: Uint8Array, read: Read<T>): T[] => {
    const replies = kernel.query(request);
    const values = typeof replies === 'number' ? [] : readEach(replies, read);
    return [...values].filter((value) => value !== undefined);
  };
  const sets = list(setsRequest({}), (payload) => [readSet(payload)]);
  return formatRuleset({
    tables: list(tablesRequest({}), (payload) => [readTable(payload)]),
    chains: list(chainsRequest({}), (payload) => [readChain(payload)]),
    rules: list(rulesRequest({}), (payload) => [readRule(payload)]),
    objects: list(objectsRequest({}), (payload) => [readObject(payload)]),
    flowTables: list(flowTablesRequest({}), (payload) => [readFlowTable(payload)]),
    sets: sets.map((set) => {
      const reader = new ElementReader(set);
      return { set, elements: list(elementsRequest(set), (payload) => reader.read(payload)) };
    }),
  });
}
