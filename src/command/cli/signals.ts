// Handles signals and warnings of Node.js: some signals end a running agent gracefully, all else is only logged.
import type { Logger } from 'pino';
import { errorsTerminal } from '../agent/standardStreams.js';
import type { KernelCommand } from '../config/commandLine.js';

/**
 * Aborted by the signals that end a running agent gracefully; the reason is the signal's name. These signals end other
 * commands at once. SIGHUP ends an agent on a terminal, because the terminal is closed. Otherwise it is ignored: log
 * rotation sends it, and ends kube-proxy.
 */
export function stopSignal({ do: what, once, initOnly }: KernelCommand): AbortSignal {
  const controller = new AbortController();
  if (what !== 'run' || once || initOnly) return controller.signal;
  const ending: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (errorsTerminal()) ending.push('SIGHUP');
  else process.on('SIGHUP', () => {});
  for (const name of ending) process.once(name, () => controller.abort(name));
  return controller.signal;
}

/** Logs each SIGHUP that {@link stopSignal} ignores. */
export function logHangups(log: Logger): void {
  if (process.listenerCount('SIGHUP') === 0 || errorsTerminal()) return;
  process.on('SIGHUP', () => log.info('SIGHUP is ignored; a new configuration needs a restart'));
}

/** Logs each warning of Node.js as a line of the log. Node.js itself writes text to standard error, whatever the format of the log is. */
export function logWarnings(log: Pick<Logger, 'warn'>): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => log.warn({ name, err: message }, 'warning of Node.js'));
}
