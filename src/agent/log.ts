// The log: lines for people on a terminal, JSON elsewhere.
import { type LevelWithSilent, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

/** How the log is written: KubeProxyConfiguration's `logging`. */
export interface LogOptions {
  /** As in kube-proxy, see {@link levelOf}. */
  readonly verbosity: number;
  /** `json` asks for JSON on a terminal too. */
  readonly format: string;
}

/** Bytes of lines that wait while they cannot be written; further ones are lost. */
const MOST_WAITING = 1024 * 1024;

/** Opens the log on standard error. */
export function openLog({ verbosity, format }: LogOptions): Logger {
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: MOST_WAITING });
  // A disk that is full, or a terminal that is gone, must not end the process; and there is nobody to tell.
  stderr.on('error', () => {});
  const readable = process.stderr.isTTY && format !== 'json';
  const destination = readable
    ? pretty({ destination: stderr, colorize: true, translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' })
    : stderr;
  const level = levelOf(verbosity);
  return pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, destination);
}

/** The level for a verbosity: from 4 on debugging, from 6 on everything. */
export function levelOf(verbosity: number): LevelWithSilent {
  return verbosity >= 6 ? 'trace' : verbosity >= 4 ? 'debug' : 'info';
}
