// Reads the tables of nftables mode: one listing of each family that has one. Changes nothing.
import { openNftables } from '../../kernel/nftables/index.js';
import { ruleText } from '../../kernel/nftables/text/rules.js';
import type { Nftables } from '../../kernel/nftables/types.js';
import { openProcNet } from '../../kernel/procNet/index.js';
import { ROUTE_LOCALNET } from '../../modes/iptables/plan/planNode.js';
import { openWithOptions } from '../../modes/nftables/open/open.js';
import { TABLE_FAMILY } from '../../modes/nftables/plan/containers.js';
import { TABLE } from '../../modes/nftables/plan/names.js';
import type { NftablesOptions } from '../../modes/nftables/plan/options.js';
import type { ModeSettings } from '../../modes/shared/open/definition.js';
import { type Family, familyOf } from '../../net/address.js';
import type { Explainer, Explanation, PacketQuestion } from '../explanation.js';
import type { ProgrammedFrontend } from '../inventory.js';
import { explainPacket } from '../nftables/explainPacket.js';
import { frontendsIn } from '../nftables/inventory.js';
import { type ProgrammedTable, type SetWithElements, tableOf } from '../nftables/table.js';
import { type PathKernel, readPathFacts } from './facts.js';

type Client = Pick<Nftables, 'listTables' | 'listChains' | 'listRules' | 'listSets' | 'listElements'>;

/** The frontends of both families. Rejects with a NetlinkError if a table cannot be read. */
export async function listFrontends(): Promise<ProgrammedFrontend[]> {
  const nftables = await openNftables();
  try {
    return await readFrontends(nftables);
  } finally {
    await nftables.close();
  }
}

/** As {@link listFrontends}, with an open client. */
export async function readFrontends(nftables: Client): Promise<ProgrammedFrontend[]> {
  const found: ProgrammedFrontend[] = [];
  for (const family of [4, 6] as const) {
    const table = await readTable(nftables, family);
    if (table) found.push(...frontendsIn(family, table));
  }
  return found;
}

/** The table of a family; undefined if there is none. Rejects with a NetlinkError if it cannot be read. */
export async function readTable(nftables: Client, family: Family): Promise<ProgrammedTable | undefined> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const tables = await nftables.listTables({ family: where.family }).toArray();
  if (!tables.some(({ name }) => name === TABLE)) return undefined;
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
  kernel: PathKernel & { readonly nftables: Client },
  options: NftablesOptions,
  question: PacketQuestion,
): Promise<Explanation> {
  const family = familyOf(question.address);
  const facts = await readPathFacts(kernel, family, [ROUTE_LOCALNET], TABLE);
  return explainPacket({ ...facts, table: await readTable(kernel.nftables, family) }, question, options);
}
