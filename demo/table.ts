// Tables as text. Pure.

/** A cell; a marked cell has changed. */
export interface Cell {
  readonly text: string;
  readonly marked?: boolean;
}

/** A row of cells under a label; a row without cells is a title over the rows that follow. */
export interface Row {
  readonly label: string;
  readonly cells: readonly Cell[];
}

/** Emphasis of the parts of a table. */
export interface Emphasis {
  heading(text: string): string;
  title(text: string): string;
  marked(text: string): string;
}

/** Prefix of a marked cell, visible without colours. */
const MARK = '▸';

/** Lines of a table; cells are aligned right. */
export function tableLines(
  label: string,
  columns: readonly string[],
  rows: readonly Row[],
  emphasis: Emphasis,
): string[] {
  const labelled = rows.filter(({ cells }) => cells.length > 0).map((row) => row.label.length);
  const first = Math.max(label.length, ...labelled);
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => widthOf(row.cells[i]))));
  const heading = [label.padEnd(first), ...columns.map((name, i) => name.padStart(widths[i] ?? 0))];
  const line = (row: Row) =>
    [
      row.label.padEnd(first),
      ...row.cells.map((cell, i) => {
        const room = ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell)));
        return room + (cell.marked ? emphasis.marked(MARK + cell.text) : cell.text);
      }),
    ].join('  ');
  return [
    emphasis.heading(heading.join('  ')),
    ...rows.map((row) => (row.cells.length > 0 ? line(row) : emphasis.title(row.label))),
  ];
}

/** Cells of numbers; a cell is marked if it changes to or from 0. A missing number counts as 0. */
export function numberCells(numbers: readonly (number | undefined)[]): Cell[] {
  const isZero = (number: number | undefined) => !number;
  return numbers.map((number, i) => ({
    text: `${number ?? '-'}`,
    marked: i > 0 && isZero(numbers[i - 1]) !== isZero(number),
  }));
}

function widthOf(cell: Cell | undefined): number {
  return cell ? cell.text.length + (cell.marked ? MARK.length : 0) : 0;
}
