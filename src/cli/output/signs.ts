// The colours of the lines of a readable diff.
import type { Style, StyleName } from './colours.js';

const STYLES: Readonly<Record<string, StyleName>> = { '+': 'good', '-': 'bad', '~': 'warning' };

/** A line of a readable diff, in the colour of its sign. */
export function signed(line: string, style: Style): string {
  const name = STYLES[line.trimStart()[0] ?? ''];
  return name === undefined ? line : style(name, line);
}
