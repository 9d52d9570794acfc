// The input of iptables-restore.
import type { IptablesOperation, Table } from './types.js';

/**
 * The input of `iptables-restore --noflush` that makes the changes. Naming a chain in a `:` line creates or empties it;
 * chains that are not named stay as they are. In each table, rules are added before others are deleted, and chains are
 * deleted when no rule jumps to them any more.
 */
export function restoreInput(operations: readonly IptablesOperation[]): string {
  return restoreTables(operations)
    .map(({ text }) => text)
    .join('');
}

/** The part of the input for one table, which changes as a whole or not at all. */
export interface RestoreTable {
  readonly table: Table;
  /** Its lines, from the name of the table to COMMIT. */
  readonly text: string;
  /** For each line, the place of its operation; undefined for the first and the last line. */
  readonly places: readonly (number | undefined)[];
}

/** The input of {@link restoreInput}, by table. */
export function restoreTables(operations: readonly IptablesOperation[]): RestoreTable[] {
  const tables = { nat: new TableLines(), filter: new TableLines(), mangle: new TableLines() };
  for (const [place, operation] of operations.entries()) tables[tableOf(operation)].add(operation, place);
  return (['nat', 'filter', 'mangle'] as const).flatMap((table) => tables[table].finish(table));
}

/** The table of an operation. */
export function tableOf(operation: IptablesOperation): Table {
  if ('chain' in operation) return operation.chain.table;
  return 'rules' in operation ? operation.rules.table : operation.rule.table;
}

/** The kinds of lines, in their order. */
const KINDS = ['headers', 'appended', 'inserted', 'deleted', 'chains'] as const;

/** Lines of one kind. A large cluster has tens of thousands of them: no object is made for each. */
class Lines {
  text = '';
  readonly places: number[] = [];

  /** @param line without its end */
  add(place: number, line: string): void {
    this.text += `${line}\n`;
    this.places.push(place);
  }
}

/** Lines of one table, by kind. */
class TableLines {
  readonly #kinds: Readonly<Record<(typeof KINDS)[number], Lines>> = {
    headers: new Lines(),
    appended: new Lines(),
    inserted: new Lines(),
    deleted: new Lines(),
    chains: new Lines(),
  };

  add(operation: IptablesOperation, place: number): void {
    const { headers, appended, inserted, deleted, chains } = this.#kinds;
    switch (operation.do) {
      case 'setChain': {
        const { name, rules } = operation.chain;
        headers.add(place, `:${name} - [0:0]`);
        for (const rule of rules) appended.add(place, `-A ${name} ${rule}`);
        break;
      }
      case 'appendRule':
        appended.add(place, `-A ${operation.rule.chain} ${operation.rule.text}`);
        break;
      case 'insertRule':
        inserted.add(place, `-I ${operation.rule.chain} ${operation.rule.text}`);
        break;
      case 'replaceRules': {
        const { chain, before, after } = operation.rules;
        for (const text of before) inserted.add(place, `-D ${chain} ${text}`);
        for (const text of after.toReversed()) inserted.add(place, `-I ${chain} ${text}`);
        break;
      }
      case 'deleteRule':
        deleted.add(place, `-D ${operation.rule.chain} ${operation.rule.text}`);
        break;
      case 'deleteChain':
        headers.add(place, `:${operation.chain.name} - [0:0]`);
        chains.add(place, `-X ${operation.chain.name}`);
        break;
    }
  }

  /** The text of the table; nothing if it has no lines. */
  finish(table: Table): RestoreTable[] {
    const kinds = KINDS.map((kind) => this.#kinds[kind]);
    const places = kinds.flatMap((lines) => lines.places);
    if (places.length === 0) return [];
    return [
      {
        table,
        // Joined, and not added: the parts of a text of millions of characters are copied once.
        text: [`*${table}\n`, ...kinds.map(({ text }) => text), 'COMMIT\n'].join(''),
        places: [undefined, ...places, undefined],
      },
    ];
  }
}
