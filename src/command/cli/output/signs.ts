// The lines of a readable diff, in the colours of their signs.
import type { Style, StyleName } from './colours.js';
import { textLines } from './output.js';

const STYLES: Readonly<Record<string, StyleName>> = { '+': 'good', '-': 'bad', '~': 'warning' };

/** Spaces before the second line of a broken one, more than before the first. */
const DEEPER = 4;

/**
 * A line of a readable diff, in the colour of its sign, and broken at its spaces.
 *
 * @param columns of the longest line, unless a word is longer
 */
export function signedLines(line: string, columns: number, style: Style): string[] {
  const text = line.trimStart();
  const name = STYLES[text[0] ?? ''];
  const lines = textLines(line, columns, line.length - text.length + DEEPER);
  return name === undefined ? lines : lines.map((part) => style(name, part));
}
