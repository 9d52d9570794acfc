// Follows the configuration file while the program runs: the program ends when it can start with other contents, and goes
// on with those that it has for as long as the new ones cannot be used.
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

/** The reason why the program ends then, in kube-proxy's words. */
export const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";

/** The file that a configuration was read from, as it was then. */
export interface ConfigurationFile {
  readonly path: string;
  readonly inode: bigint;
  /** Ns since 1970. */
  readonly modified: bigint;
  /** Bytes. */
  readonly size: bigint;
  readonly text: string;
}

/** Reads a configuration file, without decoding it. Throws Node's error if it cannot be read. */
export function readConfigurationFile(path: string): ConfigurationFile {
  // Before the text: a file that is written to in between then counts as changed.
  const { ino, mtimeNs, size } = statSync(path, { bigint: true });
  return { path, inode: ino, modified: mtimeNs, size, text: readFileSync(path, 'utf8') };
}

/** What a changed file means to the program. */
export interface Reload {
  /** Reads the file again, and checks it as a start would; gives its text. Rejects with an Error, a line for each fault. */
  read(): Promise<string>;
  /** The file can be used, and differs from the one that was read; called once, and nothing after it. */
  updated(): void;
  /** The faults of the file, whenever they change; none when it has its former contents again. */
  damaged(faults: readonly string[]): void;
}

/** Periods in ms. */
export interface ReloadTimes {
  /** A file is read once it has not changed for so long: until then, it may be half written. */
  readonly still: number;
  /** From one look at a damaged file to the next: one that is replaced is another file, of which nothing is notified. */
  readonly again: number;
}

const TIMES: ReloadTimes = { still: 1000, again: 5000 };

/**
 * Follows a file that is written to or renamed, or was written to since it was read. Symbolic links are followed at the
 * start and not again, as in kube-proxy: new contents of a ConfigMap volume change the links alone, and are not noticed.
 * Throws Node's error if the file cannot be opened or watched.
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
  /** Why the file is notified of no more. */
  #unwatched: string | undefined;
  #faults = '';
  #timer: NodeJS.Timeout | undefined;
  #judging = false;
  #closed = false;

  constructor(read: ConfigurationFile, reload: Reload, times: ReloadTimes) {
    this.#read = read;
    this.#reload = reload;
    this.#times = times;
    const target = realpathSync(read.path);
    this.#file = openSync(target, 'r');
    const { ino, mtimeNs, size } = fstatSync(this.#file, { bigint: true });
    // The links may lead to another file by now.
    this.#before = ino === read.inode ? read : { modified: mtimeNs, size };
    this.#watcher = watch(target, { persistent: false }, (event) => this.#notified(event));
    this.#watcher.on('error', (error) => {
      this.#unwatched = `cannot be watched: ${error.message}`;
      this.#judgeAfter(0);
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
    // Node reports the removal of a file with the same word.
    const renamed = event === 'rename' && now.nlink > 0n;
    if (written || renamed) this.#judgeAfter(this.#times.still);
  }

  #judgeAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      // One look at a time: results must not overtake each other.
      if (this.#judging) this.#judgeAfter(this.#times.still);
      else this.#judge();
    }, milliseconds).unref();
  }

  async #judge(): Promise<void> {
    this.#timer = undefined;
    this.#judging = true;
    const found = await this.#look();
    this.#judging = false;
    if (this.#closed) return;
    if (found === 'updated') {
      this.close();
      this.#reload.updated();
      return;
    }
    const faults = [...found, ...(this.#unwatched === undefined ? [] : [this.#unwatched])];
    const changed = faults.join('\n') !== this.#faults;
    this.#faults = faults.join('\n');
    // A change that was notified meanwhile has its own time.
    if (faults.length > 0 && this.#timer === undefined) this.#judgeAfter(this.#times.again);
    if (changed) this.#reload.damaged(faults);
  }

  /** The faults of the file, none if it has its former contents; or that it can be used and differs. */
  async #look(): Promise<readonly string[] | 'updated'> {
    try {
      return (await this.#reload.read()) === this.#read.text ? [] : 'updated';
    } catch (error) {
      return (error instanceof Error ? error.message : String(error)).split('\n');
    }
  }
}
