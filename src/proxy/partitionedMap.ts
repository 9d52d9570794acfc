// A map for the items of a whole cluster, none of whose insertions takes long.

/** Most entries of a part: the map of one has room for exactly as many. A look-up takes the longer, the more parts there are. */
const MOST = 65_536;

/**
 * A map in parts. V8 enlarges a map by moving all its entries to new memory, which takes longer than a time slice if they are more than
 * 65 536. Up to so many it is an ordinary map. Beyond, a look-up searches part after part, and entries have the order of insertion only as
 * long as none is deleted.
 */
export class PartitionedMap<Key, Value> extends Map<Key, Value> {
  /** The parts behind the first one, which is this map itself. */
  readonly #others: Map<Key, Value>[] = [];

  override get size(): number {
    let size = super.size;
    for (const part of this.#others) size += part.size;
    return size;
  }

  override get(key: Key): Value | undefined {
    let value = super.get(key);
    for (let i = 0; value === undefined && i < this.#others.length; i++) value = this.#others[i]?.get(key);
    return value;
  }

  override has(key: Key): boolean {
    return super.has(key) || this.#others.some((part) => part.has(key));
  }

  override set(key: Key, value: Value): this {
    const isRoomHere = super.size < MOST;
    if ((isRoomHere && this.#others.length === 0) || super.has(key)) return super.set(key, value);
    const holder = this.#others.find((part) => part.has(key));
    if (!holder && isRoomHere) return super.set(key, value);
    (holder ?? this.#partWithRoom()).set(key, value);
    return this;
  }

  override delete(key: Key): boolean {
    return super.delete(key) || this.#others.some((part) => part.delete(key));
  }

  override clear(): void {
    super.clear();
    this.#others.length = 0;
  }

  override forEach(visit: (value: Value, key: Key, map: Map<Key, Value>) => void, thisArg?: unknown): void {
    for (const [key, value] of this) visit.call(thisArg, value, key, this);
  }

  override [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.entries();
  }

  override entries(): MapIterator<[Key, Value]> {
    return this.#others.length === 0
      ? super.entries()
      : this.#joined(super.entries(), (part) => part.entries());
  }

  override keys(): MapIterator<Key> {
    return this.#others.length === 0 ? super.keys() : this.#joined(super.keys(), (part) => part.keys());
  }

  override values(): MapIterator<Value> {
    return this.#others.length === 0 ? super.values() : this.#joined(super.values(), (part) => part.values());
  }

  #partWithRoom(): Map<Key, Value> {
    const known = this.#others.find(({ size }) => size < MOST);
    if (known) return known;
    const part = new Map<Key, Value>();
    this.#others.push(part);
    return part;
  }

  *#joined<Each>(first: Iterable<Each>, each: (part: Map<Key, Value>) => Iterable<Each>): MapIterator<Each> {
    yield* first;
    for (const part of this.#others) yield* each(part);
  }
}
