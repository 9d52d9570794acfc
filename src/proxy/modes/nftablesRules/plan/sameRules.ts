// Whether rules are the same ones: those that we make, and those that the kernel reports.
import type { AnonymousSet, Expression } from '../../../../kernel/nftables/expressions/types.js';
import type { NewElement } from '../../../../kernel/nftables/types.js';
import type { Rule } from './expressions.js';
import { sameSetName } from './setNames.js';

/** Whether rules do the same in the same order, with the same comments. */
export function sameRules(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a === b || (a.length === b.length && a.every((rule, i) => sameRule(rule, b[i] as Rule)));
}

/** Whether two rules do the same, with the same comment. */
export function sameRule(a: Rule, b: Rule): boolean {
  if (a.comment !== b.comment || a.expressions.length !== b.expressions.length) return false;
  return a.expressions.every((expression, i) => sameExpression(expression, b.expressions[i] as Expression));
}

function sameExpression(a: Expression, b: Expression): boolean {
  if (a === b) return true;
  if (a.kind !== 'lookup' || b.kind !== 'lookup') return sameValue(a, b);
  const { set: first, ...rest } = a;
  const { set: second, ...others } = b;
  if (!sameValue(rest, others)) return false;
  if (typeof first === 'object' && typeof second === 'object') return sameSet(first, second);
  return sameSetName(nameOf(first), nameOf(second));
}

/** The name of a set of a rule that was not read says what it contains, see `ownSetName`. */
function nameOf(set: string | AnonymousSet): string | undefined {
  return typeof set === 'string' ? set : set.name;
}

/** The names of sets of rules mean nothing here, nor does the order of their elements. All such sets are constant. */
function sameSet(a: AnonymousSet, b: AnonymousSet): boolean {
  if (!sameValue([a.key, a.data], [b.key, b.data]) || a.elements.length !== b.elements.length) return false;
  if (!sameValue(ownFlags(a), ownFlags(b))) return false;
  const others = new Map(b.elements.map((element) => [String(element.key), element]));
  return a.elements.every((element) => sameElement(element, others.get(String(element.key))));
}

function ownFlags({ flags = [] }: AnonymousSet): readonly unknown[] {
  return flags.filter((flag) => flag !== 'constant').toSorted();
}

function sameElement(a: NewElement, b: NewElement | undefined): boolean {
  if (!b || a.comment !== b.comment || a.timeout !== b.timeout) return false;
  return sameValue([a.key, a.keyEnd ?? a.key, a.data], [b.key, b.keyEnd ?? b.key, b.data]);
}

/** Whether values are equal. An absent field equals undefined, false and an empty list. */
function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || (isNothing(a) && isNothing(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Uint8Array || b instanceof Uint8Array)
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const first = a as Record<string, unknown>;
  const second = b as Record<string, unknown>;
  for (const name in first) if (!sameValue(first[name], second[name])) return false;
  for (const name in second) if (!(name in first) && !isNothing(second[name])) return false;
  return true;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
}
