// The known objects of one resource: the server's objects are compared with them, and the differences are the changes.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../input/fields.js';
import { decodeObject } from '../objects/decode.js';
import type { Interning } from '../objects/interning.js';
import { isClusterScoped, type KubernetesObject, type ObjectChange } from '../objects/types.js';
import { OpenProblems } from '../source/openProblems.js';
import type { SourceEvents } from '../source/source.js';
import type { Resource } from './resources.js';

type Raw = Readonly<Record<string, unknown>>;

/** The part of a list that was read so far. */
export class ListSeen {
  readonly names = new Set<string>();
  /** Items that may have problems: kind and name. */
  readonly items = new Set<string>();
  /** An item had no name: it may be any of the missing objects. */
  nameless = false;
}

/** The objects of one resource, by `namespace/name`. */
export class KnownObjects {
  readonly #resource: Resource;
  readonly #interning: Interning;
  readonly #known = new Map<string, KubernetesObject>();
  readonly #problems: OpenProblems;

  constructor(resource: Resource, interning: Interning, events: Pick<SourceEvents, 'problems' | 'mended'>) {
    this.#resource = resource;
    this.#interning = interning;
    this.#problems = new OpenProblems(events);
  }

  /** Whether data is of the kind that belongs here. */
  expects({ apiVersion, kind }: Raw): boolean {
    return apiVersion === this.#resource.apiVersion && kind === this.#resource.kind;
  }

  /** The change that an item of a list makes; undefined if the object is known already. */
  listed(item: unknown, seen: ListSeen): ObjectChange | undefined {
    const { apiVersion, kind } = this.#resource;
    // Items have neither; an item that has, and of another kind, does not belong here.
    const raw: Raw = { apiVersion, kind, ...(isRecord(item) ? item : {}) };
    const key = keyOf(raw);
    if (key.endsWith('/')) seen.nameless = true;
    seen.names.add(key);
    seen.items.add(aboutOf(key, raw));
    return this.#take(key, raw, true);
  }

  /** The change that an added or modified object makes; undefined if it makes none. */
  changed(raw: Raw): ObjectChange | undefined {
    return this.#take(keyOf(raw), raw, false);
  }

  /** The change that a deleted object makes; none if it was not known. */
  deleted(raw: Raw): ObjectChange[] {
    const key = keyOf(raw);
    this.#problems.set(aboutOf(key, raw), []);
    return this.expects(raw) ? this.#forget(key) : [];
  }

  /** A list was read to its end: objects that are missing in it were deleted. */
  missing({ names, items, nameless }: ListSeen): ObjectChange[] {
    // Unreadable input removes nothing.
    if (nameless) return [];
    this.#problems.retain(items);
    return [...this.#known.keys()].flatMap((key) => (names.has(key) ? [] : this.#forget(key)));
  }

  #take(key: string, raw: Raw, listed: boolean): ObjectChange | undefined {
    if (!this.expects(raw)) return this.#refuse(key, raw);
    const known = this.#known.get(key);
    const { object, problems } = decodeObject(raw, () => known, this.#interning);
    this.#problems.set(aboutOf(key, raw), problems);
    // A readable object that is not used any more (another type, no Service). An unreadable one keeps its last value.
    if (!object) return known && this.#drop(key, known);
    // A node's heartbeat every few minutes, another's status, and a repeated object of a list are not changes.
    if ((listed || isClusterScoped(object.kind)) && known !== undefined && isDeepStrictEqual(known, object))
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

/** The key of an object's problems. */
function aboutOf(key: string, { kind }: Raw): string {
  return `${String(kind)} ${key}`;
}
