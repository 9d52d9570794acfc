// Watches the configuration file. If its contents change and are valid, the program exits, to be restarted with them. If
// they are invalid, it keeps running with the configuration that it has.
import {
  closeSync,
  type FSWatcher,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  watch,
} from 'node:fs';

/** The reason of the exit, in kube-proxy's words. */
export const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";

/** A configuration file at the time when it was read. */
export interface ConfigurationFile {
  readonly path: string;
  readonly inode: bigint;
  /** Time of the last modification, in ns since 1970. */
  readonly modified: bigint;
  /** In bytes. */
  readonly size: bigint;
  readonly text: string;
}

/** Reads a configuration file, without decoding it. Throws Node's error if that fails. */
export function readConfigurationFile(path: string): ConfigurationFile {
  // Read before the text, so that a write in between counts as a change.
  const { ino, mtimeNs, size } = statSync(path, { bigint: true });
  return { path, inode: ino, modified: mtimeNs, size, text: readFileSync(path, 'utf8') };
}

/** Callbacks for changes of the file. */
export interface Reload {
  /** Reads and validates the file as at a start, and returns its text. Rejects with an Error that has a line for each fault. */
  read(): Promise<string>;
  /** The file is valid and differs from the one that was read. Called once, and it is the last call. */
  updated(): void;
  /** The faults of the file have changed; none if it has its former contents again. */
  damaged(faults: readonly string[]): void;
}

/** Periods, in ms. */
export interface ReloadTimes {
  /** Time without changes after which the file is read: a file that changes may be half written. */
  readonly still: number;
  /** Time between two reads of an invalid file: a replaced file is another inode, which is not watched. */
  readonly again: number;
}

const TIMES: ReloadTimes = { still: 1000, again: 5000 };

/**
 * Watches a file for writes and renames, including writes since it was read. Symbolic links are resolved once, as in
 * kube-proxy: an update of a ConfigMap volume only exchanges links, and is not noticed. Throws Node's error if the file
 * cannot be opened or watched.
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
  readonly #file: number;
  readonly #before: Pick<ConfigurationFile, 'modified' | 'size'>;
  readonly #watcher: FSWatcher;
  /** Why the kernel reports no more changes of the file. */
  #unwatched: string | undefined;
  #faults = '';
  #timer: NodeJS.Timeout | undefined;
  #checking = false;
  #closed = false;

  constructor(read: ConfigurationFile, reload: Reload, times: ReloadTimes) {
    this.#read = read;
    this.#reload = reload;
    this.#times = times;
    const target = realpathSync(read.path);
    this.#file = openSync(target, 'r');
    const { ino, mtimeNs, size } = fstatSync(this.#file, { bigint: true });
    // The links may have changed since the file was read.
    this.#before = ino === read.inode ? read : { modified: mtimeNs, size };
    this.#watcher = watch(target, { persistent: false }, (event) => this.#notified(event));
    this.#watcher.on('error', (error) => {
      this.#unwatched = `cannot be watched: ${error.message}`;
      this.#checkAfter(0);
    });
    setImmediate(() => this.#notified('change'));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#watcher.close();
    closeSync(this.#file);
  }

  #notified(event: string): void {
    if (this.#closed) return;
    const now = fstatSync(this.#file, { bigint: true });
    const written = now.mtimeNs !== this.#before.modified || now.size !== this.#before.size;
    // Node reports the removal of a file as a rename too.
    const renamed = event === 'rename' && now.nlink > 0n;
    if (written || renamed) this.#checkAfter(this.#times.still);
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
    const found = await this.#readAgain();
    this.#checking = false;
    if (this.#closed) return;
    if (found === 'updated') {
      this.close();
      this.#reload.updated();
      return;
    }
    const faults = [...found, ...(this.#unwatched === undefined ? [] : [this.#unwatched])];
    const changed = faults.join('\n') !== this.#faults;
    this.#faults = faults.join('\n');
    // A change during the read has started the timer already.
    if (faults.length > 0 && this.#timer === undefined) this.#checkAfter(this.#times.again);
    if (changed) this.#reload.damaged(faults);
  }

  /** The faults of the file, none if it has its former contents; `updated` if it is valid and differs. */
  async #readAgain(): Promise<readonly string[] | 'updated'> {
    try {
      return (await this.#reload.read()) === this.#read.text ? [] : 'updated';
    } catch (error) {
      return (error instanceof Error ? error.message : String(error)).split('\n');
    }
  }
}
