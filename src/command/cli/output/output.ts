// The output of the commands: results on standard output, notes and errors on standard error.

import { escapedControls, escapedLines } from '../../../kernel/errors.js';
import { yaml } from '../../../proxy/yaml.js';
import { errorsTerminal, outputTerminal, writeError, writeOutput } from '../../agent/standardStreams.js';
import { USUAL_COLUMNS, wrapped } from '../../config/wrap.js';
import { COLOURS, hasColours, type Style, styleFor } from './colours.js';

/** An output format, with the words of kubectl: `text` is for people, and `wide` has more columns. */
export type Format = 'text' | 'wide' | 'json' | 'yaml' | 'markdown';

/** The output of a command. */
export interface Output {
  readonly format: Format;
  /** Colours for `text` and `wide`. */
  readonly style: Style;
  /** Columns of the longest line for people, unless a word is longer. */
  readonly columns: number;
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes a line to standard error, for people: it is not part of the result. */
  note(line: string): void;
}

/** How the lines of a result for people are laid out. */
export interface Layout {
  /** With more columns or lines. */
  readonly wide: boolean;
  /** Terminal columns of the longest line, unless a word is longer. Infinity if it is `wide`: no line is broken. */
  readonly columns: number;
  readonly style: Style;
}

/** Bounds of the columns of a terminal: with fewer, nothing fits, and longer lines are hard to read. */
const COLUMNS = { least: 40, most: 160 } as const;

/** The columns of an output: those of a terminal, within bounds; 80 for anything else. */
export function columnsOf({
  isTTY,
  columns,
}: {
  readonly isTTY?: boolean;
  readonly columns?: number;
} = {}): number {
  // A terminal that does not know its size has 0 columns.
  if (isTTY !== true || !columns) return USUAL_COLUMNS;
  return Math.min(Math.max(columns, COLUMNS.least), COLUMNS.most);
}

/** Output to the process's standard output and standard error. */
export function processOutput(format: Format): Output {
  const terminal = outputTerminal();
  return {
    format,
    columns: columnsOf(terminal),
    style: styleFor(hasColours(terminal !== undefined, process.env)),
    write: writeOutput,
    note: (line) => {
      const lines = textLines(line, columnsOf(errorsTerminal()), 2);
      writeError(`${lines.join('\n')}\n`);
    },
  };
}

/**
 * Writes a result in the requested format.
 *
 * @param report the result for `json` and `yaml`: plain values
 * @param lines the lines of the result for people, also those of `markdown`
 */
export function writeReport(
  output: Output,
  report: object,
  lines: (layout: Layout) => readonly string[],
): void {
  output.write(formatted(output, report, lines));
}

/** A value has one line, also one that has line breaks. */
const YAML = {
  version: '1.1',
  // An object that stands in two places has no alias: tools that read YAML limit them.
  aliasDuplicateObjects: false,
  lineWidth: 0,
  blockQuote: false,
  singleQuote: false,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
} as const;

function formatted(
  { format, style, columns }: Pick<Output, 'format' | 'style' | 'columns'>,
  report: object,
  lines: (layout: Layout) => readonly string[],
): string {
  // JSON.stringify leaves the controls above U+007E, which terminals obey too. Its own line breaks stay.
  if (format === 'json') return `${escapedLines(JSON.stringify(report, undefined, 2))}\n`;
  if (format === 'yaml') return escapedLines(yaml().stringify(report, YAML));
  const wide = format === 'wide';
  return shownLines(lines({ wide, columns: wide ? Number.POSITIVE_INFINITY : columns, style }), style);
}

/**
 * A text for people, broken at its spaces. Controls are escaped before, because they then need more columns.
 *
 * @param columns of the longest line, unless a word is longer
 * @param indent spaces at the start of each line but the first
 */
export function textLines(text: string, columns: number, indent: number): string[] {
  return wrapped(escapedControls(text), columns, indent);
}

/**
 * Lines for people, as they are written: names, rules and messages in them may come from anywhere, and make neither another line
 * nor an escape sequence. The sequences of the style stay, if it has any.
 */
export function shownLines(lines: readonly string[], style: Style): string {
  const coloured = style('heading', '') !== '';
  return lines.map((line) => `${coloured ? escapedAround(line) : escapedControls(line)}\n`).join('');
}

/** Each sequence of a style is at an odd place. */
function escapedAround(line: string): string {
  return line
    .split(COLOURS)
    .map((part, i) => (i % 2 === 1 ? part : escapedControls(part)))
    .join('');
}
