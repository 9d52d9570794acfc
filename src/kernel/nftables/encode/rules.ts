// Rules as messages, with the sets that belong to them before them.
import { LONGEST_ATTRIBUTE } from '../../shared/wire/messages.js';
import type { AnonymousSet, Expression } from '../expressions/types.js';
import { MESSAGE, NESTED, NLM_F, RULE } from '../numbers.js';
import type { NewRule, RuleName } from '../types.js';
import { writeElements } from './elements.js';
import { type WrittenSets, writeExpressions } from './expressions.js';
import type { Messages } from './messages.js';
import { checkShape, encodeAnonymousSet } from './sets.js';

const RULE_FIELDS = new Set([
  ...['family', 'table', 'chain', 'expressions', 'comment'],
  ...['handle', 'after', 'attributes', 'userData'], // of one that was listed
]);
const SET_FIELDS = new Set([
  ...['key', 'data', 'dataIsInterval', 'objects', 'flags', 'keyExpressions', 'dataExpressions'],
  ...['elements', 'name'],
]);

/** The place of a rule in its chain, by the handle of another one. */
interface RulePlace {
  /** Name of the field of the operation: `after`, `before`. */
  readonly field: 'after' | 'before';
  readonly handle: unknown;
}

/** The messages that add a rule: its sets with their elements, then the rule. */
export function encodeRule(messages: Messages, flags: number, rule: NewRule, place?: RulePlace): void {
  const { check } = messages;
  if (!check.object('rule', rule, RULE_FIELDS, 'a rule')) return;
  messages.refuseListed('rule', rule);
  const family = messages.family('rule.family', rule.family);
  const sets = encodeSets(messages, family, rule);
  messages.begin(MESSAGE.newRule, flags, family);
  writeContent(messages, rule, sets);
  if (place) messages.u64(RULE.position, place.field, place.handle, 1n);
  messages.end();
}

/** The messages that replace a rule. */
export function encodeReplaceRule(messages: Messages, rule: NewRule & RuleName): void {
  if (!messages.check.object('rule', rule, RULE_FIELDS, 'a rule')) return;
  messages.refuseListed('rule', rule);
  const family = messages.family('rule.family', rule.family);
  const sets = encodeSets(messages, family, rule);
  messages.begin(MESSAGE.newRule, NLM_F.replace, family);
  writeContent(messages, rule, sets);
  writeHandle(messages, rule);
  messages.end();
}

/** The message that deletes a rule. */
export function encodeDeleteRule(messages: Messages, type: number, rule: RuleName): void {
  if (!messages.check.object('rule', rule, RULE_FIELDS, 'a rule')) return;
  messages.begin(type, 0, messages.family('rule.family', rule.family));
  messages.name(RULE.table, 'rule.table', rule.table);
  messages.name(RULE.chain, 'rule.chain', rule.chain);
  writeHandle(messages, rule);
  messages.end();
}

/** Without a handle, all rules of the chain would be deleted. */
function writeHandle(messages: Messages, { handle }: RuleName): void {
  if (handle === undefined)
    messages.check.fail('rule.handle', handle, 'must be the handle of a rule: a bigint', true);
  messages.u64(RULE.handle, 'rule.handle', handle, 1n);
}

function writeContent(messages: Messages, rule: NewRule, sets: WrittenSets): void {
  messages.name(RULE.table, 'rule.table', rule.table);
  messages.name(RULE.chain, 'rule.chain', rule.chain);
  const start = messages.bytes.begin(RULE.expressions | NESTED);
  writeExpressions(messages, 'rule.expressions', rule.expressions, sets);
  const length = messages.bytes.end(start);
  if (length > LONGEST_ATTRIBUTE)
    messages.check.fail(
      'rule.expressions',
      rule.expressions,
      `must have at most 64 KiB, and have ${length} bytes`,
    );
  messages.comment(RULE.userData, 'rule', rule.comment);
}

const NO_SETS: WrittenSets = new Map();
/** Elements of a set that is new in the transaction. */
const NEW_ELEMENTS = { type: MESSAGE.newElements, flags: NLM_F.create, isName: false };

/** Writes the sets of the rule's own. */
function encodeSets(messages: Messages, family: number, { table, expressions }: NewRule): WrittenSets {
  let sets: Map<AnonymousSet, { name: string; id: number }> | undefined;
  if (!Array.isArray(expressions)) return NO_SETS;
  for (let index = 0; index < expressions.length; index++) {
    const expression = expressions[index] as Expression | undefined | null;
    if (expression?.kind !== 'lookup' && expression?.kind !== 'objrefMap') continue;
    if (typeof expression.set !== 'object') continue;
    const { set } = expression;
    const path = `rule.expressions[${index}].set`;
    if (!messages.check.object(path, set, SET_FIELDS, 'a set of a rule')) break;
    if (sets?.has(set)) {
      messages.check.fail(
        path,
        set,
        'must be another object than that of an earlier lookup: each has a set of its own',
      );
      break;
    }
    if (!Array.isArray(set.elements)) {
      messages.check.fail(`${path}.elements`, set.elements, 'must be an array of elements', true);
      break;
    }
    const shape = checkShape(messages, path, set);
    if (!shape) break;
    const written = encodeAnonymousSet(messages, { family, table, path }, set, shape);
    const target = { family, table, tablePath: 'rule.table', set: { id: written.id } };
    writeElements(messages, NEW_ELEMENTS, target, shape, `${path}.elements`, set.elements);
    sets ??= new Map();
    sets.set(set, written);
  }
  return sets ?? NO_SETS;
}
