// The log on standard error: text or JSON, as `--logging-format` says.
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { textLine } from './logText.js';

/** How the log is written: KubeProxyConfiguration's `logging`. */
export interface LogOptions {
  /** As in kube-proxy, see {@link levelOf}. */
  readonly verbosity: number;
  /** `text` or `json`, on a terminal and elsewhere. */
  readonly format: string;
}

/** Bytes of lines that wait while they cannot be written; further ones are lost. */
const MOST_WAITING = 1024 * 1024;

/** The verbosity from which on lines of a level are written; errors have none, as in klog's JSON. */
const VERBOSITY: Readonly<Record<string, number>> = { trace: 6, debug: 4, info: 0, warn: 0 };

/** Opens the log on standard error. Lines are written at once: none is lost when the process ends. */
export function openLog({ verbosity, format }: LogOptions): Logger {
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: MOST_WAITING });
  // A disk that is full, or a terminal that is gone, must not end the process; and the error cannot be reported anywhere.
  stderr.on('error', () => {});
  const options = {
    level: levelOf(verbosity),
    base: null,
    // The fields of klog's JSON: ts in ms since 1970, v, msg, err. `level` is ours, for warnings have no field in klog's.
    timestamp: () => `,"ts":${Date.now()}`,
    formatters: {
      level: (level: string) => (VERBOSITY[level] === undefined ? { level } : { level, v: VERBOSITY[level] }),
    },
  };
  return pino(options, format === 'json' ? stderr : asText(stderr));
}

/** Colours need a terminal that shows them, and no NO_COLOR in the environment (https://no-color.org). */
function asText(destination: DestinationStream): DestinationStream {
  const coloured = process.stderr.isTTY === true && process.stderr.hasColors();
  return { write: (json) => destination.write(textLine(json, coloured)) };
}

/** The level for a verbosity: from 4 on debugging, from 6 on everything. */
export function levelOf(verbosity: number): LevelWithSilent {
  if (verbosity >= 6) return 'trace';
  return verbosity >= 4 ? 'debug' : 'info';
}
