// The text of `nft list ruleset` → operations that make it, line by line.

import { describeInvalid } from '../../../shared/arguments.js';
import { ByteWriter } from '../../../shared/wire/byteWriter.js';
import { StepCounter, type Steps } from '../../../steps.js';
import { OperationEncoder } from '../../encode/operations.js';
import type {
  NewChain,
  NewElement,
  NewFlowTable,
  NewObject,
  NewSet,
  NewTable,
  NftablesOperation,
  SetName,
} from '../../types.js';
import {
  type Draft,
  objectTypeAt,
  readChainStatement,
  readFlowTableStatement,
  readObjectStatement,
  readSetStatement,
  readTableStatement,
  type SetDraft,
  tableAt,
} from './blocks.js';
import { elementAt } from './elements.js';
import { readRuleAt } from './rule.js';
import { Cursor, type Line, type Token, tokensOf, Unreadable } from './tokens.js';

/** What of a text cannot be read. */
export interface RulesetProblem {
  /** Number of the line, from 1. */
  readonly line: number;
  /** Place of the first character in the line that cannot be read, from 1. */
  readonly column: number;
  /** The line, or its beginning if it is long. */
  readonly text: string;
  /** What is found there, and the rule that it breaks: `` `10.0.0` must be an IPv4 address ``. */
  readonly rule: string;
}

/** A table that is read, and the operations of what is in it. */
interface TableBlock {
  readonly kind: 'table';
  readonly start: Token;
  readonly table: Draft<NewTable>;
  /** What the elements of its sets are; undefined of a set that could not be read. */
  readonly sets: Map<string, SetName | undefined>;
  readonly chains: NftablesOperation[];
  readonly objects: NftablesOperation[];
  readonly setsWithElements: NftablesOperation[];
  readonly rules: NftablesOperation[];
}

interface SetBlock {
  readonly kind: 'set';
  readonly start: Token;
  readonly isMap: boolean;
  readonly set: SetDraft;
  readonly elements: NewElement[];
  /** The set as elements name it, from the first one on. */
  name?: SetName;
}

type Block =
  | TableBlock
  | SetBlock
  | { readonly kind: 'chain'; readonly start: Token; readonly chain: Draft<NewChain> }
  | { readonly kind: 'object'; readonly start: Token; readonly object: Draft<NewObject> }
  | { readonly kind: 'flowTable'; readonly start: Token; readonly flowTable: Draft<NewFlowTable> }
  /** The list of elements of the set around it. */
  | { readonly kind: 'elements'; readonly start: Token; readonly of: SetBlock }
  /** One that cannot be read. */
  | { readonly kind: 'other'; readonly start: Token };

/** Most characters of a line in a problem. */
const LONGEST_TEXT = 200;

/** Reads lines one after another. */
export class RulesetReader {
  /** Those of the tables that were read so far. */
  readonly operations: NftablesOperation[] = [];
  readonly problems: RulesetProblem[] = [];
  readonly #links: ReadonlyMap<string, number>;
  readonly #blocks: Block[] = [];
  readonly #bytes = new ByteWriter();
  readonly #encoder = new OperationEncoder(this.#bytes);
  #statement: Token[] = [];
  /** Number of braces that are open in the statement. */
  #depth = 0;
  #lines = 0;

  /** @param links indexes of links by their names */
  constructor(links: ReadonlyMap<string, number>) {
    this.#links = links;
  }

  /** Reads the next line. */
  *readLine(text: string): Steps<void> {
    const line: Line = { number: ++this.#lines, text };
    const counter = new StepCounter();
    try {
      for (const token of yield* tokensOf(line)) {
        yield* this.#take(token);
        if (counter.isFull()) yield;
      }
    } catch (error) {
      this.#problem(error);
      this.#statement = [];
    }
    if (this.#depth === 0 && this.#blocks.at(-1)?.kind !== 'elements') yield* this.#finish();
  }

  /** Notes what is missing at the end of the text. */
  end(): void {
    const brace = this.#statement.findLast(({ text, isQuoted }) => text === '{' && !isQuoted);
    const start = brace ?? this.#blocks.at(-1)?.start;
    if (start) this.#problem(new Unreadable('has no closing brace', start));
  }

  #problem(error: unknown): void {
    if (!(error instanceof Unreadable)) throw error;
    const { line, column, text, isQuoted } = error.token;
    const found = text === '' && !isQuoted ? 'the end' : isQuoted ? `"${cut(text)}"` : `\`${cut(text)}\``;
    this.problems.push({
      ...{ line: line.number, column, text: cut(line.text) },
      rule: `${found} ${error.message}`,
    });
  }

  *#take(token: Token): Steps<void> {
    const block = this.#blocks.at(-1);
    const sign = token.isQuoted ? '' : token.text;
    if (sign === '{' && this.#depth === 0 && opens(block, this.#statement)) this.#open(block, token);
    else if (sign === '}' && this.#depth === 0) {
      yield* this.#finish();
      this.#close(token);
    } else if (this.#depth === 0 && (sign === ';' || (sign === ',' && block?.kind === 'elements'))) {
      if (sign === ',' && this.#statement.length === 0)
        this.#problem(new Unreadable('has no element before it', token));
      yield* this.#finish();
    } else if (block?.kind !== 'other') {
      if (sign === '{') this.#depth++;
      if (sign === '}') this.#depth--;
      this.#statement.push(token);
    }
  }

  /** Begins a block with the statement before its brace. */
  #open(block: Block | undefined, brace: Token): void {
    const start = this.#statement[0] ?? brace;
    const cursor = new Cursor(this.#statement.length > 0 ? this.#statement : [brace]);
    this.#statement = [];
    try {
      this.#blocks.push(this.#blockAt(block, cursor, start));
    } catch (error) {
      this.#problem(error);
      this.#blocks.push({ kind: 'other', start });
    }
  }

  #blockAt(block: Block | undefined, cursor: Cursor, start: Token): Block {
    if (block?.kind === 'other') return { kind: 'other', start };
    if (block?.kind === 'set') return { kind: 'elements', start, of: block };
    if (block?.kind !== 'table') {
      const lists = { chains: [], objects: [], setsWithElements: [], rules: [] };
      return { kind: 'table', start, table: tableAt(cursor), sets: new Map(), ...lists };
    }
    const type = objectTypeAt(cursor);
    const kind = type ?? cursor.word('a chain, a set or an object').text;
    if (type === undefined && !['chain', 'set', 'map', 'flowtable'].includes(kind))
      throw new Unreadable('is no kind of object that the library has', start);
    const { family, name: table } = block.table;
    const named = { family, table, name: cursor.word('a name').text };
    cursor.end();
    if (kind === 'chain') return { kind, start, chain: named };
    if (kind === 'set' || kind === 'map') {
      block.sets.set(named.name, undefined);
      return { kind: 'set', start, isMap: kind === 'map', set: named, elements: [] };
    }
    if (type === undefined) return { kind: 'flowTable', start, flowTable: { ...named, priority: 0 } };
    const object = type === 'quota' ? { ...named, type, bytes: 0n } : { ...named, type };
    return { kind: 'object', start, object: object as Draft<NewObject> };
  }

  /** Ends a block. */
  #close(brace: Token): void {
    const block = this.#blocks.pop();
    try {
      if (!block) throw new Unreadable('has no opening brace', brace);
      if (block.kind === 'table') this.#closeTable(block);
      else if (block.kind !== 'elements' && block.kind !== 'other') this.#closeInTable(block, this.#table());
    } catch (error) {
      this.#problem(error);
    }
  }

  #closeTable({ table, start, chains, objects, setsWithElements, rules }: TableBlock): void {
    this.operations.push(this.#valid({ do: 'addTable', table }, start));
    for (const list of [chains, objects, setsWithElements, rules]) {
      for (const operation of list) this.operations.push(operation);
    }
  }

  #closeInTable(block: Exclude<Block, { kind: 'table' | 'elements' | 'other' }>, table: TableBlock): void {
    const { start } = block;
    if (block.kind === 'chain') {
      table.chains.push(this.#valid({ do: 'addChain', chain: block.chain }, start));
    } else if (block.kind === 'object') {
      table.objects.push(this.#valid({ do: 'addObject', object: block.object as NewObject }, start));
    } else if (block.kind === 'flowTable') {
      table.objects.push(this.#valid({ do: 'addFlowTable', flowTable: block.flowTable }, start));
    } else {
      const name = this.#nameOf(block);
      table.setsWithElements.push(this.#valid({ do: 'addSet', set: block.set as NewSet }, start));
      table.sets.set(name.name, name);
      const { elements } = block;
      if (elements.length > 0) table.setsWithElements.push({ do: 'addElements', set: name, elements });
    }
  }

  /** The set as elements and rules name it. It cannot change, so that it is checked once. */
  #nameOf(block: SetBlock): SetName {
    if (block.name) return block.name;
    const { set } = block;
    // nft takes the flag from what needs it.
    const isTimed = set.timeout !== undefined || set.gcInterval !== undefined;
    if (isTimed && !set.flags?.includes('timeout')) set.flags = [...(set.flags ?? []), 'timeout'];
    const { family, table, name, key, data, flags, keyExpressions, dataExpressions } = set;
    const { dataIsInterval, objects } = set;
    if (key === undefined) throw new Unreadable('must have a type, before its elements', block.start);
    for (const list of [key, data, flags, keyExpressions, dataExpressions]) Object.freeze(list);
    block.name = Object.freeze({
      ...{ family, table, name, key },
      ...(data !== undefined && { data }),
      ...(dataIsInterval && { dataIsInterval }),
      ...(objects !== undefined && { objects }),
      ...(flags !== undefined && { flags }),
      ...(keyExpressions !== undefined && { keyExpressions }),
      ...(dataExpressions !== undefined && { dataExpressions }),
    });
    return block.name;
  }

  #table(): TableBlock {
    return this.#blocks[0] as TableBlock;
  }

  /** The operation, if it breaks no rule. */
  #valid(operation: NftablesOperation, start: Token): NftablesOperation {
    const invalid = this.#encoder.write(operation);
    this.#bytes.truncate(0);
    if (invalid) throw new Unreadable(`is invalid: ${describeInvalid(invalid)}`, start);
    return operation;
  }

  /** Reads the statement before a semicolon, a comma of elements, a closing brace, or the end of a line. */
  *#finish(): Steps<void> {
    const statement = this.#statement;
    const [start] = statement;
    this.#statement = [];
    this.#depth = 0;
    if (!start) return;
    try {
      yield* this.#read(new Cursor(statement), start);
    } catch (error) {
      this.#problem(error);
    }
  }

  *#read(cursor: Cursor, start: Token): Steps<void> {
    const block = this.#blocks.at(-1);
    switch (block?.kind) {
      case undefined:
        throw new Unreadable('must be a table: a listing has no commands and no definitions', start);
      case 'table':
        return readTableStatement(cursor, block.table);
      case 'object':
        return readObjectStatement(cursor, block.object);
      case 'flowTable':
        return readFlowTableStatement(cursor, block.flowTable);
      case 'set':
        if (block.name) throw new Unreadable('must be before the elements', start);
        return readSetStatement(cursor, block.set, block.isMap);
      case 'elements':
        return this.#readElement(cursor, block.of, start);
      case 'chain':
        if (!readChainStatement(cursor, block.chain)) yield* this.#readRule(cursor, block.chain, start);
    }
  }

  #readElement(cursor: Cursor, block: SetBlock, start: Token): void {
    const set = this.#nameOf(block);
    const element = elementAt(cursor, set, this.#links);
    cursor.end();
    this.#valid({ do: 'addElements', set, elements: [element] }, start);
    block.elements.push(element);
  }

  *#readRule(cursor: Cursor, { family, table, name }: Draft<NewChain>, start: Token): Steps<void> {
    const { sets, rules } = this.#table();
    const surroundings = { family, links: this.#links, shapeOf: (set: string) => sets.get(set) };
    const rule = yield* readRuleAt(cursor, surroundings);
    rules.push(this.#valid({ do: 'addRule', rule: { family, table, chain: name, ...rule } }, start));
  }
}

/** Whether a brace behind a statement begins a block. */
function opens(block: Block | undefined, statement: readonly Token[]): boolean {
  if (block === undefined || block.kind === 'table' || block.kind === 'other') return true;
  return (
    block.kind === 'set' &&
    statement.length === 2 &&
    statement.map(({ text }) => text).join(' ') === 'elements ='
  );
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
