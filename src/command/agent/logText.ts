// Formats log records: as a line of text with time, level, message, and the fields as key=value, or as JSON.
import { escapedControls } from '../../kernel/errors.js';

/** A record in pino's JSON. */
interface LogRecord {
  /** In ms since 1970. */
  readonly ts: number;
  readonly level: string;
  readonly v?: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** SGR parameters of ECMA-48: grey, green, yellow, red. */
const COLOURS: Readonly<Record<string, number>> = {
  trace: 90,
  debug: 90,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 31,
};

/**
 * Formats a JSON record as a line of text: `2026-11-20T17:32:31.500Z INFO  synced services=3 node="a"`. The time is RFC
 * 3339, in UTC. Text values are quoted as in klog. Control characters are escaped everywhere.
 *
 * @param coloured mark the level with a colour
 */
export function textLine(json: string, coloured: boolean): string {
  const { ts, level, v: _, msg = '', ...fields } = JSON.parse(json) as LogRecord;
  const word = level.toUpperCase().padEnd(5);
  const shown = coloured ? `\u001b[${COLOURS[level] ?? 0}m${word}\u001b[0m` : word;
  const pairs = Object.entries(fields).map(
    ([name, value]) => ` ${escapedControls(name)}=${escapedControls(JSON.stringify(value))}`,
  );
  return `${new Date(ts).toISOString()} ${shown} ${escapedControls(msg.replaceAll('\n', '\\n'))}${pairs.join('')}\n`;
}

/**
 * A JSON record as a line that no terminal obeys. JSON escapes only the controls below a space; C1, line separators and the
 * characters that change the direction of text are escaped too. Its value is the same.
 */
export function jsonLine(json: string): string {
  return `${escapedControls(json.trimEnd())}\n`;
}
