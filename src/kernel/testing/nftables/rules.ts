// Rules of the fake kernel: nf_tables_newrule(), nf_tables_delrule().
import { constants } from 'node:os';
import { MESSAGE, NLM_F, RULE } from '../../nftables/numbers.js';
import { type Context, chainOf, nextHandle, refuse, tableKey, tableOf } from './context.js';
import { ruleMessage } from './dump.js';
import { expressionsOf } from './expressions.js';
import { removeSet } from './sets.js';
import { type FakeChain, type FakeRule, isAnonymous } from './state.js';

const { EEXIST, ENOENT, EOPNOTSUPP } = constants.errno;

/** Adds a rule at an end of its chain, or beside another one, or in place of it. */
export function newRule(context: Context): void {
  const { changes, flags, attributes, notify } = context;
  const table = tableOf(context, RULE.table);
  const chain = chainOf(table, attributes, RULE.chain);
  const handle = attributes.u64(RULE.handle);
  const replaced = handle === undefined ? undefined : ruleAt(chain, handle, attributes.bytes(RULE.handle));
  if (replaced && flags & NLM_F.exclusive) refuse(EEXIST);
  if (replaced && !(flags & NLM_F.replace)) refuse(EOPNOTSUPP);
  const position = attributes.u64(RULE.position);
  const beside =
    position === undefined ? undefined : ruleAt(chain, position, attributes.bytes(RULE.position));
  const { expressions, uses } = expressionsOf(context, chain, attributes.bytes(RULE.expressions));
  const rule: FakeRule = {
    handle: nextHandle(context, table),
    chain,
    expressions,
    userData: attributes.copy(RULE.userData),
    uses,
  };
  for (const used of uses.chains) changes.set(used, 'jumps', used.jumps + 1);
  for (const used of uses.objects) changes.set(used, 'uses', used.uses + 1);
  for (const used of uses.sets) {
    changes.set(used, 'bindings', used.bindings + 1);
    context.unbound.delete(used);
  }
  const place = placeOf(chain, { replaced, beside, append: (flags & NLM_F.append) !== 0 });
  changes.set(chain, 'rules', chain.rules.toSpliced(place, 0, rule));
  if (replaced) removeRule(context, replaced);
  notify(() => ruleMessage(MESSAGE.newRule, rule));
}

interface Place {
  readonly replaced: FakeRule | undefined;
  readonly beside: FakeRule | undefined;
  readonly append: boolean;
}

function placeOf({ rules }: FakeChain, { replaced, beside, append }: Place): number {
  if (replaced) return rules.indexOf(replaced);
  if (beside) return rules.indexOf(beside) + (append ? 1 : 0);
  return append ? rules.length : 0;
}

function ruleAt(chain: FakeChain, handle: bigint, culprit: Uint8Array | undefined): FakeRule {
  return chain.rules.find((rule) => rule.handle === handle) ?? refuse(ENOENT, culprit);
}

/** Deletes a rule; those of a chain, or those of a table. */
export function deleteRule(context: Context): void {
  const { tables, family, ifExists, attributes } = context;
  const handle = attributes.u64(RULE.handle);
  if (ifExists) {
    const found = tables.get(tableKey(family, attributes.text(RULE.table) ?? ''));
    const chain = found?.chains.get(attributes.text(RULE.chain) ?? '');
    if (!chain?.rules.some((rule) => rule.handle === handle)) return;
  }
  const table = tableOf(context, RULE.table);
  if (!attributes.has(RULE.chain)) {
    for (const chain of table.chains.values()) removeRules(context, chain);
    return;
  }
  const chain = chainOf(table, attributes, RULE.chain);
  if (handle === undefined) removeRules(context, chain);
  else removeRule(context, ruleAt(chain, handle, attributes.bytes(RULE.handle)));
}

function removeRules(context: Context, chain: FakeChain): void {
  for (const rule of [...chain.rules]) removeRule(context, rule);
}

/** Removes a rule with its anonymous sets. */
export function removeRule(context: Context, rule: FakeRule): void {
  const { changes, notify } = context;
  const { chain, uses } = rule;
  notify(() => ruleMessage(MESSAGE.deleteRule, rule));
  changes.set(
    chain,
    'rules',
    chain.rules.filter((other) => other !== rule),
  );
  for (const used of uses.chains) changes.set(used, 'jumps', used.jumps - 1);
  for (const used of uses.objects) changes.set(used, 'uses', used.uses - 1);
  for (const used of uses.sets) {
    changes.set(used, 'bindings', used.bindings - 1);
    if (isAnonymous(used) && used.bindings === 0) removeSet(context, used);
  }
}
