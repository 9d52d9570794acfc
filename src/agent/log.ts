// The log: lines for people on a terminal, JSON elsewhere.
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

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
export async function openLog({ verbosity, format }: LogOptions): Promise<Logger> {
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: MOST_WAITING });
  // A disk that is full, or a terminal that is gone, must not end the process; and there is nobody to tell.
  stderr.on('error', () => {});
  const readable = process.stderr.isTTY && format !== 'json';
  const destination = readable ? await readably(stderr) : stderr;
  const level = levelOf(verbosity);
  return pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, destination);
}

/** Loaded only where a person reads: it takes memory and time that a node would rather keep. */
async function readably(destination: DestinationStream): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ destination, colorize: true, translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' });
}

/** The level for a verbosity: from 4 on debugging, from 6 on everything. */
export function levelOf(verbosity: number): LevelWithSilent {
  return verbosity >= 6 ? 'trace' : verbosity >= 4 ? 'debug' : 'info';
}
