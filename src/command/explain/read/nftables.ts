// Reads the tables of nftables mode: what is asked for. Changes nothing.

import { type Family, familyOf } from '../../../kernel/net/address.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import { ruleText } from '../../../kernel/nftables/text/print/rule.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import { ROUTE_LOCALNET } from '../../../proxy/modes/iptables/plan/planNode.js';
import { TABLE } from '../../../proxy/modes/nftables/plan/names.js';
import type { NftablesOptions } from '../../../proxy/modes/nftables/plan/options.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftablesRules/plan/families.js';
import { openProcNet } from '../../kernel/procNet/index.js';
import { openWithOptions } from '../../modes/nftables/open.js';
import type { ModeSettings } from '../../modes/shared/definition.js';
import type { Explainer, Explanation, PacketQuestion } from '../explanation.js';
import type { FrontendQuery, ProgrammedFrontend } from '../inventory.js';
import { explainPacket } from '../nftables/explainPacket.js';
import { frontendsIn } from '../nftables/inventory.js';
import { type ProgrammedTable, type SetWithElements, tableOf } from '../nftables/table.js';
import { type PathKernel, readPathFacts } from './facts.js';
import type { ChainReader } from './foreignChains.js';
import { TableOnDemand, type TableReader } from './tableOnDemand.js';

type Client = TableReader & Pick<Nftables, 'listChains' | 'listSets'>;

/** The frontends of both families. Rejects with a NetlinkError if a table cannot be read. */
export async function listFrontends(query?: FrontendQuery): Promise<ProgrammedFrontend[]> {
  const nftables = await openNftables();
  try {
    return await readFrontends(nftables, query);
  } finally {
    await nftables.close();
  }
}

/** As {@link listFrontends}, with an open client. */
export async function readFrontends(
  nftables: Client,
  query: FrontendQuery = {},
): Promise<ProgrammedFrontend[]> {
  const found: ProgrammedFrontend[] = [];
  const { keys, bare } = query;
  for (const family of [4, 6] as const) {
    if (keys === undefined && !bare) {
      const table = await readTable(nftables, family);
      if (table) found.push(...frontendsIn(family, table));
      continue;
    }
    const own = { ...query, ...(keys && { keys: keys.filter((key) => key.family === family) }) };
    const table = own.keys?.length === 0 ? undefined : await TableOnDemand.open(nftables, family, own.keys);
    if (table) found.push(...(await table.ask((programmed) => frontendsIn(family, programmed, own))));
  }
  return found;
}

/** The whole table of a family; undefined if there is none. Rejects with a NetlinkError if it cannot be read. */
export async function readTable(nftables: Client, family: Family): Promise<ProgrammedTable | undefined> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  if (!(await nftables.getTable({ family: where.family, name: TABLE }))) return undefined;
  const chains = await nftables.listChains(where).toArray();
  const rules = await nftables.listRules(where).toArray();
  const sets = new Map<string, SetWithElements>();
  for (const set of await nftables.listSets(where).toArray()) {
    sets.set(set.name, { set, elements: await nftables.listElements(set).toArray() });
  }
  const find = (name: string) => sets.get(name);
  return tableOf(chains, rules, [...sets.values()], (rule) => ruleText(rule, { find, links: NO_LINKS }));
}

/** The rules of the mode name links by their names. */
const NO_LINKS = new Map<number, string>();

/** Opens the kernel. Rejects with the NetlinkError of the part that cannot be opened. */
export async function open(settings: ModeSettings): Promise<Explainer> {
  const { kernel, options } = await openWithOptions(settings);
  const read = { ...kernel, procNet: openProcNet() };
  return { explain: (question) => explain(read, options, question), close: () => kernel.close() };
}

/** Explains a packet, as {@link Explainer.explain}. */
export async function explain(
  kernel: Omit<PathKernel, 'nftables'> & { readonly nftables: TableReader & ChainReader },
  options: NftablesOptions,
  question: PacketQuestion,
): Promise<Explanation> {
  const { address, protocol, port } = question;
  const family = familyOf(address);
  const facts = await readPathFacts(kernel, family, [ROUTE_LOCALNET], TABLE);
  const keys = [
    { address, protocol, port },
    { protocol, port },
  ];
  const table = await TableOnDemand.open(kernel.nftables, family, keys);
  const explained = (programmed: ProgrammedTable | undefined) =>
    explainPacket({ ...facts, table: programmed }, question, options);
  return table ? table.ask(explained) : explained(undefined);
}
