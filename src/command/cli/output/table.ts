// Tables of text, aligned by the width that a terminal gives each character.
import stringWidth from 'string-width';

/** A column of a table. */
export interface Column {
  /** Its heading, in capital letters as in kubectl. */
  readonly title: string;
  /** Numbers are aligned to the right. Default: left. */
  readonly align?: 'left' | 'right';
}

/** Columns of text with these headings. */
export function texts(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title }));
}

/** Columns of numbers with these headings. */
export function numbers(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, align: 'right' }));
}

/** Spaces between columns. */
const GAP = '  ';

/**
 * The lines of a table, headings first. No line ends with spaces.
 *
 * @param rows a cell for each column; escape sequences of colours have no width
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, i) => widest(lines.map((cells) => cells[i] ?? '')));
  return lines.map((cells) =>
    columns
      .map(({ align }, i) => pad(cells[i] ?? '', widths[i] ?? 0, align ?? 'left'))
      .join(GAP)
      .trimEnd(),
  );
}

/** The terminal columns of the widest text; there may be as many texts as a cluster has endpoints. */
export function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, stringWidth(text)), 0);
}

/** The terminal columns of a table with columns of these widths. */
export function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(width - stringWidth(text));
  return align === 'left' ? text + space : space + text;
}

/**
 * The start of a line that fits in a number of terminal columns; the last visible character of a longer line is `…`.
 *
 * @param line without escape sequences
 */
export function fitted(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  let text = '';
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (stringWidth(text + segment) > columns - 1) break;
    text += segment;
  }
  return `${text}…`;
}
