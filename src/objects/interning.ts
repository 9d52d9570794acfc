// One copy of values that many objects share: tens of thousands of endpoints name a few thousand nodes, a few zones and a
// few hundred lists of ports.

/** Values of a kind that are remembered at most, so that memory stays bounded while names change. */
const MOST = 20_000;

/** The values that were read so far. A value is never changed, so that objects may share it. */
export class Interning {
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, readonly unknown[]>();

  /** The first text that equals this one. */
  text(text: string): string {
    return intern(this.#texts, text, text);
  }

  /** The first list that equals this one. The list holds plain data. */
  list<T>(list: readonly T[]): readonly T[] {
    return list.length === 0 ? EMPTY : (intern(this.#lists, JSON.stringify(list), list) as readonly T[]);
  }
}

const EMPTY: readonly never[] = Object.freeze([]);

function intern<T>(values: Map<string, T>, key: string, value: T): T {
  const known = values.get(key);
  if (known !== undefined) return known;
  if (values.size >= MOST) values.clear();
  values.set(key, value);
  return value;
}
