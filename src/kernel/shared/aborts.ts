// Listeners for aborts. However many calls use a signal, this file adds one listener to it: Node.js warns if a signal has more than ten.

interface Waiting {
  readonly listeners: Set<() => void>;
  readonly run: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/** Calls `listener` when the signal is aborted, once. Returns a function that forgets the listener. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let waiting = waitingFor.get(signal);
  if (!waiting) {
    const listeners = new Set<() => void>();
    const run = () => {
      waitingFor.delete(signal);
      for (const each of listeners) each();
    };
    waiting = { listeners, run };
    waitingFor.set(signal, waiting);
    signal.addEventListener('abort', run, { once: true });
  }
  const { listeners, run } = waiting;
  // An object of its own: the same function may be a listener twice.
  const own = () => listener();
  listeners.add(own);
  return () => {
    listeners.delete(own);
    if (listeners.size > 0 || waitingFor.get(signal)?.listeners !== listeners) return;
    // A listener on a signal keeps a timeout's signal alive.
    waitingFor.delete(signal);
    signal.removeEventListener('abort', run);
  };
}
