// What the items refer to: without it, the kernel refuses them.
import type { Expression, Verdict } from '../../../../kernel/nftables/expressions/types.js';
import { slotMapOf } from './containers.js';
import { chainKey, counterKey, flowTableKey, type Item, setKey, tableKey } from './items.js';
import { BalancedElement } from './slots.js';

/** Keys of the items without which the kernel refuses this one: its table, the sets and counters of its rules, the chains to which it leads. */
export function* dependsOn(item: Item): Generator<string> {
  if (item.kind === 'table') return;
  const { family } = item;
  yield tableKey(family);
  if (item.kind === 'element') {
    const { container, verdict } = item;
    yield setKey(family, container.name);
    if (container.data === 'verdict' && verdict !== 'drop') yield chainKey(family, verdict);
    const map = item instanceof BalancedElement ? slotMapOf(container, item.text) : undefined;
    if (map) yield setKey(family, map.name);
  }
  if (item.kind === 'device') yield flowTableKey(family);
  if (item.kind !== 'chain') return;
  for (const { expressions } of item.rules) {
    for (const expression of expressions) {
      for (const chain of chainsIn(expression)) yield chainKey(family, chain);
      const set = setIn(expression);
      if (set !== undefined) yield setKey(family, set);
      if (expression.kind === 'objref') yield counterKey(family, expression.name);
      if (expression.kind === 'flowOffload') yield flowTableKey(family);
    }
  }
}

/** Name of the set of the table that an expression refers to. */
function setIn(expression: Expression): string | undefined {
  if (expression.kind !== 'lookup' && expression.kind !== 'dynset') return undefined;
  return typeof expression.set === 'string' ? expression.set : undefined;
}

function chainsIn(expression: Expression): readonly string[] {
  if (expression.kind === 'verdict') return chainOf(expression.verdict);
  if (expression.kind !== 'lookup' || typeof expression.set === 'string') return [];
  if (expression.set.data !== 'verdict') return [];
  return expression.set.elements.flatMap(({ data }) => chainOf(data as Verdict));
}

function chainOf(verdict: Verdict): readonly string[] {
  return 'chain' in verdict ? [verdict.chain] : [];
}
