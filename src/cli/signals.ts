// Signals: which end a running agent in good order, and which are only logged.
import type { Logger } from 'pino';
import type { KernelCommand } from '../config/commandLine.js';

/**
 * Aborted by the signals that end a running agent in good order, with the signal's name as its reason. Other commands end
 * at once, as any program does. A hangup ends the agent on a terminal, which is gone then; elsewhere it is ignored, because
 * log rotation sends it (kube-proxy is ended by it).
 */
export function stopSignal({ do: what, once, initOnly }: KernelCommand): AbortSignal {
  const controller = new AbortController();
  if (what !== 'run' || once || initOnly) return controller.signal;
  const ending: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (process.stderr.isTTY) ending.push('SIGHUP');
  else process.on('SIGHUP', () => {});
  for (const name of ending) process.once(name, () => controller.abort(name));
  return controller.signal;
}

/** Logs each hangup that {@link stopSignal} ignores. */
export function logHangups(log: Logger): void {
  if (process.listenerCount('SIGHUP') === 0 || process.stderr.isTTY) return;
  process.on('SIGHUP', () =>
    log.info('SIGHUP is ignored: nothing is read again, a new configuration needs a restart'),
  );
}
