// From the failure of iptables-restore to one result for each operation. Pure.
import { NetlinkError, ROLLED_BACK } from '../errors.js';
import { atOnce, StepCounter, type Steps } from '../steps.js';
import {
  linesInSteps,
  type RestoreLine,
  type RestoreTable,
  restoreTablesInSteps,
  tableOf,
  whyUnwritable,
} from './text.js';
import type { ChainRule, IptablesOperation } from './types.js';
import { chainOf, UnwritableText } from './writable.js';

/** How a restore failed. */
export interface RestoreFailure {
  /**
   * `ERR_PROCESS` if the program refused a table; otherwise none of the operations is the cause: see the results of
   * `Iptables.restore`.
   */
  readonly code: string;
  /** The reason: the output of the program, or how it ended. */
  readonly message: string;
  /** Number of lines that the program had read before the first table. */
  readonly linesBefore: number;
}

/** The input of a restore, and how it ended. */
export interface Outcome {
  /** Name of the program. */
  readonly program: string;
  /** The tables of the input. One line, the mark of the table, follows each. */
  readonly tables: readonly RestoreTable[];
  /** Number of tables that were committed, from the first one; undefined if only `failure` shows it. */
  readonly committed: number | undefined;
  /** Undefined if all tables were committed. */
  readonly failure: RestoreFailure | undefined;
}

/** One result for each operation, as `Iptables.restore` describes them. */
export function resultsOf(
  operations: readonly IptablesOperation[],
  outcome: Outcome,
): (NetlinkError | undefined)[] {
  return atOnce(resultsInSteps(operations, outcome));
}

/** The same in steps. */
export function* resultsInSteps(
  operations: readonly IptablesOperation[],
  outcome: Outcome,
): Steps<(NetlinkError | undefined)[]> {
  const results = new Array<NetlinkError | undefined>(operations.length).fill(undefined);
  const { tables, failure } = outcome;
  if (!failure) return results;
  const named = yield* namedLines(operations, outcome, failure);
  const committed = outcome.committed ?? named[0]?.table ?? 0;
  const error = errorOf(outcome, failure);
  const isRefused = failure.code === 'ERR_PROCESS';
  const culprits = named.filter(({ table, place }) => table === committed && place !== undefined);
  // Unless the program names operations, all of the first table that was not committed have its error.
  const rest = isRefused ? rolledBack(outcome, error) : error;
  const first = isRefused && culprits.length > 0 ? rest : error;
  const resultOf = new Map(
    tables.map(({ table }, i) => [table, i < committed ? undefined : i === committed ? first : rest]),
  );
  const counter = new StepCounter();
  for (const [place, operation] of operations.entries()) {
    results[place] = resultOf.get(tableOf(operation));
    if (counter.isFull()) yield;
  }
  if (!isRefused) return results;
  for (const { place, text } of culprits)
    if (place !== undefined) results[place] = errorOf(outcome, failure, text);
  return results;
}

/** The input of a restore. */
export interface Written {
  /** None if the input cannot be written: then nothing may be sent. */
  readonly tables: readonly RestoreTable[];
  /** One result for each operation if the input cannot be written; otherwise undefined. */
  readonly results?: NetlinkError[];
}

/**
 * Writes the input of a restore, in steps.
 *
 * @param program its name, for errors
 */
export function* writeTables(operations: readonly IptablesOperation[], program: string): Steps<Written> {
  try {
    return { tables: yield* restoreTablesInSteps(operations) };
  } catch (error) {
    if (!(error instanceof UnwritableText)) throw error;
    return { tables: [], results: yield* unwrittenResults(operations, program, error) };
  }
}

function* unwrittenResults(
  operations: readonly IptablesOperation[],
  program: string,
  cause: UnwritableText,
): Steps<NetlinkError[]> {
  const counter = new StepCounter();
  const results: NetlinkError[] = [];
  for (const operation of operations) {
    results.push(unwritten(operation, program, cause));
    if (counter.isFull()) yield;
  }
  return results;
}

function unwritten(operation: IptablesOperation, program: string, cause: UnwritableText): NetlinkError {
  const own = whyUnwritable(operation);
  const chain = chainOf(operation);
  return new NetlinkError({
    code: own ? 'ERR_INVALID_ARGUMENT' : ROLLED_BACK,
    operation: 'iptables.restore',
    target: own && chain !== undefined ? `${program}: ${chain}` : program,
    kernelMessage: (own ?? cause).message,
  });
}

/** The error of a restore as a whole, from the results of its operations. */
export function mainErrorOf(results: readonly (NetlinkError | undefined)[]): NetlinkError | undefined {
  return results.find((result) => result !== undefined && result.code !== ROLLED_BACK);
}

/** The rule that a restore could not add, if the error names it. */
export function refusedRule({ operation, target }: NetlinkError): Omit<ChainRule, 'table'> | undefined {
  const [, program, chain, text] = /^(.+): -[AI] (\S+) (.+)$/.exec(target ?? '') ?? [];
  if (operation !== 'iptables.restore' || chain === undefined || text === undefined) return undefined;
  return { family: program?.startsWith('ip6') ? 6 : 4, chain, text };
}

/** A line that the program named. It names COMMIT, which no operation needs, if it refuses a table without the name of a rule. */
interface NamedLine extends RestoreLine {
  /** Place of its table. */
  readonly table: number;
}

/**
 * The forms in which the versions and backends of iptables-restore name lines: `line 7 failed`, `Error occurred at line: 7`,
 * and, for each refused operation, `line 7: RULE_APPEND failed (…)`.
 */
const LINE = /\bline:? (\d+)(?::| failed|$)/gm;

/** The lines of tables that the program named. */
function* namedLines(
  operations: readonly IptablesOperation[],
  { tables }: Outcome,
  { message, linesBefore }: RestoreFailure,
): Steps<NamedLine[]> {
  const named: NamedLine[] = [];
  const numbers = [...message.matchAll(LINE)].map(([, number]) => Number(number) - linesBefore - 1);
  if (numbers.length === 0) return named;
  const lines: RestoreLine[][] = [];
  for (const { table } of tables) lines.push(yield* linesInSteps(operations, table));
  const counter = new StepCounter();
  for (const number of numbers) {
    let place = number;
    for (const [table, own] of lines.entries()) {
      const line = own[place];
      if (line) named.push({ ...line, table });
      place -= own.length + 1; // and its mark
    }
    if (counter.isFull()) yield;
  }
  return named;
}

function errorOf({ program }: Outcome, { code, message }: RestoreFailure, line?: string): NetlinkError {
  return new NetlinkError({
    code,
    operation: 'iptables.restore',
    target: line === undefined ? program : `${program}: ${line}`,
    kernelMessage: code === 'ENOENT' ? undefined : message,
    hint: hintOf(code),
  });
}

function hintOf(code: string): string | undefined {
  switch (code) {
    case 'ENOENT':
      return 'install the package iptables';
    case 'ERR_UNKNOWN_OUTCOME':
      return 'the kernel may have done it: observe before sending it again; another program may hold the lock of iptables';
    default:
      return undefined;
  }
}

function rolledBack({ program }: Outcome, cause: NetlinkError): NetlinkError {
  return new NetlinkError({
    code: ROLLED_BACK,
    operation: 'iptables.restore',
    target: program,
    kernelMessage: cause.kernelMessage,
  });
}
