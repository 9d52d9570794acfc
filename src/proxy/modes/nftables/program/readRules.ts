// The chains of a table with their rules → items.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { AnonymousSet, Expression } from '../../../../kernel/nftables/expressions/types.js';
import type { Chain, Rule as KernelRule, NftSet } from '../../../../kernel/nftables/types.js';
import type { Rule } from '../../nftablesRules/plan/expressions.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { isOwnSetName } from '../../nftablesRules/plan/setNames.js';
import type { ForeignChains } from '../../nftablesRules/program/foreignChains.js';
import { isNodeChain } from '../plan/fixedChains.js';
import type { ChainItem } from '../plan/items.js';
import { isOfService, TABLE } from '../plan/names.js';
import { readChain } from '../plan/readChains.js';
import { isSharedChain } from '../plan/sharedChains.js';
import type { NftablesKernel } from './kernel.js';

type Client = NftablesKernel['nftables'];

/** The sets that belong to rules. */
export interface OwnSets {
  /** By name. */
  readonly sets: ReadonlyMap<string, NftSet>;
  /** Whether those are read too whose names say what they contain: each takes a call, and the kernel a search through all sets. */
  readonly whole: boolean;
}

/** Our chains of a family. @param foreign takes the others */
export async function* chainsOf(
  nftables: Pick<Client, 'listChains' | 'listElements' | 'listRules'>,
  family: Family,
  sets: OwnSets,
  foreign?: ForeignChains,
): AsyncGenerator<ChainItem> {
  const where = { family: TABLE_FAMILY[family], table: TABLE };
  const chains = new Map<string, Chain>();
  const others: Chain[] = [];
  for await (const chain of nftables.listChains(where))
    if (isOurs(chain.name)) chains.set(chain.name, chain);
    else others.push(chain);
  foreign?.take(family, others);
  let group: { readonly chain: Chain; readonly rules: KernelRule[] } | undefined;
  for await (const rule of nftables.listRules(where)) {
    if (group?.chain.name !== rule.chain) {
      if (group) yield await chainItem(nftables, family, group.chain, group.rules, sets);
      const chain = chains.get(rule.chain);
      chains.delete(rule.chain);
      group = chain && { chain, rules: [] };
    }
    group?.rules.push(rule);
  }
  if (group) yield await chainItem(nftables, family, group.chain, group.rules, sets);
  for (const chain of chains.values()) yield await chainItem(nftables, family, chain, [], sets);
}

/** Whether a chain is one of the node, of a Service, or shared by Services. */
function isOurs(chain: string): boolean {
  return isNodeChain(chain) || isOfService(chain) || isSharedChain(chain);
}

/** The item of a chain with these rules. */
export async function chainItem(
  nftables: Pick<Client, 'listElements'>,
  family: Family,
  { name, base, comment }: Pick<Chain, 'name' | 'base' | 'comment'>,
  rules: readonly KernelRule[],
  sets: OwnSets,
): Promise<ChainItem> {
  const read: Rule[] = [];
  for (const rule of rules) read.push(await ruleOf(nftables, rule, sets));
  return readChain({
    kind: 'chain',
    family,
    name,
    ...(base && { base }),
    ...(comment !== undefined && { comment }),
    rules: read,
  });
}

async function ruleOf(
  nftables: Pick<Client, 'listElements'>,
  { expressions, comment, attributes }: KernelRule,
  { sets, whole }: OwnSets,
): Promise<Rule> {
  const resolved: Expression[] = [];
  for (const expression of expressions) {
    const name = expression.kind === 'lookup' && typeof expression.set === 'string' ? expression.set : '';
    const own = sets.get(name);
    const set = own && (whole || !isOwnSetName(name)) ? await readOwnSet(nftables, own) : undefined;
    resolved.push(set ? ({ ...expression, set } as Expression) : expression);
  }
  // What is not read may have an effect, and a set that anyone can fill is no set of a rule: no rule of ours has these.
  if (attributes?.length || expressions.some((each) => isForged(each, sets)))
    resolved.push({ kind: 'unknown', name: 'attributes', data: new Uint8Array() });
  return { expressions: resolved, ...(comment !== undefined && { comment }) };
}

/** Whether an expression refers to a set that only has the name of one of a rule. */
function isForged(expression: Expression, sets: ReadonlyMap<string, NftSet>): boolean {
  if (expression.kind !== 'lookup' || typeof expression.set !== 'string') return false;
  return isOwnSetName(expression.set) && sets.get(expression.set)?.flags.includes('constant') !== true;
}

/** A set of a rule with its elements; undefined if it is not there any more, or in a form that ours never have. */
async function readOwnSet(
  nftables: Pick<Client, 'listElements'>,
  set: NftSet,
): Promise<AnonymousSet | undefined> {
  const { key, data, flags, name } = set;
  if (typeof key === 'number' || typeof data === 'number') return undefined;
  const shape = { key, flags, ...(data !== undefined && { data }) };
  try {
    const { family, table } = set;
    const elements = await nftables.listElements({ family, table, name, ...shape }).toArray();
    return { ...shape, name, elements };
  } catch (error) {
    // The rule was replaced after it had been listed.
    if (error instanceof NetlinkError && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
