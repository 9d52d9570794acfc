// The text that `ipset save` prints → operations.
import { checkCallOptions, checkObject, describeInvalid } from '../shared/arguments.js';
import {
  checkText,
  checkTextInput,
  linesIn,
  readLines,
  type TextInput,
} from '../shared/programs/textLines.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import type { CallOptions } from '../shared/types.js';
import { OPERATION } from './layouts.js';
import { writeOperation } from './records.js';
import { InvalidLine, readEntry, readSet } from './restoreLine.js';
import { checkParsing, type ParseOptions } from './textArguments.js';
import {
  DESTROY_ALL_CONFIRMATION,
  FLUSH_ALL_CONFIRMATION,
  type IpsetOperation,
  type SetReference,
} from './types.js';

export type { ParseOptions } from './textArguments.js';

/** An operation of a saved text. */
export interface SavedOperation {
  /** Number of its line, from 1. */
  readonly line: number;
  readonly operation: IpsetOperation;
}

/** A line that is not an operation. */
export interface SavedProblem {
  /** Its number, from 1. */
  readonly line: number;
  readonly text: string;
  /** The rule that it breaks: `entry.port must be an integer from 0 to 65535, found 70000`. */
  readonly rule: string;
}

/** What a saved text has. */
export interface ParsedSets {
  readonly operations: readonly SavedOperation[];
  readonly problems: readonly SavedProblem[];
}

/**
 * Reads a text that `ipset save` printed, or that was written for `ipset restore`: `create`, `add`, `del`, `flush`,
 * `destroy`, `swap` and `rename` lines with the options of ipset(8), `-exist`, empty lines, and comments (`#`). Addresses
 * and ports are numbers: names of hosts and services are not looked up.
 *
 * Every operation that is returned is valid. A line that is not is a problem, and the others are read.
 *
 * It blocks the event loop for a few ms for each 1000 lines: {@link parseSetsAsync} is for long texts.
 */
export function parseSets(text: string, options: ParseOptions = {}): ParsedSets {
  const operation = 'ipset.parseSets';
  checkText(text, operation);
  const reader = new SetsReader(checkParsing(options, operation));
  for (const line of linesIn(text)) reader.readLine(line);
  return reader.parsed;
}

/**
 * As {@link parseSets}, in time slices of 2 ms, between which other callbacks of the event loop run. The text may come in pieces.
 * Rejects with the reason of an aborted `options.signal`.
 */
export async function parseSetsAsync(
  text: TextInput,
  options: ParseOptions & CallOptions = {},
): Promise<ParsedSets> {
  const operation = 'ipset.parseSetsAsync';
  checkTextInput(text, operation);
  const { signal, ...parsing } = checkObject(operation, 'options', options);
  checkCallOptions(operation, { signal });
  const reader = new SetsReader(checkParsing(parsing, operation));
  signal?.throwIfAborted();
  const read = (line: string) => {
    reader.readLine(line);
    return undefined;
  };
  await readLines(text, read, operation, signal);
  return reader.parsed;
}

/** Reads lines one after another. */
class SetsReader {
  readonly #known = new Map<string, SetReference>();
  readonly #strict: boolean;
  readonly #operations: SavedOperation[] = [];
  readonly #problems: SavedProblem[] = [];
  readonly #writer = new RecordWriter(OPERATION.SIZE, 1);
  #line = 0;

  constructor({ sets = [], strict = false }: ParseOptions) {
    for (const set of sets) this.#known.set(set.name, set);
    this.#strict = strict;
  }

  /** What was read so far. */
  get parsed(): ParsedSets {
    return { operations: this.#operations, problems: this.#problems };
  }

  readLine(content: string): void {
    const line = ++this.#line;
    try {
      const words = wordsOf(content);
      if (words.length === 0) return;
      const operation = readOperation(words, this.#known, this.#strict);
      writeOperation(operation, this.#writer);
      const invalid = this.#writer.finish();
      this.#writer.reset();
      if (invalid) throw new InvalidLine(describeInvalid(invalid));
      remember(operation, this.#known);
      this.#operations.push({ line, operation });
    } catch (error) {
      if (!(error instanceof InvalidLine)) throw error;
      this.#problems.push({ line, text: content, rule: error.message });
    }
  }
}

/** One space, as a rule: a text is split several times as fast at one. */
const BLANKS = /\s+/;

/** Splits a line at blanks; a text in quotation marks is one word. `COMMIT` is a line of older tools. */
function wordsOf(line: string): string[] {
  const trimmed = line.trim();
  if (trimmed === '' || trimmed.startsWith('#') || trimmed === 'COMMIT') return [];
  if (!trimmed.includes('"')) return trimmed.split(BLANKS);
  const words: string[] = [];
  for (const [, quoted, plain, open] of trimmed.matchAll(/"([^"]*)"|([^\s"]+)|(")/g)) {
    if (open !== undefined) throw new InvalidLine('a quotation mark is missing');
    words.push(quoted ?? plain ?? '');
  }
  return words;
}

/** Commands with their short forms. */
const COMMANDS: Readonly<Record<string, string>> = {
  ...{ n: 'create', '-N': 'create', '--create': 'create', '-A': 'add', '--add': 'add', '-D': 'del' },
  ...{ '--del': 'del', '-F': 'flush', '--flush': 'flush', x: 'destroy', '-X': 'destroy' },
  ...{ '--destroy': 'destroy', e: 'rename', '-E': 'rename', '--rename': 'rename', w: 'swap', '-W': 'swap' },
  '--swap': 'swap',
};

function readOperation(
  words: readonly string[],
  known: ReadonlyMap<string, SetReference>,
  isStrict: boolean,
): IpsetOperation {
  const rest = words.filter((word) => word !== '-exist' && word !== '-!');
  const strict = isStrict && rest.length === words.length ? ({ strict: true } as const) : {};
  const [command = '', name, ...options] = rest;
  const verb = COMMANDS[command] ?? command;
  switch (verb) {
    case 'create':
      return { do: 'create', set: readSet(required(name, 'the name of a set'), options), ...strict };
    case 'add':
    case 'del': {
      const set = known.get(required(name, 'the name of a set'));
      if (!set)
        throw new InvalidLine(`the type of set ${name} is unknown: its create line is missing before`);
      const entry = readEntry(set, options);
      return { do: verb === 'add' ? 'add' : 'delete', set, entry, ...strict } as IpsetOperation;
    }
    case 'flush':
    case 'destroy':
      nothingMore(options);
      if (name !== undefined) return { do: verb, name };
      return verb === 'flush'
        ? { do: 'flushAll', confirm: FLUSH_ALL_CONFIRMATION }
        : { do: 'destroyAll', confirm: DESTROY_ALL_CONFIRMATION };
    case 'swap':
    case 'rename': {
      const [other, ...more] = options;
      nothingMore(more);
      const first = required(name, 'the name of a set');
      const second = required(other, 'the name of another set');
      return verb === 'swap'
        ? { do: 'swap', name: first, other: second }
        : { do: 'rename', name: first, newName: second };
    }
    default:
      throw new InvalidLine(`${command} is not a command of a saved text`);
  }
}

function required(word: string | undefined, what: string): string {
  if (word === undefined) throw new InvalidLine(`${what} is missing`);
  return word;
}

function nothingMore(words: readonly string[]): void {
  if (words.length > 0) throw new InvalidLine(`${words[0]} is not an option of the command`);
}

/** Keeps the types of the sets as they are after the operation. */
function remember(operation: IpsetOperation, known: Map<string, SetReference>): void {
  switch (operation.do) {
    case 'create':
      known.set(operation.set.name, operation.set);
      break;
    case 'destroy':
      known.delete(operation.name);
      break;
    case 'destroyAll':
      known.clear();
      break;
    case 'swap':
    case 'rename': {
      const other = operation.do === 'swap' ? operation.other : operation.newName;
      const [first, second] = [known.get(operation.name), known.get(other)];
      known.delete(operation.name);
      if (first) known.set(other, { ...first, name: other });
      if (second) known.set(operation.name, { ...second, name: operation.name });
      break;
    }
  }
}
