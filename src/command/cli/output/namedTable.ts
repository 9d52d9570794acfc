// Tables whose first column is a name, which may be long, and blank in rows below it.
import type { Style } from './colours.js';
import { type Column, fitted, tableLines, totalWidth, widest } from './table.js';

/** How the table is shown. */
export interface NamedTableLayout {
  /** Terminal columns of the longest line, unless one cell is longer. */
  readonly columns: number;
  readonly style: Style;
  /** Cuts names, for a screen on which each row must have one line. Default: each name has a line of its own above its rows. */
  readonly cutsNames?: boolean;
}

type Rows = readonly (readonly string[])[];

/** Spaces before the rows of a name. */
const INDENT = '  ';

/**
 * The lines of a table, headings first. If it is too wide, names are cut or have lines of their own; columns that still do not fit
 * follow in further tables, after a blank line each.
 *
 * @param rows a cell for each column; escape sequences of colours have no width
 */
export function namedTable(columns: readonly Column[], rows: Rows, layout: NamedTableLayout): string[] {
  const widths = columns.map(({ title }, i) => widest([title, ...rows.map((cells) => cells[i] ?? '')]));
  const [nameWidth = 0] = widths;
  const excess = totalWidth(widths) - layout.columns;
  if (excess <= 0) return headed(tableLines(columns, rows), layout.style);
  if (!layout.cutsNames) return belowNames(columns, rows, widths, layout);
  const least = widest([columns[0]?.title ?? '']);
  const space = Math.max(least, nameWidth - excess);
  const cut = rows.map(([name = '', ...cells]) => [fitted(name, space), ...cells]);
  return headed(tableLines(columns, cut), layout.style);
}

function headed([headings = '', ...lines]: readonly string[], style: Style): string[] {
  return [style('heading', headings), ...lines];
}

/** Tables in which each name is above its rows. A name is written once for rows that follow each other. */
function belowNames(
  [name, ...others]: readonly Column[],
  rows: Rows,
  [, ...widths]: readonly number[],
  { columns, style }: NamedTableLayout,
): string[] {
  return columnGroups(widths, 1, columns - INDENT.length).flatMap((group, block) => {
    const [headings = '', ...lines] = tableLines(
      group.map((i) => others[i] as Column),
      rows.map((cells) => group.map((i) => cells[i + 1] ?? '')),
    );
    let last = '';
    const body = rows.flatMap(([cell = ''], row) => {
      const isNew = cell !== '' && cell !== last;
      if (isNew) last = cell;
      return [...(isNew ? [cell] : []), `${INDENT}${lines[row]}`];
    });
    const titles = [name?.title ?? '', `${INDENT}${headings}`].map((title) => style('heading', title));
    return [...(block === 0 ? [] : ['']), ...titles, ...body];
  });
}

/**
 * The columns of each table: the keys, and as many others as fit, at least one.
 *
 * @param widths of all columns
 * @param keys number of first columns that each table has
 * @param width terminal columns of the longest line
 */
export function columnGroups(widths: readonly number[], keys: number, width: number): number[][] {
  const key = Array.from({ length: keys }, (_, i) => i);
  const groups: number[][] = [];
  for (let i = keys; i < widths.length; i++) {
    const last = groups.at(-1);
    if (last && totalWidth([...last, i].map((at) => widths[at] ?? 0)) <= width) last.push(i);
    else groups.push([...key, i]);
  }
  return groups.length === 0 ? [key] : groups;
}
