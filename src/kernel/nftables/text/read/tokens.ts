// The words, quoted texts and signs of a text of nft, with their places.
import { StepCounter, type Steps } from '../../../steps.js';

/** A line of a text. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** A word, a sign, or a quoted text without its quotation marks. */
export interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly line: Line;
  /** Place of its first character in the line, from 1. */
  readonly column: number;
}

/** Something that cannot be read, and where it is. */
export class Unreadable extends Error {
  readonly token: Token;

  /** @param rule what the text must be: `must be an IPv4 address` */
  constructor(rule: string, token: Token) {
    super(rule);
    this.token = token;
  }
}

/** Blanks, a quoted text, a comment, a sign, a word, or the beginning of a quoted text that has no end. */
const PATTERN =
  /[ \t\r]+|"([^"]*)"|#.*|(!=|==|<=|>=|<<|>>|[{}();,=<>!&|^])|([^ \t\r"{}();,=<>!&|^#]+)|("[^"]*)/y;

/** The tokens of a line. A comment that begins with `#` is none. */
export function* tokensOf(line: Line): Steps<Token[]> {
  const { text } = line;
  const tokens: Token[] = [];
  const counter = new StepCounter();
  const pattern = new RegExp(PATTERN);
  for (let start = 0; start < text.length; start = pattern.lastIndex) {
    pattern.lastIndex = start;
    const [, quoted, sign, word, open] = pattern.exec(text) ?? [];
    const place = { line, column: start + 1 };
    if (open !== undefined) {
      throw new Unreadable('needs a quotation mark at its end', { text: open, isQuoted: false, ...place });
    }
    if (quoted !== undefined) tokens.push({ text: quoted, isQuoted: true, ...place });
    else if (sign !== undefined || word !== undefined)
      tokens.push({ text: (sign ?? word) as string, isQuoted: false, ...place });
    if (counter.isFull()) yield;
  }
  return tokens;
}

/** Words that nft reads as signs. */
const WORDS: Readonly<Record<string, string>> = {
  ...{ and: '&', or: '|', xor: '^', lshift: '<<', rshift: '>>' },
  ...{ eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=', not: '!' },
};

/** Reads the tokens of one statement, one after another. */
export class Cursor {
  readonly #tokens: readonly Token[];
  /** The end of the statement, for errors. */
  readonly #end: Token;
  #at = 0;

  /** @param tokens at least one */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    const { text, isQuoted, line, column } = tokens.at(-1) as Token;
    const length = text.length + (isQuoted ? 2 : 0);
    this.#end = { text: '', isQuoted: false, line, column: column + length };
  }

  /** Whether there is no other token. */
  get isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** The next token; at the end one without text. */
  get token(): Token {
    return this.#tokens[this.#at] ?? this.#end;
  }

  /** A later token; undefined behind the end. */
  ahead(count: number): Token | undefined {
    return this.#tokens[this.#at + count];
  }

  /** Whether the next token is one of these words or signs. */
  is(...texts: readonly string[]): boolean {
    const { text, isQuoted } = this.token;
    return !isQuoted && text !== '' && (texts.includes(text) || texts.includes(WORDS[text] ?? ' '));
  }

  /** Reads the next token, if it is one of these signs, or the word for one, and returns the sign. */
  sign(...signs: readonly string[]): string | undefined {
    if (!this.is(...signs)) return undefined;
    const { text } = this.take('a sign');
    return WORDS[text] ?? text;
  }

  /** Reads the next token, if it is one of these words or signs. */
  accept(...texts: readonly string[]): boolean {
    const found = this.is(...texts);
    if (found) this.#at++;
    return found;
  }

  /** Reads the next token, which must be this word or sign. */
  expect(text: string): void {
    if (!this.accept(text)) throw new Unreadable(`must be \`${text}\``, this.token);
  }

  /** Reads the next token. `what` says in errors what it must be. */
  take(what: string): Token {
    if (this.isDone) throw new Unreadable(`must be ${what}`, this.token);
    return this.#tokens[this.#at++] as Token;
  }

  /** Reads a word: a name, a number. */
  word(what: string): Token {
    const token = this.take(what);
    if (token.isQuoted) throw new Unreadable(`must be ${what}, without quotation marks`, token);
    return token;
  }

  /** Reads a quoted text. */
  quoted(what: string): string {
    const token = this.take(what);
    if (!token.isQuoted) throw new Unreadable(`must be ${what}, in quotation marks`, token);
    return token.text;
  }

  /** Demands that nothing follows. */
  end(): void {
    if (!this.isDone) throw new Unreadable('must be the end of the statement', this.token);
  }
}
