// The load figures as tables. Pure.
import { markdownTable } from '../output/markdown.js';
import type { Table } from '../output/table.js';
import type { Figure } from './figures.js';
import { SPEEDS, TRAFFIC, VARIANTS } from './traffic.js';

/** A table of each kind of traffic. */
export interface TitledTable {
  readonly title: string;
  readonly table: Table;
}

/** The tables of figures, in the order of the traffic. */
export function loadTables(figures: readonly Figure[]): TitledTable[] {
  return TRAFFIC.map(({ name, title }) => ({
    title: `${title[0]?.toUpperCase()}${title.slice(1)}`,
    table: tableOf(figures.filter(({ traffic }) => traffic === name)),
  })).filter(({ table }) => table.rows.length > 0);
}

function tableOf(figures: readonly Figure[]): Table {
  const columns = VARIANTS.map(({ name }) => name).filter((name) =>
    figures.some(({ loads }) => name in loads),
  );
  return {
    columns: [
      { title: 'speed of endpoints', align: 'left' },
      { title: 'nodes', align: 'right' },
      ...columns.map((title) => ({ title, align: 'right' as const })),
    ],
    rows: figures.map(({ speeds, nodes, loads }) => [
      SPEEDS.find(({ name }) => name === speeds)?.title ?? speeds,
      String(nodes),
      ...columns.map((name) => cellOf(loads[name])),
    ]),
  };
}

function cellOf(load: Figure['loads'][string] | undefined): string {
  return load === undefined ? '' : `${load.atMoment.toFixed(2)} (${load.overTime.toFixed(2)})`;
}

/** The tables in the syntax of GitHub Flavored Markdown, as docs/schedulers.md has them. */
export function loadMarkdown(figures: readonly Figure[]): string {
  return loadTables(figures)
    .map(({ title, table }) => `${title}:\n\n${markdownTable(table)}`)
    .join('\n\n');
}
