// What has to be undone however the process ends: namespaces, processes, folders.

const undos = new Set<() => void>();

process.once('exit', () => {
  for (const undo of [...undos].reverse()) quietly(undo);
});

/**
 * Has something undone at the end of the process, last come, first served.
 *
 * @param undo must not wait for anything
 * @returns undoes it now, once
 */
export function undoAtExit(undo: () => void): () => void {
  const once = () => {
    if (undos.delete(once)) undo();
  };
  undos.add(once);
  return once;
}

/** Ends the process, and so undoes everything, on Ctrl-C and the like. */
export function exitOnSignals(): void {
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.once(signal, () => process.exit(128 + number));
  }
}

/** One thing that cannot be undone must not keep the others. */
function quietly(undo: () => void): void {
  try {
    undo();
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
  }
}
