// A folder or file of manifests, followed as it changes: edit a file, and the kernel follows.
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '../errors.js';
import type { KubernetesObject, ObjectChange } from '../objects/types.js';
import { type Manifest, readManifest } from './manifestFile.js';
import type { Source, SourceEvents } from './source.js';
import { StandingProblems } from './standing.js';

/** Options of a manifest source. */
export interface ManifestOptions {
  /** A file, or a folder whose `.yaml`, `.yml` and `.json` files are read (not those of folders within). */
  readonly path: string;
  /** Follow changes; default true. */
  readonly follow?: boolean;
}

/** Changes that come within so many ms of each other are read together: an editor writes in several steps. */
const SETTLE = 10;
/** Ms between looks at the folder although nothing was notified: network file systems notify nothing. */
const LOOK = 10_000;

interface File {
  /** Changes whenever the contents may have. */
  readonly stamp: string;
  readonly manifest: Manifest;
}

/** Objects from manifests. */
export class ManifestSource implements Source {
  readonly #path: string;
  readonly #follow: boolean;
  #files = new Map<string, File>();
  #objects = new Map<string, KubernetesObject>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor({ path, follow = true }: ManifestOptions) {
    this.#path = path;
    this.#follow = follow;
  }

  /** Rejects with the system's error when the path does not exist or cannot be read. */
  async start(events: SourceEvents): Promise<void> {
    const standing = new StandingProblems(events);
    const folder = (await stat(this.#path)).isDirectory();
    if (this.#follow) this.#watch(folder ? this.#path : dirname(this.#path), events, standing);
    await this.#look(events, standing);
    events.synced();
    if (this.#follow) this.#lookLater(events, standing, LOOK);
  }

  stop(): void {
    this.#stopped = true;
    this.#watcher?.close();
    clearTimeout(this.#timer);
  }

  /** The folder is watched even for one file: a file that is replaced is another file with the same name. */
  #watch(folder: string, events: SourceEvents, standing: StandingProblems): void {
    this.#watcher = watch(folder, () => this.#lookLater(events, standing, SETTLE));
    this.#watcher.on('error', (error) => {
      events.problems([{ object: folder, field: 'watch', rule: `must stay readable: ${error.message}` }]);
    });
  }

  #lookLater(events: SourceEvents, standing: StandingProblems, milliseconds: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#looking
        .then(() => this.#look(events, standing))
        .catch((error) => standing.set('', [unreadable(this.#path, error)]))
        .finally(() => this.#lookLater(events, standing, LOOK));
    }, milliseconds);
  }

  /** Reads what changed. A path that cannot be read leaves everything as it was: nothing is deleted on a guess. */
  async #look(events: SourceEvents, standing: StandingProblems): Promise<void> {
    const files = new Map<string, File>();
    const problems: Problem[] = [];
    for (const path of await this.#list()) {
      const known = this.#files.get(path);
      try {
        files.set(path, await readFileIfChanged(path, known));
      } catch (error) {
        problems.push(unreadable(path, error));
        if (known) files.set(path, known);
      }
    }
    if (this.#stopped) return;
    this.#files = files;
    const objects = merge(files, problems);
    const changes = changesBetween(this.#objects, objects);
    this.#objects = objects;
    // Those of the folder as a whole have no path.
    standing.retain(new Set(['', ...files.keys()]));
    standing.set('', problems);
    for (const [path, { manifest }] of files) standing.set(path, manifest.problems);
    if (changes.length > 0) events.changed(changes);
  }

  async #list(): Promise<string[]> {
    if (!(await stat(this.#path)).isDirectory()) return [this.#path];
    const names = await readdir(this.#path);
    return names
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort()
      .map((name) => join(this.#path, name));
  }
}

async function readFileIfChanged(path: string, known: File | undefined): Promise<File> {
  const { mtimeNs, size, ino } = await stat(path, { bigint: true });
  const stamp = `${ino} ${size} ${mtimeNs}`;
  if (known?.stamp === stamp) return known;
  const manifest = await readManifest(basename(path), await readFile(path, 'utf8'), known?.manifest.objects);
  if (manifest.whole || !known) return { stamp, manifest };
  // Part of the text makes no sense: what the file said before stands, but for what it now says otherwise.
  return {
    stamp,
    manifest: { ...manifest, objects: new Map([...known.manifest.objects, ...manifest.objects]) },
  };
}

/** Every object once: of two files that hold one object, the first by name has it. */
function merge(files: ReadonlyMap<string, File>, problems: Problem[]): Map<string, KubernetesObject> {
  const merged = new Map<string, KubernetesObject>();
  for (const [path, { manifest }] of files) {
    for (const [identity, object] of manifest.objects) {
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

function unreadable(path: string, error: unknown): Problem {
  return {
    source: path,
    object: 'file',
    field: 'contents',
    rule: `must be readable: ${(error as Error).message}`,
  };
}
