// The text of nft, as `nft list ruleset` prints it → operations of a transaction. Pure.

import { argumentError, checkCallOptions, checkObject, findUnknown } from '../../shared/arguments.js';
import {
  checkText,
  checkTextInput,
  linesIn,
  readLines,
  type TextInput,
} from '../../shared/programs/textLines.js';
import type { CallOptions } from '../../shared/types.js';
import { atOnce } from '../../steps.js';
import type { NftablesOperation } from '../types.js';
import { type RulesetProblem, RulesetReader } from './read/ruleset.js';
import { findInvalidLinks } from './rulesetArguments.js';

export type { RulesetProblem } from './read/ruleset.js';

/** Options of {@link parseRuleset}. */
export interface ParseRulesetOptions {
  /** Names of links by their indexes: a rule with `iif "eth0"` has the index. Default: 1 is `lo`, as in every network namespace. */
  readonly links?: ReadonlyMap<number, string>;
}

const OPTIONS: ReadonlySet<string> = new Set(['links']);
/** `LOOPBACK_IFINDEX` */
const DEFAULT_LINKS: ReadonlyMap<number, string> = new Map([[1, 'lo']]);

/** What of a ruleset cannot be read. `problems` has all of it, in the order of the text; the message has the first. */
export class RulesetError extends Error {
  override readonly name = 'RulesetError';
  readonly problems: readonly RulesetProblem[];

  constructor(problems: readonly RulesetProblem[]) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    super(`line ${first?.line}, column ${first?.column}: ${first?.rule}${more}`);
    this.problems = problems;
  }
}

/**
 * The operations of one transaction that makes the tables of a text, as `nft list ruleset` prints it (nft 1.0.6 to 1.1.7), with or without `-n`,
 * `-a` and `-s`, and not commands such as `flush ruleset`, `add rule` and `define`: of each table the table, its chains, its objects, its sets with their elements, and its rules. The expressions of rules are
 * those that nft makes, with the comparisons that nft does not print: `tcp dport 80` compares `meta l4proto` first. Handles are not
 * read, because the kernel gives them.
 *
 * It reads what `Nftables` can write: everything else is a problem, such as tunnels and names of services. docs/library.md lists the
 * expressions whose text is not read. Sets must be before the chains that use them, as nft prints them.
 *
 * Throws a RulesetError with line, column, text and rule of each statement that cannot be read, or that would break a rule of
 * `Nftables.apply`.
 *
 * It blocks the event loop for several ms for each 1000 lines: {@link parseRulesetAsync} is for long texts.
 */
export function parseRuleset(text: string, options: ParseRulesetOptions = {}): NftablesOperation[] {
  const operation = 'nftables.parseRuleset';
  checkText(text, operation);
  const reader = new RulesetReader(linksOf(operation, options));
  for (const line of linesIn(text)) atOnce(reader.readLine(line));
  return operationsOf(reader);
}

/**
 * As {@link parseRuleset}, in time slices of 2 ms, between which other callbacks of the event loop run. The text may come in pieces.
 * Rejects with a RulesetError, or with the reason of an aborted `options.signal`.
 */
export async function parseRulesetAsync(
  text: TextInput,
  options: ParseRulesetOptions & CallOptions = {},
): Promise<NftablesOperation[]> {
  const operation = 'nftables.parseRulesetAsync';
  checkTextInput(text, operation);
  const { signal, ...parsing } = checkObject(operation, 'options', options);
  checkCallOptions(operation, { signal });
  const reader = new RulesetReader(linksOf(operation, parsing));
  signal?.throwIfAborted();
  await readLines(text, (line) => reader.readLine(line), operation, signal);
  return operationsOf(reader);
}

/** Indexes of links by their names. */
function linksOf(operation: string, options: ParseRulesetOptions): Map<string, number> {
  checkObject(operation, 'options', options);
  const { links = DEFAULT_LINKS } = options;
  const invalid = findUnknown(options, OPTIONS) ?? findInvalidLinks('links', links);
  if (invalid) throw argumentError(operation, invalid);
  return new Map([...links].map(([index, name]) => [name, index]));
}

function operationsOf(reader: RulesetReader): NftablesOperation[] {
  reader.end();
  if (reader.problems.length > 0) throw new RulesetError(reader.problems);
  return reader.operations;
}
