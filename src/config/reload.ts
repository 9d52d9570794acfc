// Watches the configuration file: a program that runs on what is no longer written there must end and be started anew.
import { closeSync, fstatSync, openSync, realpathSync, statSync, watch } from 'node:fs';

/** What the program says when it ends because of it. */
export const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";

/** The file that a configuration was read from, as it was then. */
export interface ConfigurationFile {
  readonly path: string;
  readonly inode: bigint;
  /** Ns since 1970. */
  readonly modified: bigint;
  /** Bytes. */
  readonly size: bigint;
}

/** Notes a file that is about to be read. Throws Node's error if it cannot be found. */
export function noteFile(path: string): ConfigurationFile {
  const { ino, mtimeNs, size } = statSync(path, { bigint: true });
  return { path, inode: ino, modified: mtimeNs, size };
}

/**
 * Calls back once when the file is written to or renamed, or was written to since it was read. Symbolic links are followed
 * now and not again: that a ConfigMap volume has new content shows in the links, so nothing happens then, as in kube-proxy.
 * The content does not count, and setting the file's time of change counts as writing.
 */
export function watchConfiguration(read: ConfigurationFile, updated: () => void): { close(): void } {
  const target = realpathSync(read.path);
  const file = openSync(target, 'r');
  const { ino, mtimeNs, size } = fstatSync(file, { bigint: true });
  // The links may lead to another file by now.
  const before = ino === read.inode ? read : { modified: mtimeNs, size };
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    watcher.close();
    closeSync(file);
  };
  const look = (event: string) => {
    if (!open) return;
    const now = fstatSync(file, { bigint: true });
    const written = now.mtimeNs !== before.modified || now.size !== before.size;
    // A file that is removed is told of in the same words as one that is renamed.
    const renamed = event === 'rename' && now.nlink > 0n;
    if (!written && !renamed) return;
    close();
    updated();
  };
  const watcher = watch(target, { persistent: false }, look);
  watcher.on('error', () => close());
  setImmediate(look, 'change');
  return { close };
}
