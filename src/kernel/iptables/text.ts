// The input of iptables-restore, in UTF-8.
import { atOnce, StepCounter, type Steps } from '../steps.js';
import type { ChainRule, IptablesOperation, Table } from './types.js';
import { checkOperation, UnwritableText, writableChain, writableRule, writableRules } from './writable.js';

/**
 * The input of `iptables-restore --noflush` that makes the changes. Naming a chain in a `:` line creates or empties it;
 * chains that are not named stay as they are. In each table, rules are added before others are deleted, and chains are
 * deleted when no rule jumps to them any more.
 *
 * Throws UnwritableText if a text would be more than one rule, or more than the name of a chain, and for what is no operation.
 */
export function restoreInput(operations: readonly IptablesOperation[]): Buffer {
  return Buffer.concat(restoreTables(operations).flatMap(({ input }) => input));
}

/** The part of the input for one table, which changes as a whole or not at all. */
export interface RestoreTable {
  readonly table: Table;
  /** Its lines, from the name of the table to COMMIT, in pieces. */
  readonly input: readonly Buffer[];
  /** Number of its lines. */
  readonly lines: number;
}

/** The input of {@link restoreInput}, by table. Throws as that does. */
export function restoreTables(operations: readonly IptablesOperation[]): RestoreTable[] {
  return atOnce(restoreTablesInSteps(operations));
}

/** The same in steps: the rules of an operation may be made when they are read. */
export function* restoreTablesInSteps(operations: readonly IptablesOperation[]): Steps<RestoreTable[]> {
  const tables = { nat: new TableText(), filter: new TableText(), mangle: new TableText() };
  const counter = new StepCounter();
  for (let i = 0; i < operations.length; i++) {
    const operation = checkOperation(operations[i] as IptablesOperation);
    yield* writeLines(operation, tables[tableOf(operation)]);
    if (counter.isFull()) yield;
  }
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => tables[table].end(table));
}

/** One line of the input for a table. */
export interface RestoreLine {
  /** Without its end. */
  readonly text: string;
  /** Place of the operation that needs it; undefined for the first and the last line. */
  readonly place: number | undefined;
}

/** The lines of a table in the input of {@link restoreInput}, in order. */
export function linesOf(operations: readonly IptablesOperation[], table: Table): RestoreLine[] {
  return atOnce(linesInSteps(operations, table));
}

/** The same in steps. */
export function* linesInSteps(operations: readonly IptablesOperation[], table: Table): Steps<RestoreLine[]> {
  const counter = new StepCounter();
  const lines: Record<Kind, RestoreLine[]> = {
    headers: [],
    appended: [],
    inserted: [],
    deleted: [],
    chains: [],
  };
  for (const [place, operation] of operations.entries()) {
    if (counter.isFull()) yield;
    if (tableOf(operation) !== table) continue;
    yield* writeLines(operation, {
      add(kind, text) {
        for (const line of text.split('\n')) lines[kind].push({ text: line, place });
      },
    });
  }
  const own = KINDS.flatMap((kind) => lines[kind]);
  return [{ text: firstLine(table), place: undefined }, ...own, { text: LAST_LINE, place: undefined }];
}

/** The table of an operation. */
export function tableOf(operation: IptablesOperation): Table {
  if ('chain' in operation) return operation.chain.table;
  return 'rules' in operation ? operation.rules.table : operation.rule.table;
}

/** The kinds of lines, in their order. */
const KINDS = ['headers', 'appended', 'inserted', 'deleted', 'chains'] as const;
type Kind = (typeof KINDS)[number];

function firstLine(table: Table): string {
  return `*${table}`;
}

const LAST_LINE = 'COMMIT';

/** Receives the lines of operations. */
interface LineSink {
  /**
   * @param text one or more lines, the last one without its end
   * @param count number of lines; default 1
   */
  add(kind: Kind, text: string, count?: number): void;
}

/** Why an operation cannot be written; undefined if it can. */
export function whyUnwritable(operation: IptablesOperation): UnwritableText | undefined {
  try {
    atOnce(writeLines(checkOperation(operation), { add() {} }));
    return undefined;
  } catch (error) {
    if (error instanceof UnwritableText) return error;
    throw error;
  }
}

/** Number of rules of a chain that are written in one step. */
const RUN = 256;

/** Every line of a rule or a chain is written here, and checked, in steps. Throws UnwritableText. */
function* writeLines(operation: IptablesOperation, to: LineSink): Steps<void> {
  switch (operation.do) {
    case 'setChain': {
      const name = writableChain(operation.chain.name, 'name');
      to.add('headers', `:${name} - [0:0]`);
      const append = `-A ${name} `;
      const rules = writableRules('rules', operation.chain.rules);
      for (let start = 0; start < rules.length; start += RUN) {
        if (start > 0) yield;
        const run = rules.slice(start, start + RUN);
        for (const rule of run) writableRule(rule, 'rules');
        to.add('appended', append + run.join(`\n${append}`), run.length);
      }
      break;
    }
    case 'appendRule':
      to.add('appended', ruleLine('-A', operation.rule));
      break;
    case 'insertRule':
      to.add('inserted', ruleLine('-I', operation.rule));
      break;
    case 'replaceRules': {
      const { chain, before, after } = operation.rules;
      for (const text of writableRules('before', before))
        to.add('inserted', ruleLine('-D', { chain, text }, 'before'));
      for (const text of writableRules('after', after).toReversed())
        to.add('inserted', ruleLine('-I', { chain, text }, 'after'));
      break;
    }
    case 'deleteRule':
      to.add('deleted', ruleLine('-D', operation.rule));
      break;
    case 'deleteChain': {
      const name = writableChain(operation.chain.name, 'name');
      to.add('headers', `:${name} - [0:0]`);
      to.add('chains', `-X ${name}`);
      break;
    }
  }
}

function ruleLine(
  verb: '-A' | '-I' | '-D',
  { chain, text }: Pick<ChainRule, 'chain' | 'text'>,
  field = 'text',
): string {
  return `${verb} ${writableChain(chain)} ${writableRule(text, field)}`;
}

/** The text of one table. */
class TableText implements LineSink {
  readonly #kinds: Readonly<Record<Kind, Text>> = {
    headers: new Text(),
    appended: new Text(),
    inserted: new Text(),
    deleted: new Text(),
    chains: new Text(),
  };
  #lines = 0;

  add(kind: Kind, text: string, count = 1): void {
    this.#kinds[kind].add(text);
    this.#lines += count;
  }

  /** The table; nothing if it has no lines. */
  end(table: Table): RestoreTable[] {
    if (this.#lines === 0) return [];
    const own = KINDS.flatMap((kind) => this.#kinds[kind].end());
    const input = [Buffer.from(`${firstLine(table)}\n`), ...own, Buffer.from(`${LAST_LINE}\n`)];
    return [{ table, input, lines: this.#lines + 2 }];
  }
}

/** Number of characters that are encoded together. */
const PIECE = 32 * 1024;

/**
 * A text that grows to millions of characters. V8 keeps a text that was added from parts as a tree of its parts, which
 * garbage collections copy while it is in use: it is encoded before it is large.
 */
class Text {
  readonly #pieces: Buffer[] = [];
  #rest = '';

  /** @param lines the last one without its end */
  add(lines: string): void {
    this.#rest += `${lines}\n`;
    if (this.#rest.length >= PIECE) this.#encode();
  }

  /** The text in UTF-8. */
  end(): readonly Buffer[] {
    if (this.#rest !== '') this.#encode();
    return this.#pieces;
  }

  #encode(): void {
    this.#pieces.push(Buffer.from(this.#rest));
    this.#rest = '';
  }
}
