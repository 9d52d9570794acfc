// One copy of values that many objects share: tens of thousands of endpoints name a few thousand nodes, a few zones and a
// few hundred lists of ports.

/** Values of a kind that are remembered at most, so that memory stays bounded while names change. */
const MOST = 20_000;
/** Their characters at most, of each kind. */
const MOST_CHARACTERS = 2 * 2 ** 20;
/** Longest text that is remembered, in characters: the conditions of the endpoints of a full slice. */
const LONGEST_TEXT = 1024;
/** Longest list that is remembered. Longer ones are seldom equal. */
const LONGEST_LIST = 32;

/** The values that were read so far. A value is never changed, so that objects may share it. */
export class Interning {
  readonly #texts = new Remembered<string>();
  readonly #lists = new Remembered<readonly unknown[]>();

  /** The first text that equals this one. */
  text(text: string): string {
    return this.#texts.first(text, text);
  }

  /** The first list that equals this one, or a long list itself. The list holds plain data. */
  list<T>(list: readonly T[]): readonly T[] {
    if (list.length === 0) return EMPTY;
    if (list.length > LONGEST_LIST) return list;
    return this.#lists.first(JSON.stringify(list), list) as readonly T[];
  }

  /** Number of characters that are remembered. */
  get characters(): number {
    return this.#texts.characters + this.#lists.characters;
  }
}

const EMPTY: readonly never[] = Object.freeze([]);

/** Values by their text. All are forgotten when they are too many or too long together. */
class Remembered<T> {
  readonly #values = new Map<string, T>();
  characters = 0;

  /** The first value with this text, or the value itself if the text is long. */
  first(key: string, value: T): T {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (key.length > LONGEST_TEXT) return value;
    if (this.#values.size >= MOST || this.characters + key.length > MOST_CHARACTERS) {
      this.#values.clear();
      this.characters = 0;
    }
    this.#values.set(key, value);
    this.characters += key.length;
    return value;
  }
}
