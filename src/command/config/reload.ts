// Watches the configuration file, and reports new contents if they are valid, and their faults otherwise.
import { createHash } from 'node:crypto';
import { existsSync, type FSWatcher, readFileSync, realpathSync, statSync, watch } from 'node:fs';
import { basename } from 'node:path';
import { placesOf } from './pathPlaces.js';
import type { Configuration } from './schema.js';

/** The reason of the exit, in kube-proxy's words. */
export const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";

/** A configuration file at the time when it was read. */
export interface ConfigurationFile {
  readonly path: string;
  /** Differs for another file, and for the same one after a change. */
  readonly version: string;
  readonly text: string;
}

/** The contents of a configuration file that are valid, and the configuration of a start with them. */
export interface FoundConfiguration extends Pick<ConfigurationFile, 'text'> {
  readonly configuration: Configuration;
}

/** The hash of a file's text, as `sha256sum` prints it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Reads a configuration file, without decoding it. Throws Node.js's error if that fails. */
export function readConfigurationFile(path: string): ConfigurationFile {
  // Read before the text, so that a write in between counts as a change.
  const version = versionOf(path);
  return { path, version, text: readFileSync(path, 'utf8') };
}

function versionOf(path: string): string {
  const { dev, ino, mtimeNs, ctimeNs, size } = statSync(path, { bigint: true });
  return [dev, ino, mtimeNs, ctimeNs, size].join(' ');
}

/** Callbacks for changes of the file. */
export interface Reload {
  /** Reads and validates the file as at a start. Rejects with an Error that has a line for each fault. */
  read(): Promise<FoundConfiguration>;
  /** The file is valid, and differs from the valid contents before. */
  updated(found: FoundConfiguration): void;
  /** The faults of the file have changed; none if it has its former contents again. */
  damaged(faults: readonly string[]): void;
}

/** Periods, in ms. */
export interface ReloadTimes {
  /** Time without changes after which the file is read: a file that changes may be half written. */
  readonly still: number;
  /** Time between two reads of an invalid file: its validity depends on the node too. */
  readonly again: number;
}

const TIMES: ReloadTimes = { still: 1000, again: 5000 };

/**
 * Watches a file, also for changes since it was read: it is written, replaced or removed, or a symbolic link of its path leads
 * elsewhere, as after an update of a ConfigMap volume. Throws Node.js's error if the file cannot be found or watched.
 */
export function watchConfiguration(
  read: ConfigurationFile,
  reload: Reload,
  times: ReloadTimes = TIMES,
): { close(): void } {
  return new ConfigurationWatch(read, reload, times);
}

class ConfigurationWatch {
  readonly #read: ConfigurationFile;
  readonly #reload: Reload;
  readonly #times: ReloadTimes;
  #watchers: readonly FSWatcher[] = [];
  /** What was noticed last: the version of the file, and its places. */
  #seen: string;
  /** Why the kernel reports no changes of the file. */
  #unwatched: string | undefined;
  #faults = '';
  /** The last valid contents. */
  #text: string;
  #timer: NodeJS.Timeout | undefined;
  #checking = false;
  #closed = false;

  constructor(read: ConfigurationFile, reload: Reload, times: ReloadTimes) {
    this.#read = read;
    this.#reload = reload;
    this.#times = times;
    this.#text = read.text;
    // Something without a path, as a pipe, cannot be read again.
    realpathSync(read.path);
    this.#seen = seenAs(read.version, read.path);
    this.#watch();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Watches what decides the contents now. */
  #watch(): void {
    const former = this.#watchers;
    this.#watchers = this.#open();
    // A folder in both stays watched without a gap.
    for (const watcher of former) watcher.close();
    // What changed since the places were looked up was not reported.
    setImmediate(() => this.#notified());
  }

  /** The file itself is among them: it may have other names, by which it is written. */
  #open(): readonly FSWatcher[] {
    const watchers: FSWatcher[] = [];
    const add = (watched: string, names?: ReadonlySet<string>) => {
      const watcher = watch(watched, { persistent: false }, (_event, name) => {
        if (!names || name === null || names.has(name)) this.#notified();
      });
      watchers.push(watcher);
      watcher.on('error', (error) => this.#lost(error));
    };
    try {
      for (const [folder, names] of foldersOf(this.#read.path)) add(folder, names);
      if (existsSync(this.#read.path)) add(realpathSync(this.#read.path));
      return watchers;
    } catch (error) {
      for (const watcher of watchers) watcher.close();
      throw error;
    }
  }

  #watchAgain(): void {
    try {
      this.#watch();
      this.#unwatched = undefined;
    } catch (error) {
      this.#unwatched = `cannot be watched: ${textOf(error)}`;
    }
  }

  #lost(error: Error): void {
    this.#unwatched = `cannot be watched: ${error.message}`;
    this.#checkAfter(this.#times.still);
  }

  /** An event is only a hint: what counts is whether the path leads to another version. */
  #notified(): void {
    if (this.#closed) return;
    const seen = seenNow(this.#read.path);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#checkAfter(this.#times.still);
  }

  #checkAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      // One read at a time: results must not overtake each other.
      if (this.#checking) this.#checkAfter(this.#times.still);
      else this.#check();
    }, milliseconds).unref();
  }

  async #check(): Promise<void> {
    this.#timer = undefined;
    this.#checking = true;
    this.#watchAgain();
    const found = await this.#readAgain();
    this.#checking = false;
    if (this.#closed) return;
    const refused = 'text' in found ? [] : found;
    const faults = [...refused, ...(this.#unwatched === undefined ? [] : [this.#unwatched])];
    const changed = faults.join('\n') !== this.#faults;
    this.#faults = faults.join('\n');
    // A change during the read has started the timer already.
    if (faults.length > 0 && this.#timer === undefined) this.#checkAfter(this.#times.again);
    if (changed) this.#reload.damaged(faults);
    if ('text' in found && found.text !== this.#text) {
      this.#text = found.text;
      this.#reload.updated(found);
    }
  }

  /** The contents if they are valid, otherwise their faults. */
  async #readAgain(): Promise<FoundConfiguration | readonly string[]> {
    try {
      return await this.#reload.read();
    } catch (error) {
      return textOf(error).split('\n');
    }
  }
}

/** The names in each folder that decide which file the path names. */
function foldersOf(path: string): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>();
  for (const { folder, name } of placesOf(path)) {
    // Node.js reports a removal of the folder by the folder's own name.
    const names = folders.get(folder) ?? new Set([basename(folder)]);
    folders.set(folder, names.add(name));
  }
  return folders;
}

function seenNow(path: string): string {
  try {
    return seenAs(versionOf(path), path);
  } catch (error) {
    return textOf(error);
  }
}

function seenAs(version: string, path: string): string {
  return [version, ...placesOf(path).map(({ folder, name }) => `${folder}/${name}`)].join('\n');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
