// Bytes as they arrive → JSON values, one at a time. A list is never in memory as a whole: the API server may answer a
// first list without pages, and for a large cluster that is tens of megabytes.
import { isRecord } from '../input/fields.js';
import { ApiError } from './error.js';

/** Longest object or line, in bytes. etcd's limit is 1.5 MiB for an object; JSON is larger than etcd's encoding. */
const LONGEST = 16 * 1024 * 1024;

/** Characters of a key that are kept. */
const KEY = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const NEWLINE = 0x0a;

/** Bytes of one value, gathered over chunks. */
class Gathered {
  readonly #what: string;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(what: string) {
    this.#what = what;
  }

  get empty(): boolean {
    return this.#length === 0;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#length > LONGEST) throw malformed(this.#what, `is longer than ${LONGEST} bytes`);
    this.#parts.push(part);
  }

  /** The value; nothing is gathered afterwards. */
  parse(): unknown {
    const text = (this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts))?.toString() ?? '';
    this.#parts = [];
    this.#length = 0;
    try {
      return JSON.parse(text);
    } catch (error) {
      throw malformed(this.#what, (error as Error).message);
    }
  }
}

/** Lines of JSON, as a watch sends them. */
export class LineReader {
  readonly #line: Gathered;

  /** `what`: name of the stream in errors. */
  constructor(what: string) {
    this.#line = new Gathered(what);
  }

  /** The values whose lines end in this chunk. Throws an ApiError `ERR_MALFORMED` at a line that is not JSON. */
  *push(chunk: Buffer): Generator<unknown> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.add(chunk.subarray(start, end));
      start = end + 1;
      if (!this.#line.empty) yield this.#line.parse();
    }
    this.#line.add(chunk.subarray(start));
  }

  /** True when the stream may end here: no line is cut off. */
  get whole(): boolean {
    return this.#line.empty;
  }
}

/** A list as the API server sends it: `items` one by one, and the rest at the end. */
export class ListReader {
  readonly #what: string;
  readonly #rest: Gathered;
  readonly #item: Gathered;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inItems = false;
  /** The last text at depth 1, or its beginning: before a `[`, the key that it belongs to. */
  #key = '';

  /** `what`: name of the stream in errors. */
  constructor(what: string) {
    this.#what = what;
    this.#rest = new Gathered(what);
    this.#item = new Gathered(what);
  }

  /** The items that end in this chunk. Throws an ApiError `ERR_MALFORMED` at an item that is not JSON. */
  *push(chunk: Buffer): Generator<unknown> {
    /** Start of the part that was not gathered yet, of the item or of the rest. */
    let start = 0;
    for (let i = this.#inText ? this.#skipText(chunk, 0) : 0; i < chunk.length; i++) {
      switch (chunk[i]) {
        case QUOTE:
          this.#inText = true;
          if (this.#depth === 1) this.#key = '';
          i = this.#skipText(chunk, i + 1) - 1;
          break;
        case OPEN:
        case OPEN_LIST:
          if (this.#betweenItems) {
            this.#rest.add(chunk.subarray(start, i));
            start = i;
          }
          this.#depth++;
          if (this.#depth === 2 && chunk[i] === OPEN_LIST && this.#key === 'items') {
            this.#inItems = true;
            this.#rest.add(chunk.subarray(start, i + 1));
            start = i + 1;
          }
          break;
        case CLOSE:
        case CLOSE_LIST:
          this.#depth--;
          if (this.#betweenItems) {
            this.#item.add(chunk.subarray(start, i + 1));
            start = i + 1;
            yield this.#item.parse();
          } else if (this.#depth === 1) {
            this.#inItems = false;
          }
          break;
        case COMMA:
          // A comma between items is dropped; any other text between items is found at the end.
          if (this.#betweenItems) {
            this.#rest.add(chunk.subarray(start, i));
            start = i + 1;
          }
          break;
      }
    }
    (this.#inItems && this.#depth > 2 ? this.#item : this.#rest).add(chunk.subarray(start));
  }

  /** The list without its items. Throws an ApiError `ERR_MALFORMED` when it is cut off or no JSON. */
  end(): unknown {
    const rest = this.#rest.parse();
    const left = isRecord(rest) ? rest['items'] : undefined;
    if (Array.isArray(left) && left.length > 0) throw malformed(this.#what, 'an item is not an object');
    return rest;
  }

  get #betweenItems(): boolean {
    return this.#inItems && this.#depth === 2;
  }

  /** Skips a text from an index on; returns the index behind its closing quote, or the chunk's length. */
  #skipText(chunk: Buffer, from: number): number {
    let end = from;
    for (; end < chunk.length; end++) {
      const byte = chunk[end];
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#inText = false;
        break;
      }
    }
    // The keys of a list are short: the beginning of any other text at this depth is enough to tell it from them.
    if (this.#depth === 1 && this.#key.length < KEY) {
      this.#key += chunk.toString('latin1', from, Math.min(end, from + KEY));
    }
    return Math.min(end + 1, chunk.length);
  }
}

function malformed(what: string, said: string): ApiError {
  return new ApiError({ code: 'ERR_MALFORMED', operation: what, said });
}
