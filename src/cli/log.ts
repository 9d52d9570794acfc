// The log: lines for people on a terminal, JSON elsewhere.
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

/** Opens the log on standard error. Verbosity as in kube-proxy: from 4 on debugging, from 6 on everything. */
export function openLog(verbosity: number): Logger {
  const level = verbosity >= 6 ? 'trace' : verbosity >= 4 ? 'debug' : 'info';
  const destination = process.stderr.isTTY
    ? pretty({
        destination: 2,
        sync: true,
        colorize: true,
        translateTime: 'HH:MM:ss.l',
        ignore: 'pid,hostname',
      })
    : pino.destination({ dest: 2, sync: true });
  return pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, destination);
}
