// Tables that fit a number of columns: cells of text are broken at spaces, and what still does not fit is shown in a
// second table below the first.
import { columnGroups } from '../../src/command/cli/output/namedTable.js';
import { type Column, tableLines, totalWidth, widest } from '../../src/command/cli/output/table.js';
import { wrapped } from '../../src/command/config/wrap.js';

/** How a table fits. */
export interface Fit {
  /** Terminal columns of the longest line, unless one cell is longer. */
  readonly width: number;
  /** Number of first columns that identify a row: each table below the first repeats them. Default 1. */
  readonly keys?: number;
  /** Colours a part of a cell. */
  readonly paint?: (row: number, column: number, text: string) => string;
}

/**
 * The lines of a table, headings first. If it is too wide, cells of left-aligned columns are broken at spaces; if that is not
 * enough, the columns that do not fit follow in further tables, after a blank line each.
 *
 * @param rows a cell for each column, without escape sequences
 */
export function fittedTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, keys = 1, paint = (_row, _column, text) => text }: Fit,
): string[] {
  const widths = columns.map(({ title }, i) => widest([title, ...rows.map((cells) => cells[i] ?? '')]));
  const narrow = narrowed(columns, rows, widths, width);
  if (narrow) return tableLines(columns, brokenRows(rows, narrow, paint));
  return columnGroups(widths, keys, width).flatMap((group, block) => [
    ...(block === 0 ? [] : ['']),
    ...tableLines(
      group.map((i) => columns[i] as Column),
      rows.map((cells, row) => group.map((i) => paint(row, i, cells[i] ?? ''))),
    ),
  ]);
}

/** The widths of columns with which all of them fit; undefined if they do not even with broken cells. */
function narrowed(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  width: number,
): number[] | undefined {
  const found = [...widths];
  const texts = columns
    .map(({ align }, i) => ({ align, i }))
    .filter(({ align }) => align !== 'right')
    .sort((a, b) => (widths[b.i] ?? 0) - (widths[a.i] ?? 0));
  for (const { i } of texts) {
    const excess = totalWidth(found) - width;
    if (excess <= 0) break;
    const words = rows.flatMap((cells) => (cells[i] ?? '').split(' '));
    const least = widest([columns[i]?.title ?? '', ...words]);
    found[i] = Math.max(least, (found[i] ?? 0) - excess);
  }
  return totalWidth(found) <= width ? found : undefined;
}

/** Rows with broken cells: a row for each line of the highest cell. */
function brokenRows(
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  paint: NonNullable<Fit['paint']>,
): string[][] {
  return rows.flatMap((cells, row) => {
    const broken = cells.map((cell, i) => wrapped(cell, widths[i] ?? 0));
    const height = Math.max(...broken.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      broken.map((lines, i) => paint(row, i, lines[line] ?? '')),
    );
  });
}
