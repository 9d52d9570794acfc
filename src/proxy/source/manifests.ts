// A folder or file of manifests, followed as it changes: edit a file, and the kernel follows.
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { excerpt, type Problem } from '../../kernel/errors.js';
import { checkArgument, FLAG, methods, object, optional, TEXT } from '../../kernel/shapes.js';
import type { KubernetesObject, ObjectChange } from '../objects/types.js';
import { FollowedFile, STILL, unreadable } from './followedFile.js';
import { OpenProblems } from './openProblems.js';
import { SOURCE_EVENTS } from './shapes.js';
import type { Source, SourceEvents } from './source.js';

/** Options of a manifest source. */
export interface ManifestOptions {
  /** A file, or a folder whose `.yaml`, `.yml` and `.json` files are read (not those of folders within). */
  readonly path: string;
  /** Follow changes; default true. */
  readonly follow?: boolean;
  /** Default: the system's. */
  readonly clock?: SourceClock;
}

/** Time, injected so that tests need not wait. */
export interface SourceClock {
  /** A monotonic clock, in ms. */
  now(): number;
  /** Runs a function after a time, in ms. */
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

const SYSTEM: SourceClock = {
  now: () => performance.now(),
  set: setTimeout,
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Changes that are at most this much apart are read together, in ms: an editor writes in several steps. */
const SETTLE = 10;
/** Time between two reads of the folder without a notification, in ms: network file systems send none. */
const LOOK = 10_000;

/** Key of the problems of all files together; no file has this name. */
const WHOLE = '';

const OPTIONS = object<ManifestOptions>({
  path: TEXT,
  follow: optional(FLAG),
  clock: optional(methods('now', 'set', 'clear')),
});

/** Where a source reports to. */
interface Listener {
  readonly events: SourceEvents;
  readonly open: OpenProblems;
}

/** Objects from manifests. */
export class ManifestSource implements Source {
  readonly #path: string;
  readonly #follow: boolean;
  readonly #clock: SourceClock;
  #files = new Map<string, FollowedFile>();
  #objects: ReadonlyMap<string, KubernetesObject> = new Map();
  #incomplete: readonly string[] = [];
  #watcher: FSWatcher | undefined;
  #timer: unknown;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ManifestOptions) {
    checkArgument('ManifestSource', 'options', options, OPTIONS);
    const { path, follow = true, clock = SYSTEM } = options;
    this.#path = path;
    this.#follow = follow;
    this.#clock = clock;
  }

  /** Rejects with the system's error when the path does not exist or cannot be listed. */
  async start(events: SourceEvents): Promise<void> {
    checkArgument('ManifestSource.start', 'events', events, SOURCE_EVENTS);
    const folder = (await stat(this.#path)).isDirectory();
    const to: Listener = { events, open: new OpenProblems(events) };
    if (this.#follow) this.#watch(folder ? this.#path : dirname(this.#path), to);
    await this.#look(to);
    events.synced();
    this.#lookLater(to);
  }

  stop(): void {
    this.#stopped = true;
    this.#watcher?.close();
    this.#clock.clear(this.#timer);
  }

  /** The folder is watched even for one file: a file that is replaced is another file with the same name. */
  #watch(folder: string, to: Listener): void {
    this.#watcher = watch(folder, () => {
      this.#clock.clear(this.#timer);
      this.#lookAfter(SETTLE, to);
    });
    this.#watcher.on('error', (error) => {
      const rule = `must stay readable: ${error.message}`;
      to.events.problems([{ object: folder, field: 'watch', rule }]);
    });
  }

  /** Schedules another read, unless a change has scheduled one already. */
  #lookLater(to: Listener): void {
    if (!this.#follow || this.#timer !== undefined) return;
    const changing = [...this.#files.values()].some((file) => file.changing);
    this.#lookAfter(changing ? STILL + SETTLE : LOOK, to);
  }

  #lookAfter(milliseconds: number, to: Listener): void {
    if (this.#stopped) return;
    this.#timer = this.#clock.set(() => {
      this.#timer = undefined;
      this.#looking = this.#looking
        .then(() => this.#look(to))
        .catch((error) => this.#lost(error, to))
        .finally(() => this.#lookLater(to));
    }, milliseconds);
  }

  /** The path itself cannot be read: everything stays as it was. */
  #lost(error: unknown, to: Listener): void {
    to.open.set(WHOLE, [unreadable(this.#path, error)]);
    this.#setIncomplete([nameOf(this.#path)], to.events);
  }

  /** Reads the files that have changed. */
  async #look(to: Listener): Promise<void> {
    const files = await this.#list();
    for (const file of files.values()) await file.look(this.#clock.now());
    if (this.#stopped) return;
    this.#files = files;
    const incomplete = [...files].flatMap(([path, { whole }]) => (whole ? [] : [nameOf(path)]));
    const settled = incomplete.length === 0 && ![...files.values()].some(({ changing }) => changing);
    const { merged, problems } = merge(files);
    // An object that is missing may be, or may have been moved to, where it cannot be read yet.
    const objects = settled ? merged : new Map([...this.#objects, ...merged]);
    const changes = changesBetween(this.#objects, objects);
    this.#objects = objects;
    for (const [path, file] of files) to.open.set(path, file.problems);
    to.open.set(WHOLE, problems);
    to.open.retain(new Set([WHOLE, ...files.keys()]));
    if (incomplete.length > 0) this.#setIncomplete(incomplete, to.events);
    if (changes.length > 0) to.events.changed(changes);
    // Not before the objects: a pass that knows that nothing is missing, and not yet what has come, removes it from the kernel.
    if (incomplete.length === 0) this.#setIncomplete([], to.events);
  }

  #setIncomplete(incomplete: readonly string[], events: SourceEvents): void {
    if (isDeepStrictEqual(incomplete, this.#incomplete)) return;
    this.#incomplete = incomplete;
    events.incomplete?.(incomplete);
  }

  /** The files that are there now, each with its past. */
  async #list(): Promise<Map<string, FollowedFile>> {
    const folder = (await stat(this.#path)).isDirectory();
    const names = folder ? (await readdir(this.#path)).filter((name) => /\.(ya?ml|json)$/.test(name)) : [];
    const paths = folder ? names.sort().map((name) => join(this.#path, name)) : [this.#path];
    return new Map(paths.map((path) => [path, this.#files.get(path) ?? new FollowedFile(path, folder)]));
  }
}

function nameOf(path: string): string {
  return excerpt(basename(path));
}

/** Every object once: of two files with the same object, the first by name is used. */
function merge(files: ReadonlyMap<string, FollowedFile>) {
  const merged = new Map<string, KubernetesObject>();
  const problems: Problem[] = [];
  for (const [path, { objects }] of files) {
    for (const [identity, object] of objects) {
      if (!merged.has(identity)) merged.set(identity, object);
      else if (!isDeepStrictEqual(merged.get(identity), object)) {
        const rule = 'must not be in several files with different contents';
        problems.push({ source: basename(path), object: identity, field: 'metadata.name', rule });
      }
    }
  }
  return { merged, problems };
}

function changesBetween(
  before: ReadonlyMap<string, KubernetesObject>,
  after: ReadonlyMap<string, KubernetesObject>,
): ObjectChange[] {
  const changes: ObjectChange[] = [];
  for (const [identity, object] of before) {
    if (!after.has(identity)) changes.push({ type: 'delete', object });
  }
  for (const [identity, object] of after) {
    const known = before.get(identity);
    // Unchanged files keep their very objects; only those of an edited file need comparing.
    if (known !== object && !isDeepStrictEqual(known, object)) changes.push({ type: 'set', object });
  }
  return changes;
}
