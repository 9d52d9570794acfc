// The store of an API server: objects with versions, their events, and selectors. Behaves as documented at
// https://kubernetes.io/docs/reference/using-api/api-concepts/.

/** An object of the API, as JSON. */
export interface RawObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string };
  [field: string]: unknown;
}

/** A change of an object. */
export interface StoredEvent {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the change, or the deleted object. */
  readonly object: RawObject;
  readonly previous: RawObject | undefined;
}

/** The state of a store at some time. */
export interface Snapshot {
  readonly objects: ReadonlyMap<string, RawObject>;
  readonly version: number;
}

/** Whether an object is selected. */
export type Selector = (object: RawObject) => boolean;

/** The objects of a cluster. */
export class Store {
  /** Objects by kind, namespace and name. */
  readonly #objects = new Map<string, RawObject>();
  #events: StoredEvent[] = [];
  #listeners = new Set<(event: StoredEvent) => void>();
  /** Events up to this version are deleted. */
  #compacted = 0;
  version = 100;

  /** Creates or replaces an object. */
  set(object: RawObject): void {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    const stored = this.#stamp(object);
    this.#objects.set(key, stored);
    this.#happened({
      version: this.version,
      type: previous ? 'MODIFIED' : 'ADDED',
      object: stored,
      previous,
    });
  }

  /** Deletes an existing object. */
  delete(object: RawObject): void {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    if (!previous) throw new Error(`there is no ${key}`);
    this.#objects.delete(key);
    this.#happened({ version: this.version + 1, type: 'DELETED', object: this.#stamp(previous), previous });
  }

  /** Deletes all past events: watches from earlier versions are too old. */
  compact(): void {
    this.#compacted = this.version;
    this.#events = [];
  }

  /** The current objects and version. */
  snapshot(): Snapshot {
    return { objects: new Map(this.#objects), version: this.version };
  }

  /** Restores objects and version, as when etcd is restored from a backup. Later events are deleted. */
  restore({ objects, version }: Snapshot): void {
    this.#objects.clear();
    for (const [key, object] of objects) this.#objects.set(key, object);
    this.version = version;
    this.compact();
  }

  /** Objects of a kind, sorted by namespace and name. */
  list(kind: string, selects: Selector): RawObject[] {
    return [...this.#objects]
      .filter(([, object]) => object.kind === kind && selects(object))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
  }

  /** The events after a version; undefined if the version is too old. */
  since(version: number): readonly StoredEvent[] | undefined {
    if (version < this.#compacted) return undefined;
    return this.#events.filter((event) => event.version > version);
  }

  /** Calls back for each event, until the returned function is called. */
  listen(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stamp(object: RawObject): RawObject {
    this.version++;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
  }

  #happened(event: StoredEvent): void {
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}

/** The event for a watch: ADDED if the object is selected only after the change, DELETED if only before it. */
export function seenThrough(selects: Selector, event: StoredEvent): StoredEvent | undefined {
  const before = event.previous !== undefined && selects(event.previous);
  const after = event.type !== 'DELETED' && selects(event.object);
  if (!before && !after) return undefined;
  return { ...event, type: !after ? 'DELETED' : before ? 'MODIFIED' : 'ADDED' };
}

/** Reads a label and a field selector: `!key`, `path=value` and `path!=value`, comma-separated. */
export function parseSelectors(labelSelector: string, fieldSelector: string): Selector {
  const labels = labelSelector.split(',').filter(Boolean).map(parseLabelTerm);
  const fields = fieldSelector.split(',').filter(Boolean).map(parseFieldTerm);
  return (object) => [...labels, ...fields].every((selects) => selects(object));
}

function parseLabelTerm(term: string): Selector {
  if (!term.startsWith('!')) throw new Error(`unknown label selector ${term}`);
  return ({ metadata }) => !(term.slice(1) in ((metadata['labels'] as object | undefined) ?? {}));
}

function parseFieldTerm(term: string): Selector {
  const match = /^([\w.]+)(!?=)(.*)$/.exec(term);
  if (!match) throw new Error(`unknown field selector ${term}`);
  const [, path = '', operator, wanted] = match;
  return (object) => {
    const value = path
      .split('.')
      .reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], object);
    return (String(value ?? '') === wanted) === (operator === '=');
  };
}

function keyOf({ kind, metadata }: RawObject): string {
  return `${kind} ${String(metadata['namespace'] ?? '')}/${metadata.name}`;
}
