// Which texts are one line of the input of iptables-restore, and one rule. Pure.
import { describeInvalid, type InvalidValue } from '../arguments.js';
import { excerpt } from '../errors.js';
import { FAMILY } from '../net/shapes.js';
import { ANY_TEXT, type Check, oneOf, partOf, ruled } from '../shapes.js';
import type { IptablesOperation } from './types.js';

/** A rule, or the name of a chain, that cannot be a part of the input: it would be another rule, or several lines. */
export class UnwritableText extends RangeError {
  constructor(message: string) {
    super(message);
    this.name = 'UnwritableText';
  }
}

function unwritable(field: string, text: string, reason: string): UnwritableText {
  return new UnwritableText(`${field} ${JSON.stringify(excerpt(text))} ${reason}`);
}

/** The check of a table. */
export const TABLE = oneOf('nat', 'filter', 'mangle');
const IN_CHAIN = partOf({ family: FAMILY, table: TABLE, chain: ANY_TEXT });
const CHAIN_NAMED = partOf({ family: FAMILY, table: TABLE, name: ANY_TEXT });

/** The field of each kind of operation, and its check. The texts of rules are checked when they are written. */
const PARTS: Readonly<Record<IptablesOperation['do'], readonly [field: string, check: Check]>> = {
  setChain: ['chain', CHAIN_NAMED],
  deleteChain: ['chain', CHAIN_NAMED],
  insertRule: ['rule', IN_CHAIN],
  appendRule: ['rule', IN_CHAIN],
  deleteRule: ['rule', IN_CHAIN],
  replaceRules: ['rules', IN_CHAIN],
};
const KIND = partOf({ do: oneOf(...Object.keys(PARTS)) });

/** What is invalid in an operation that does not say what it changes. */
function invalidOperation(operation: IptablesOperation): InvalidValue | undefined {
  const invalid = KIND(operation, 'operation');
  if (invalid) return invalid;
  const [field, check] = PARTS[operation.do];
  return check((operation as unknown as Readonly<Record<string, unknown>>)[field], field);
}

/** Throws UnwritableText if an operation does not say what it changes. Returns it. */
export function checkOperation(operation: IptablesOperation): IptablesOperation {
  const invalid = invalidOperation(operation);
  if (invalid) throw new UnwritableText(describeInvalid(invalid));
  return operation;
}

/** Returns the texts of rules, if they are in an array. Each is then checked by {@link writableRule}. */
export function writableRules(field: string, rules: readonly string[]): readonly string[] {
  if (Array.isArray(rules)) return rules;
  throw new UnwritableText(
    describeInvalid({ field, value: rules, rule: 'must be an array', wrongType: true }),
  );
}

/**
 * Returns the text of a rule, if it can be written as it is. iptables-restore ends a rule with its line, and an argument with a
 * quote; only in quotes does a backslash escape the next character. It reads a longer line than {@link LONGEST_LINE} as two.
 *
 * Throws UnwritableText for control characters, line separators, a quote that is not closed, a backslash that escapes nothing,
 * and for a text that is too long.
 */
export function writableRule(text: string, field = 'text'): string {
  if (typeof text !== 'string')
    throw new UnwritableText(describeInvalid({ ...NOT_A_TEXT, field, value: text }));
  if (!ONE_RULE.test(text)) throw unwritable(field, text, NOT_ONE_RULE);
  // A character has three bytes of UTF-8 at most.
  if (text.length > LONGEST_RULE / 3 && Buffer.byteLength(text) > LONGEST_RULE)
    throw unwritable(field, text, `has more than ${LONGEST_RULE} bytes`);
  return text;
}

/** Returns the name of a chain, if it is one word. Throws UnwritableText for any other. */
export function writableChain(name: string, field = 'chain'): string {
  if (!CHAIN.test(name)) throw unwritable(field, name, NOT_A_CHAIN);
  return name;
}

/** The chain that an operation changes, in its table; undefined if it says neither. */
export function chainOf(operation: IptablesOperation): string | undefined {
  if (invalidOperation(operation)) return undefined;
  if ('chain' in operation) return `${operation.chain.table}/${excerpt(operation.chain.name)}`;
  const { table, chain } = 'rules' in operation ? operation.rules : operation.rule;
  return `${table}/${excerpt(chain)}`;
}

/** Longest line that iptables-restore reads as one, in bytes: its buffer has 10 240, of which the last two are `\n` and NUL. */
const LONGEST_LINE = 10_238;
/** Longest name of a chain, in bytes. */
const LONGEST_CHAIN = 28;
/** Longest rule, in bytes: `-A `, the name of the chain and a space come before it. */
const LONGEST_RULE = LONGEST_LINE - LONGEST_CHAIN - 4;

/** Words, and texts in quotes. Each character fits in one place only, so that the time for any text is linear. */
const ONE_RULE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes them on purpose.
  /^[^"\\\u0000-\u001f\u007f-\u009f\u2028\u2029]*(?:"[^"\\\u0000-\u001f\u007f-\u009f\u2028\u2029]*(?:\\[^\u0000-\u001f\u007f-\u009f\u2028\u2029][^"\\\u0000-\u001f\u007f-\u009f\u2028\u2029]*)*"[^"\\\u0000-\u001f\u007f-\u009f\u2028\u2029]*)*$/;
const NOT_A_TEXT = { rule: 'must be a text', wrongType: true };
const NOT_ONE_RULE =
  'is not one rule: it has a control character, an open quote or a backslash outside quotes';

/** Visible characters of ASCII without quotes and backslashes. The kernel's limit is 28. */
const CHAIN = /^[!#-[\]-~]{1,28}$/;
const NOT_A_CHAIN =
  'is not the name of a chain: it must have 1 to 28 visible characters, no quote and no backslash';
/** The check of the name of a chain. */
export const CHAIN_NAME: Check = ruled(
  'string',
  'must have 1 to 28 visible characters, no quote and no backslash',
  (name: string) => CHAIN.test(name),
);
