// Cleans up namespaces, processes and folders at any end of the process.

const undos = new Set<() => void>();

process.once('exit', () => {
  for (const undo of [...undos].reverse()) quietly(undo);
});

/**
 * Registers a clean-up for the end of the process. The last one runs first.
 *
 * @param undo must be synchronous
 * @returns runs the clean-up now, once
 */
export function undoAtExit(undo: () => void): () => void {
  const once = () => {
    if (undos.delete(once)) undo();
  };
  undos.add(once);
  return once;
}

/** Ends the process on SIGINT and similar signals, so that all clean-ups run. */
export function exitOnSignals(): void {
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.once(signal, () => process.exit(128 + number));
  }
}

/** A failing clean-up must not prevent the others. */
function quietly(undo: () => void): void {
  try {
    undo();
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
  }
}
