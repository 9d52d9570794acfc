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

/** Opens the log on standard error. */
export function openLog({ verbosity, format }: LogOptions): Logger {
  const destination =
    process.stderr.isTTY && format !== 'json'
      ? pretty({
          destination: 2,
          sync: true,
          colorize: true,
          translateTime: 'HH:MM:ss.l',
          ignore: 'pid,hostname',
        })
      : pino.destination({ dest: 2, sync: true });
  const level = levelOf(verbosity);
  return pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, destination);
}

/** The level for a verbosity: from 4 on debugging, from 6 on everything. */
export function levelOf(verbosity: number): LevelWithSilent {
  return verbosity >= 6 ? 'trace' : verbosity >= 4 ? 'debug' : 'info';
}
