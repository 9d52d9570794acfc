// Breaks lines of text for a number of columns.

/** Columns of text that is not for a terminal, or for one of unknown width: those of the oldest terminals. */
export const USUAL_COLUMNS = 80;

/**
 * Breaks a line at its spaces, except no-break spaces (U+00A0), into lines that fit. A word that is longer than a line has a line
 * of its own, which does not fit. Each character counts as one column.
 *
 * @param columns of the longest line
 * @param indent spaces at the start of each line but the first
 */
export function wrapped(line: string, columns: number, indent = 0): string[] {
  if (line.length <= columns) return [line];
  const lines: string[] = [];
  const [, start = '', rest = ''] = /^( *)(.*)$/s.exec(line) ?? [];
  let current = start;
  let isEmpty = true;
  for (const [, space = '', word = ''] of rest.matchAll(/( *)([^ ]+)/g)) {
    const gap = isEmpty ? '' : space;
    if (!isEmpty && current.length + gap.length + word.length > columns) {
      lines.push(current);
      current = ' '.repeat(indent) + word;
    } else current += gap + word;
    isEmpty = false;
  }
  return [...lines, current];
}

/** The lines of `label` and `text` in two columns: every line of the text begins after `width` columns. */
export function beside(label: string, text: string, width: number, columns: number): string[] {
  return wrapped(`${label.padEnd(width)}${text}`, columns, width);
}
