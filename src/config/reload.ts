// Watches the configuration file: a program that runs on what is no longer written there must end and be started anew.
import { closeSync, fstatSync, openSync, realpathSync, watch } from 'node:fs';

/** What the program says when it ends because of it. */
export const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";

/**
 * Calls back once when the file is written to or renamed. Symbolic links are followed now and not again: that a ConfigMap
 * volume has new content shows in the links, so nothing happens then, as in kube-proxy. The content does not count, and
 * setting the file's time of change counts as writing.
 */
export function watchConfiguration(path: string, updated: () => void): { close(): void } {
  const target = realpathSync(path);
  const file = openSync(target, 'r');
  const before = fstatSync(file, { bigint: true });
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    watcher.close();
    closeSync(file);
  };
  const look = (event: string) => {
    if (!open) return;
    const { mtimeNs, size, nlink } = fstatSync(file, { bigint: true });
    const written = mtimeNs !== before.mtimeNs || size !== before.size;
    // A file that is removed is told of in the same words as one that is renamed.
    const renamed = event === 'rename' && nlink > 0n;
    if (!written && !renamed) return;
    close();
    updated();
  };
  const watcher = watch(target, { persistent: false }, look);
  watcher.on('error', () => close());
  return { close };
}
