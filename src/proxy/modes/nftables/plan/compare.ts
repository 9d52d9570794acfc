// Desired and known → operations, in order. Pure. The cost depends only on the compared keys.
import type { Comparison, Desired } from '../../mode.js';
import { sameBase } from '../../nftablesRules/plan/chains.js';
import { sameRules } from '../../nftablesRules/plan/sameRules.js';
import { type ChainItem, type ElementItem, flowTableKey, type Item, tableKey } from './items.js';
import {
  ADDITIONS,
  additionPhase,
  type Operation,
  type Phase,
  REMOVALS,
  removalPhase,
} from './operations.js';
import { arranged, BalancedElement, hasSlots, LooseElement, sameOrder } from './slots.js';

/** Compares one key at a time. */
export function compare(
  desired: Desired<Item>,
  known: ReadonlyMap<string, Item>,
): Comparison<Item, Operation> {
  const phases = new Map<Phase, Operation[]>();
  const push = (operation: Operation) => {
    const list = phases.get(operation.phase);
    if (list) list.push(operation);
    else phases.set(operation.phase, [operation]);
  };
  const take = (order: readonly Phase[]) =>
    order.flatMap((phase) => {
      const list = phases.get(phase) ?? [];
      phases.delete(phase);
      return list;
    });
  return {
    look(key) {
      const want = desired.get(key);
      const have = known.get(key);
      if (want === have) return undefined;
      const service = serviceOf(want) ?? serviceOf(have);
      if (want) {
        const verb = towards(want, have);
        if (!verb) return isInSameOrder(want, have) ? want : undefined;
        const item = want instanceof BalancedElement ? arranged(want, have) : want;
        const from = hasSlots(have) ? have : undefined;
        push({ key, phase: additionPhase(want), do: verb, item, from, service, becomes: item });
      } else if (have && !isRemovedWithTable(have, desired, known))
        push({ key, phase: removalPhase(have), do: 'delete', item: have, service, becomes: undefined });
      return undefined;
    },
    additions: () => take(ADDITIONS),
    removals: () => take(REMOVALS),
  };
}

/** Whether a desired item equals the known one: no change is needed, and endpoints are in the same slots. */
export function isSame(want: Item, have: Item): boolean {
  return isAsWanted(want, have) && isInSameOrder(want, have);
}

function isInSameOrder(want: Item, have: Item | undefined): boolean {
  return !(want instanceof BalancedElement && have instanceof BalancedElement) || sameOrder(want, have);
}

/** Whether an item needs no change. */
export function isAsWanted(want: Item, have: Item): boolean {
  return towards(want, have) === undefined;
}

/** What a desired item needs; undefined if the known one is as desired. */
function towards(want: Item, have: Item | undefined): 'add' | 'replace' | undefined {
  if (have?.kind !== want.kind) return 'add';
  switch (want.kind) {
    case 'table':
      return 'stale' in have && have.stale ? 'replace' : undefined;
    case 'set':
      // A set that exists takes another timeout.
      return have.kind === 'set' && have.timeout !== want.timeout ? 'add' : undefined;
    case 'counter':
    case 'flowtable':
    case 'device':
      return undefined;
    case 'chain':
      return have.kind === 'chain' ? chainTowards(want, have) : undefined;
    case 'element':
      return have.kind === 'element' && sameElement(want, have) ? undefined : 'replace';
  }
}

function sameElement(want: ElementItem, have: ElementItem): boolean {
  // Such an element is wanted only while it is kept as it was found.
  if (want instanceof LooseElement) return true;
  if (have instanceof LooseElement || have.verdict !== want.verdict || have.comment !== want.comment)
    return false;
  if (want instanceof BalancedElement)
    return have instanceof BalancedElement && have.endpoints.equals(want.endpoints);
  return !(have instanceof BalancedElement);
}

function chainTowards(want: ChainItem, have: ChainItem): 'add' | 'replace' | undefined {
  if (!sameBase(want.base, have.base)) return 'replace';
  return (want.hasSameRules?.(have) ?? sameRules(want.rules, have.rules)) ? undefined : 'add';
}

/** All that a table contains is deleted with it, and so are the links of a flow table. */
function isRemovedWithTable(have: Item, desired: Desired<Item>, known: ReadonlyMap<string, Item>): boolean {
  const goes = (key: string) => known.has(key) && desired.get(key) === undefined;
  if (have.kind === 'device' && goes(flowTableKey(have.family))) return true;
  return have.kind !== 'table' && goes(tableKey(have.family));
}

function serviceOf(item: Item | undefined): string | undefined {
  return item && 'service' in item ? item.service : undefined;
}
