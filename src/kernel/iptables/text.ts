// The input of iptables-restore.
import type { IptablesOperation, Table } from './types.js';

/**
 * The input of `iptables-restore --noflush` that makes the changes. Naming a chain in a `:` line creates or empties it;
 * chains that are not named stay as they are. In each table, rules are added before others are deleted, and chains are
 * deleted when no rule jumps to them any more.
 */
export function restoreInput(operations: readonly IptablesOperation[]): string {
  return restoreTables(operations)
    .map(({ lines }) => lines.join(''))
    .join('');
}

/** The part of the input for one table, which changes as a whole or not at all. */
export interface RestoreTable {
  readonly table: Table;
  /** Its lines, from the name of the table to COMMIT. */
  readonly lines: readonly string[];
  /** For each line, the place of its operation; undefined for the first and the last line. */
  readonly places: readonly (number | undefined)[];
}

/** The input of {@link restoreInput}, by table. */
export function restoreTables(operations: readonly IptablesOperation[]): RestoreTable[] {
  const tables = (['nat', 'filter', 'mangle'] as const).map((table) => ({ table, lines: new TableLines() }));
  for (const [place, operation] of operations.entries()) {
    const table = tableOf(operation);
    tables.find((each) => each.table === table)?.lines.add(operation, place);
  }
  return tables.flatMap(({ table, lines }) => (lines.isEmpty ? [] : [lines.finish(table)]));
}

/** The table of an operation. */
export function tableOf(operation: IptablesOperation): Table {
  if ('chain' in operation) return operation.chain.table;
  return 'rules' in operation ? operation.rules.table : operation.rule.table;
}

/** The kinds of lines, in their order. */
const KINDS = ['headers', 'appended', 'inserted', 'deleted', 'chains'] as const;

/** Lines of one table, by kind. */
class TableLines {
  readonly #kinds: Record<(typeof KINDS)[number], { readonly text: string; readonly place: number }[]> = {
    headers: [],
    appended: [],
    inserted: [],
    deleted: [],
    chains: [],
  };

  get isEmpty(): boolean {
    return KINDS.every((kind) => this.#kinds[kind].length === 0);
  }

  add(operation: IptablesOperation, place: number): void {
    const { headers, appended, inserted, deleted, chains } = this.#kinds;
    switch (operation.do) {
      case 'setChain': {
        const { name, rules } = operation.chain;
        headers.push({ text: `:${name} - [0:0]\n`, place });
        for (const rule of rules) appended.push({ text: `-A ${name} ${rule}\n`, place });
        break;
      }
      case 'appendRule':
        appended.push({ text: `-A ${operation.rule.chain} ${operation.rule.text}\n`, place });
        break;
      case 'insertRule':
        inserted.push({ text: `-I ${operation.rule.chain} ${operation.rule.text}\n`, place });
        break;
      case 'replaceRules': {
        const { chain, before, after } = operation.rules;
        for (const text of before) inserted.push({ text: `-D ${chain} ${text}\n`, place });
        for (const text of after.toReversed()) inserted.push({ text: `-I ${chain} ${text}\n`, place });
        break;
      }
      case 'deleteRule':
        deleted.push({ text: `-D ${operation.rule.chain} ${operation.rule.text}\n`, place });
        break;
      case 'deleteChain':
        headers.push({ text: `:${operation.chain.name} - [0:0]\n`, place });
        chains.push({ text: `-X ${operation.chain.name}\n`, place });
        break;
    }
  }

  finish(table: Table): RestoreTable {
    const lines = KINDS.flatMap((kind) => this.#kinds[kind]);
    return {
      table,
      lines: [`*${table}\n`, ...lines.map(({ text }) => text), 'COMMIT\n'],
      places: [undefined, ...lines.map(({ place }) => place), undefined],
    };
  }
}
