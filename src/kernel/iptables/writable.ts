// Which texts are one line of the input of iptables-restore, and one rule. Pure.
import { excerpt } from '../../errors.js';
import type { IptablesOperation } from './types.js';

/** A rule, or the name of a chain, that cannot be a part of the input: it would be another rule, or several lines. */
export class UnwritableText extends RangeError {
  constructor(text: string, reason: string) {
    super(`${JSON.stringify(excerpt(text))} ${reason}`);
    this.name = 'UnwritableText';
  }
}

/**
 * Returns the text of a rule, if it can be written as it is. iptables-restore ends a rule with its line, and an argument with a
 * quote; only in quotes does a backslash escape the next character. It reads a longer line than {@link LONGEST_LINE} as two.
 *
 * Throws UnwritableText for control characters, line separators, a quote that is not closed, a backslash that escapes nothing,
 * and for a text that is too long.
 */
export function writableRule(text: string): string {
  if (!ONE_RULE.test(text)) throw new UnwritableText(text, NOT_ONE_RULE);
  // A character has three bytes of UTF-8 at most.
  if (text.length > LONGEST_RULE / 3 && Buffer.byteLength(text) > LONGEST_RULE)
    throw new UnwritableText(text, `has more than ${LONGEST_RULE} bytes`);
  return text;
}

/** Returns the name of a chain, if it is one word. Throws UnwritableText for any other. */
export function writableChain(name: string): string {
  if (!CHAIN.test(name)) throw new UnwritableText(name, NOT_A_CHAIN);
  return name;
}

/** Why an operation cannot be written; undefined if it can. */
export function whyUnwritable(operation: IptablesOperation): UnwritableText | undefined {
  const { chain, rules } = textsOf(operation);
  try {
    writableChain(chain);
    for (const rule of rules) writableRule(rule);
    return undefined;
  } catch (error) {
    if (error instanceof UnwritableText) return error;
    throw error;
  }
}

/** The chain that an operation changes. */
export function chainNameOf(operation: IptablesOperation): string {
  return textsOf(operation).chain;
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
const NOT_ONE_RULE =
  'is not one rule: it has a control character, an open quote or a backslash outside quotes';

/** Visible characters of ASCII without quotes and backslashes. The kernel's limit is 28. */
const CHAIN = /^[!#-[\]-~]{1,28}$/;
const NOT_A_CHAIN =
  'is not the name of a chain: it must have 1 to 28 visible characters, no quote and no backslash';

function textsOf(operation: IptablesOperation): {
  readonly chain: string;
  readonly rules: readonly string[];
} {
  switch (operation.do) {
    case 'setChain':
      return { chain: operation.chain.name, rules: operation.chain.rules };
    case 'deleteChain':
      return { chain: operation.chain.name, rules: [] };
    case 'replaceRules':
      return { chain: operation.rules.chain, rules: [...operation.rules.before, ...operation.rules.after] };
    default:
      return { chain: operation.rule.chain, rules: [operation.rule.text] };
  }
}
