// The objects of one resource as they are known: compares the server's objects with them, and finds the changes.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../input/fields.js';
import { decodeObject } from '../objects/decode.js';
import type { Interning } from '../objects/interning.js';
import type { KubernetesObject, ObjectChange } from '../objects/types.js';
import type { SourceEvents } from '../source/source.js';
import { StandingProblems } from '../source/standing.js';
import type { Resource } from './resources.js';

type Raw = Readonly<Record<string, unknown>>;

/** What was seen in a list that is being read. */
export class ListSeen {
  readonly names = new Set<string>();
  /** Items that may have problems: kind and name. */
  readonly items = new Set<string>();
  /** An item had no name: it may be any object that is missing. */
  nameless = false;
}

/** The objects of one resource, by `namespace/name`. */
export class KnownObjects {
  readonly #resource: Resource;
  readonly #interning: Interning;
  readonly #known = new Map<string, KubernetesObject>();
  readonly #problems: StandingProblems;

  constructor(resource: Resource, interning: Interning, events: Pick<SourceEvents, 'problems' | 'mended'>) {
    this.#resource = resource;
    this.#interning = interning;
    this.#problems = new StandingProblems(events);
  }

  /** Whether data is of the kind that belongs here. */
  expects({ apiVersion, kind }: Raw): boolean {
    return apiVersion === this.#resource.apiVersion && kind === this.#resource.kind;
  }

  /** An item of a list: the change that it means, or nothing when it is known already. */
  listed(item: unknown, seen: ListSeen): ObjectChange | undefined {
    const { apiVersion, kind } = this.#resource;
    // Items name neither; one that does, and is of another kind, is somebody else's.
    const raw: Raw = { apiVersion, kind, ...(isRecord(item) ? item : {}) };
    const key = keyOf(raw);
    if (key.endsWith('/')) seen.nameless = true;
    seen.names.add(key);
    seen.items.add(aboutOf(key, raw));
    return this.#take(key, raw, true);
  }

  /** An object that was added or modified: the change that it means, or nothing when it is known already. */
  changed(raw: Raw): ObjectChange | undefined {
    return this.#take(keyOf(raw), raw, false);
  }

  /** An object that was deleted: the change that it means, if it was known. */
  deleted(raw: Raw): ObjectChange[] {
    const key = keyOf(raw);
    this.#problems.set(aboutOf(key, raw), []);
    return this.expects(raw) ? this.#forget(key) : [];
  }

  /** A list was read to its end: objects that are not in it are gone. */
  missing({ names, items, nameless }: ListSeen): ObjectChange[] {
    // Input that cannot be read removes nothing.
    if (nameless) return [];
    this.#problems.retain(items);
    return [...this.#known.keys()].flatMap((key) => (names.has(key) ? [] : this.#forget(key)));
  }

  #take(key: string, raw: Raw, listed: boolean): ObjectChange | undefined {
    if (!this.expects(raw)) return this.#refuse(key, raw);
    const known = this.#known.get(key);
    const { object, problems } = decodeObject(raw, () => known, this.#interning);
    this.#problems.set(aboutOf(key, raw), problems);
    // It says itself that it is no longer of use: an object that cannot be read stays as it was.
    if (!object) return known && this.#drop(key, known);
    // A node reports every few minutes that it is alive, and a list repeats objects: neither is a change.
    if ((listed || object.kind === 'Node') && known !== undefined && isDeepStrictEqual(known, object))
      return undefined;
    this.#known.set(key, object);
    return { type: 'set', object };
  }

  /** Data of another kind changes nothing. */
  #refuse(key: string, raw: Raw): undefined {
    const { apiVersion, kind } = this.#resource;
    const object = `${String(raw['kind'])} ${key} among ${this.#resource.name}`;
    const value = `${String(raw['apiVersion'])} ${String(raw['kind'])}`;
    const rule = `must be ${apiVersion} ${kind}`;
    this.#problems.set(aboutOf(key, raw), [
      { object, field: 'kind', rule, value, kind, reason: 'UnexpectedKind' },
    ]);
    return undefined;
  }

  #forget(key: string): ObjectChange[] {
    const known = this.#known.get(key);
    return known ? [this.#drop(key, known)] : [];
  }

  #drop(key: string, object: KubernetesObject): ObjectChange {
    this.#known.delete(key);
    return { type: 'delete', object };
  }
}

/** `namespace/name` of an object. */
function keyOf({ metadata }: Raw): string {
  const { namespace, name } = isRecord(metadata) ? metadata : ({} as Raw);
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return `${text(namespace)}/${text(name)}`;
}

/** What the problems of an object are filed under. */
function aboutOf(key: string, { kind }: Raw): string {
  return `${String(kind)} ${key}`;
}
