// Chains of the tables of a mode: how they are written, and whether two are at the same place.
import type { Expression } from '../../../../kernel/nftables/expressions/types.js';
import type { BaseChain, NameInTable, NftablesOperation } from '../../../../kernel/nftables/types.js';
import type { Rule } from './expressions.js';
import { shortSetName } from './setNames.js';

/** `NF_IP_PRI_NAT_DST`: the priority at which the kernel translates destinations. */
export const DSTNAT = -100;
/** `NF_IP_PRI_FILTER` */
export const FILTER = 0;
/** `NF_IP_PRI_NAT_SRC`: the priority at which the kernel translates sources. */
export const SRCNAT = 100;

/** What a chain of a table contains. */
export interface ChainContent {
  /** Absent: packets come by `jump` and `goto` only. */
  readonly base?: BaseChain;
  readonly comment?: string;
  readonly rules: readonly Rule[];
}

/** The name in the kernel of the set of a rule, by its name in the plan. */
export type NameOfSet = (name: string) => string;

/** The operations of the kernel for a chain. All its rules are written: a chain that exists is emptied first. */
export function chainOperations(
  verb: 'add' | 'replace' | 'delete',
  { family, table, name }: NameInTable,
  { base, comment, rules }: ChainContent,
  nameOf: NameOfSet = shortSetName,
): NftablesOperation[] {
  const chain = { family, table, name };
  const operations: NftablesOperation[] = [];
  if (verb !== 'add') operations.push({ do: 'flushChain', chain }, { do: 'deleteChain', chain });
  if (verb === 'delete') return operations;
  operations.push({
    do: 'addChain',
    chain: { ...chain, ...(base && { base }), ...(comment !== undefined && { comment }) },
  });
  if (verb === 'add') operations.push({ do: 'flushChain', chain });
  for (const { expressions: planned, comment } of rules) {
    const expressions = planned.map((each) => withSetName(each, nameOf));
    operations.push({
      do: 'addRule',
      rule: { family, table, chain: name, expressions, ...(comment !== undefined && { comment }) },
    });
  }
  return operations;
}

function withSetName(expression: Expression, nameOf: NameOfSet): Expression {
  if (expression.kind !== 'lookup' || typeof expression.set === 'string') return expression;
  const { name } = expression.set;
  return name === undefined ? expression : { ...expression, set: { ...expression.set, name: nameOf(name) } };
}

/** Whether chains are at the same place; that of a chain cannot be changed. */
export function sameBase(want: BaseChain | undefined, have: BaseChain | undefined): boolean {
  if (!want || !have) return want === have;
  return (
    want.type === have.type &&
    want.hook === have.hook &&
    want.priority === have.priority &&
    (want.policy ?? 'accept') === (have.policy ?? 'accept')
  );
}
