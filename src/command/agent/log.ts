// The log on standard error: text or JSON, see `--logging-format`.
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { escapedControls } from '../../kernel/errors.js';
import type { Configuration } from '../config/configuration.js';
import { errorsTerminal, writeError } from './standardStreams.js';

/** The level of the log from verbosity 2 on, between info and debug: lines of passes are written. No line has it. */
export const PASSES = 25;

/** The lowest verbosity at which a level is written; errors have none, as in klog's JSON. */
const VERBOSITY: Readonly<Record<string, number>> = { trace: 6, debug: 4, info: 0, warn: 0 };

/**
 * Opens the log.
 *
 * @param destination default standard error: no line is lost when the process ends
 */
export function openLog(
  { verbosity, format }: Pick<Configuration['logging'], 'verbosity' | 'format'>,
  destination: DestinationStream = { write: writeError },
): Logger {
  const options = {
    level: levelOf(verbosity),
    customLevels: { passes: PASSES },
    base: null,
    // The fields of klog's JSON: ts in ms since 1970, v, msg, err. We add `level`, because klog does not mark warnings.
    timestamp: () => `,"ts":${Date.now()}`,
    formatters: {
      level: (level: string) => (VERBOSITY[level] === undefined ? { level } : { level, v: VERBOSITY[level] }),
    },
  };
  // Without its own method for lines of the level, which nobody needs.
  return pino(options, format === 'json' ? asJson(destination) : asText(destination)) as unknown as Logger;
}

function asJson(destination: DestinationStream): DestinationStream {
  return { write: (json) => destination.write(jsonLine(json)) };
}

/** Colours need a terminal that supports them, and no NO_COLOR in the environment (https://no-color.org). */
function asText(destination: DestinationStream): DestinationStream {
  const coloured = errorsTerminal()?.hasColors() === true;
  return { write: (json) => destination.write(textLine(json, coloured)) };
}

/** The level for a verbosity: passes from 2, debug from 4, trace from 6. */
export function levelOf(verbosity: number): LevelWithSilent | 'passes' {
  if (verbosity >= 6) return 'trace';
  if (verbosity >= 4) return 'debug';
  return verbosity >= 2 ? 'passes' : 'info';
}

// Formats log records: as a line of text with time, level, message, and the fields as key=value, or as JSON.

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
function textLine(json: string, coloured: boolean): string {
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
function jsonLine(json: string): string {
  return `${escapedControls(json.trimEnd())}\n`;
}
