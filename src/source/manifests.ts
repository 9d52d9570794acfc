// A folder or file of manifests, followed as it changes: edit a file, and the kernel follows.
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { describeProblem, excerpt, type Problem } from '../errors.js';
import type { KubernetesObject, ObjectChange } from '../objects/types.js';
import { FollowedFile, STILL, unreadable } from './followedFile.js';
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
  /** Ms of a clock that never runs back. */
  now(): number;
  /** Runs something after so many ms. */
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

const SYSTEM: SourceClock = {
  now: () => performance.now(),
  set: setTimeout,
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Changes within so many ms of each other are read together: an editor writes in several steps. */
const SETTLE = 10;
/** Ms between looks at the folder although nothing was notified: network file systems notify nothing. */
const LOOK = 10_000;

/** Objects from manifests. */
export class ManifestSource implements Source {
  readonly #path: string;
  readonly #follow: boolean;
  readonly #clock: SourceClock;
  #files = new Map<string, FollowedFile>();
  #objects: ReadonlyMap<string, KubernetesObject> = new Map();
  #reported = new Set<string>();
  #incomplete: readonly string[] = [];
  #watcher: FSWatcher | undefined;
  #timer: unknown;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor({ path, follow = true, clock = SYSTEM }: ManifestOptions) {
    this.#path = path;
    this.#follow = follow;
    this.#clock = clock;
  }

  /** Rejects with the system's error when the path does not exist or cannot be listed. */
  async start(events: SourceEvents): Promise<void> {
    const folder = (await stat(this.#path)).isDirectory();
    if (this.#follow) this.#watch(folder ? this.#path : dirname(this.#path), events);
    await this.#look(events);
    events.synced();
    this.#lookLater(events);
  }

  stop(): void {
    this.#stopped = true;
    this.#watcher?.close();
    this.#clock.clear(this.#timer);
  }

  /** The folder is watched even for one file: a file that is replaced is another file with the same name. */
  #watch(folder: string, events: SourceEvents): void {
    this.#watcher = watch(folder, () => {
      this.#clock.clear(this.#timer);
      this.#lookAfter(SETTLE, events);
    });
    this.#watcher.on('error', (error) => {
      events.problems([{ object: folder, field: 'watch', rule: `must stay readable: ${error.message}` }]);
    });
  }

  /** Makes sure that there is another look. One that a change has asked for meanwhile stays as it is. */
  #lookLater(events: SourceEvents): void {
    if (!this.#follow || this.#timer !== undefined) return;
    const changing = [...this.#files.values()].some((file) => file.changing);
    this.#lookAfter(changing ? STILL + SETTLE : LOOK, events);
  }

  #lookAfter(milliseconds: number, events: SourceEvents): void {
    if (this.#stopped) return;
    this.#timer = this.#clock.set(() => {
      this.#timer = undefined;
      this.#looking = this.#looking
        .then(() => this.#look(events))
        .catch((error) => this.#lost(error, events))
        .finally(() => this.#lookLater(events));
    }, milliseconds);
  }

  /** The path itself cannot be read: everything stays as it was. */
  #lost(error: unknown, events: SourceEvents): void {
    this.#report([unreadable(this.#path, error)], events);
    this.#setIncomplete([nameOf(this.#path)], events);
  }

  /** Reads what has changed. */
  async #look(events: SourceEvents): Promise<void> {
    const files = await this.#list();
    const problems: Problem[] = [];
    for (const file of files.values()) problems.push(...(await file.look(this.#clock.now())));
    if (this.#stopped) return;
    this.#files = files;
    const standing = [...files.values()].flatMap(({ error }) => error ?? []);
    const incomplete = [...files].flatMap(([path, { whole }]) => (whole ? [] : [nameOf(path)]));
    const settled = incomplete.length === 0 && ![...files.values()].some(({ changing }) => changing);
    const merged = merge(files, standing);
    // An object that is missing may be, or may have been moved to, where it cannot be read yet.
    const objects = settled ? merged : new Map([...this.#objects, ...merged]);
    const changes = changesBetween(this.#objects, objects);
    this.#objects = objects;
    if (problems.length > 0) events.problems(problems);
    this.#report(standing, events);
    this.#setIncomplete(incomplete, events);
    if (changes.length > 0) events.changed(changes);
  }

  #setIncomplete(incomplete: readonly string[], events: SourceEvents): void {
    if (isDeepStrictEqual(incomplete, this.#incomplete)) return;
    this.#incomplete = incomplete;
    events.incomplete?.(incomplete);
  }

  /** Reports problems that every look finds again once, until they are gone. */
  #report(standing: readonly Problem[], events: SourceEvents): void {
    const fresh = standing.filter((problem) => !this.#reported.has(describeProblem(problem)));
    this.#reported = new Set(standing.map(describeProblem));
    if (fresh.length > 0) events.problems(fresh);
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

/** Every object once: of two files that hold one object, the first by name has it. */
function merge(files: ReadonlyMap<string, FollowedFile>, problems: Problem[]): Map<string, KubernetesObject> {
  const merged = new Map<string, KubernetesObject>();
  for (const [path, { objects }] of files) {
    for (const [identity, object] of objects) {
      if (!merged.has(identity)) merged.set(identity, object);
      else if (!isDeepStrictEqual(merged.get(identity), object)) {
        const rule = 'must not stand in several files with different contents';
        problems.push({ source: basename(path), object: identity, field: 'metadata.name', rule });
      }
    }
  }
  return merged;
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
