// The output of iptables-save as a map of chains whose rules are made when they are read. On a node with many Services, the rules as
// texts take several times the memory of the output.
import { TimeSlice } from '../../timeSlice.js';
import { normalized } from './saved.js';
import type { SavedRules } from './types.js';

/** Finds the chains of the output, in time slices. */
export function savedRules(output: string): Promise<SavedRules> {
  // V8 keeps the whole output alive for each part of it that is in use, and for an asynchronous function that has it.
  return withChains(new SavedText(Buffer.from(output)));
}

async function withChains(saved: SavedText): Promise<SavedRules> {
  const slice = new TimeSlice();
  while (saved.readLine()) if (slice.spend(1)) await slice.yield();
  return saved;
}

/** Lines of one chain that follow each other: where they begin and end, in bytes, and their number. */
interface Section {
  readonly start: number;
  end: number;
  count: number;
}

/** The sections of a chain, mostly one: a list of them for each chain would take more memory than they do. */
type Sections = Section | readonly Section[];

const NONE: readonly Section[] = Object.freeze([]);
const NEWLINE = 10;
const DASH = 45;

/** Chain by chain: `nat/KUBE-SERVICES` → rules. Each call of `get` makes the texts again. */
class SavedText implements SavedRules {
  readonly #bytes: Buffer;
  readonly #chains = new Map<string, Sections>();
  #place = 0;
  #table = '';
  /** The chain of the last rule, and its last section. */
  #chain = '';
  #section: Section | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#chains.size;
  }

  has(id: string): boolean {
    return this.#chains.has(id);
  }

  get(id: string): readonly string[] | undefined {
    const sections = this.#chains.get(id);
    if (sections === undefined) return undefined;
    return 'start' in sections
      ? this.#rulesOf(sections)
      : sections.flatMap((section) => this.#rulesOf(section));
  }

  count(id: string): number {
    const sections = this.#chains.get(id) ?? NONE;
    return 'start' in sections ? sections.count : sections.reduce((sum, { count }) => sum + count, 0);
  }

  keys() {
    return this.#chains.keys();
  }

  *values(): Generator<readonly string[], undefined> {
    for (const [, rules] of this.entries()) yield rules;
    return undefined;
  }

  *entries(): Generator<[string, readonly string[]], undefined> {
    for (const id of this.#chains.keys()) yield [id, this.get(id) ?? []];
    return undefined;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  forEach(call: (rules: readonly string[], id: string, map: SavedRules) => void): void {
    for (const [id, rules] of this.entries()) call(rules, id, this);
  }

  /** Reads the next line of the output. Returns false after the last one. */
  readLine(): boolean {
    const start = this.#place;
    if (start >= this.#bytes.length) return false;
    const end = this.#lineEnd(start);
    this.#place = end + 1;
    const first = String.fromCharCode(this.#bytes[start] as number);
    if (first === '*') {
      this.#table = this.#text(start + 1, end).trim();
      this.#section = undefined;
    } else if (first === ':') {
      this.#chains.set(`${this.#table}/${this.#upToSpace(start + 1, end)}`, NONE);
    } else {
      const rule = this.#ruleAt(start, end);
      if (rule !== undefined) this.#add(this.#upToSpace(rule, end), rule, { start, end });
    }
    return true;
  }

  /** @param rule the place of the name of the chain. A rule without conditions and target is ignored. */
  #add(chain: string, rule: number, { start, end }: { readonly start: number; readonly end: number }): void {
    if (rule + Buffer.byteLength(chain) >= end) return;
    if (this.#section?.end === start - 1 && this.#chain === chain) {
      this.#section.end = end;
      this.#section.count++;
      return;
    }
    this.#section = undefined;
    const id = `${this.#table}/${chain}`;
    const sections = this.#chains.get(id);
    if (sections === undefined) return;
    const section = { start, end, count: 1 };
    this.#section = section;
    this.#chain = chain;
    if ('start' in sections) this.#chains.set(id, [sections, section]);
    else this.#chains.set(id, sections.length === 0 ? section : [...sections, section]);
  }

  #rulesOf({ start, end }: Section): string[] {
    const rules: string[] = [];
    for (let place = start; place < end; ) {
      const lineEnd = this.#lineEnd(place);
      const chain = this.#ruleAt(place, lineEnd) ?? lineEnd;
      const space = this.#bytes.indexOf(' ', chain);
      const text = space < 0 || space > lineEnd ? '' : this.#text(space + 1, lineEnd).trimEnd();
      rules.push(normalized(text));
      place = lineEnd + 1;
    }
    return rules;
  }

  /** The place after `-A `, with or without counters before it; undefined if the line is no rule. */
  #ruleAt(start: number, end: number): number | undefined {
    let place = start;
    if (this.#bytes[start] !== DASH) {
      const counters = /^\[\d+:\d+\] /.exec(this.#text(start, Math.min(end, start + 64)))?.[0];
      if (counters === undefined) return undefined;
      place += counters.length;
    }
    return this.#text(place, Math.min(end, place + 3)) === '-A ' ? place + 3 : undefined;
  }

  #upToSpace(start: number, end: number): string {
    const space = this.#bytes.indexOf(' ', start);
    return this.#text(start, space < 0 || space > end ? end : space);
  }

  #lineEnd(start: number): number {
    const found = this.#bytes.indexOf(NEWLINE, start);
    return found < 0 ? this.#bytes.length : found;
  }

  #text(start: number, end: number): string {
    return this.#bytes.toString('utf8', start, end);
  }
}
