// The output of a program, which comes in pieces, as lines.

const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

/** Divides pieces of UTF-8 into lines, without their ends. */
export class Lines {
  readonly #each: (line: string) => void;
  /** The beginning of the next line. */
  #begun: Buffer = NOTHING;

  /** @param each takes each line */
  constructor(each: (line: string) => void) {
    this.#each = each;
  }

  /** Reads the next piece. */
  read(bytes: Buffer): void {
    let place = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, place)) {
      // Each line is a text of its own: V8 keeps the whole text alive for each part of it that is in use.
      if (this.#begun.length > 0) this.#endLine(bytes.subarray(place, end));
      else this.#each(bytes.toString('utf8', place, end));
      place = end + 1;
    }
    if (place < bytes.length) this.#begun = Buffer.concat([this.#begun, bytes.subarray(place)]);
  }

  /** Reads the last line, if it has no end. */
  end(): void {
    if (this.#begun.length > 0) this.#endLine(NOTHING);
  }

  #endLine(rest: Buffer): void {
    const line = Buffer.concat([this.#begun, rest]).toString();
    this.#begun = NOTHING;
    this.#each(line);
  }
}
