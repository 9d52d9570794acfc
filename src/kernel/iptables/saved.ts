// The output of iptables-save.
import { TimeSlice } from '../../timeSlice.js';
import type { Policy, SavedRules, SavedTables } from './types.js';

/** Reads the output of iptables-save: every chain with its rules. */
export function parseSaved(text: string): SavedRules {
  return parseTables(text).rules;
}

/** Reads the policies of the built-in chains from the output of iptables-save: `filter/INPUT` → `DROP`. */
export function parsePolicies(text: string): ReadonlyMap<string, Policy> {
  return parseTables(text).policies;
}

/** Reads the output of iptables-save. */
export function parseTables(text: string): SavedTables {
  const reader = new SavedReader(text);
  while (reader.readLine());
  return reader.tables;
}

/** The same, in time slices. */
export async function parseTablesInSlices(text: string): Promise<SavedTables> {
  const reader = new SavedReader(text);
  const slice = new TimeSlice();
  while (reader.readLine()) if (slice.spend(1)) await slice.yield();
  return reader.tables;
}

/** A rule as all versions print it: some print a second space before the name of an nfacct counter. */
export function normalized(rule: string): string {
  return rule.replace('--nfacct-name  ', '--nfacct-name ');
}

/** Reads the output of iptables-save, line by line. Counters and comments are ignored. */
class SavedReader {
  readonly tables = { rules: new Map<string, string[]>(), policies: new Map<string, Policy>() };
  /** Lines are cut from bytes: V8 keeps the whole text alive for each part of it that is in use. */
  readonly #bytes: Buffer;
  #place = 0;
  #table = '';

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
  }

  /** Returns false after the last line. */
  readLine(): boolean {
    if (this.#place >= this.#bytes.length) return false;
    const found = this.#bytes.indexOf('\n', this.#place);
    const end = found < 0 ? this.#bytes.length : found;
    this.#add(this.#bytes.toString('utf8', this.#place, end));
    this.#place = end + 1;
    return true;
  }

  #add(line: string): void {
    if (line.startsWith('*')) {
      this.#table = line.slice(1).trim();
    } else if (line.startsWith(':')) {
      const [name = '', policy = ''] = line.slice(1).split(' ', 2);
      const id = `${this.#table}/${name}`;
      this.tables.rules.set(id, []);
      if (policy === 'ACCEPT' || policy === 'DROP') this.tables.policies.set(id, policy);
    } else {
      const [, chain, rule = ''] = /^(?:\[\d+:\d+\] )?-A (\S+) (.*?)\s*$/.exec(line) ?? [];
      if (chain === undefined) return;
      const texts = this.tables.rules.get(`${this.#table}/${chain}`);
      texts?.push(normalized(rule));
    }
  }
}
