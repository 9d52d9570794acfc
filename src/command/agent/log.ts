// The log on standard error: text or JSON, see `--logging-format`.
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import type { Configuration } from '../config/configuration.js';
import { jsonLine, textLine } from './logText.js';
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
