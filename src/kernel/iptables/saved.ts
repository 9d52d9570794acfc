// The output of iptables-save.
import { NetlinkError } from '../errors.js';
import { Lines } from './lines.js';
import type { Policy, SavedChain, SavedTables } from './types.js';

/** Reads the output of iptables-save: every chain with its rules. */
export function parseSaved(text: string): ReadonlyMap<string, readonly string[]> {
  return parseTables(text).rules;
}

/** Reads the policies of the built-in chains from the output of iptables-save: `filter/INPUT` → `DROP`. */
export function parsePolicies(text: string): ReadonlyMap<string, Policy> {
  return parseTables(text).policies;
}

/** Reads the output of iptables-save. */
export function parseTables(text: string): SavedTables {
  const reader = new SavedReader({ scattered: true });
  return tablesOf([...reader.read(Buffer.from(text)), ...reader.end()]);
}

/** All chains in one map, with the policies of the built-in ones. */
export function tablesOf(chains: Iterable<SavedChain>): SavedTables {
  const tables: GrowingTables = { rules: new Map(), policies: new Map() };
  for (const chain of chains) addChain(chain, tables);
  return tables;
}

/** The maps of {@link SavedTables}, to which chains are added. */
export interface GrowingTables {
  readonly rules: Map<string, readonly string[]>;
  readonly policies: Map<string, Policy>;
}

/** Adds a chain. */
export function addChain({ table, name, rules, policy }: SavedChain, to: GrowingTables): void {
  const id = `${table}/${name}`;
  to.rules.set(id, rules);
  if (policy) to.policies.set(id, policy);
}

/** A rule as all versions print it: some print a second space before the name of an nfacct counter. */
export function normalized(rule: string): string {
  return rule.replace('--nfacct-name  ', '--nfacct-name ');
}

/** The rules of all chains whose rules have not begun. */
const NONE: readonly string[] = Object.freeze([]);

/** A chain with its rules so far. */
interface Begun extends SavedChain {
  readonly rules: string[];
}

/** Options of a {@link SavedReader}. */
interface SavedReaderOptions {
  /**
   * Rules of a chain may be in several places, and those of chains without a name at the beginning of the table are ignored. All chains
   * of a table stay in memory until its end, and then come in the order of their names. By default, a chain is complete as soon as the
   * rules of another one begin.
   */
  readonly scattered?: boolean;
}

/**
 * Reads the output of iptables-save, piece by piece. It has the names of all chains of a table before their rules, and all rules of
 * a chain together. Counters and comments are ignored. In memory are the rules of one piece and of one chain, and the names of the
 * chains of a table whose rules have not been read.
 */
export class SavedReader {
  readonly #scattered: boolean;
  #table = '';
  readonly #lines = new Lines((line) => this.#readLine(line));
  /** The chains of the table that are not complete, by name. */
  #chains = new Map<string, SavedChain>();
  /** The chain of the last rule. */
  #chain: Begun | undefined;
  #complete: SavedChain[] = [];

  constructor({ scattered = false }: SavedReaderOptions = {}) {
    this.#scattered = scattered;
  }

  /**
   * Reads the next piece.
   *
   * @returns the chains whose rules have all been read
   * @throws {NetlinkError} `ERR_MALFORMED_REPLY` if a rule is in another place than the others of its chain
   */
  read(bytes: Buffer): SavedChain[] {
    this.#lines.read(bytes);
    return this.#take();
  }

  /** Reads the last line, if it has no end, and returns the other chains. */
  end(): SavedChain[] {
    this.#lines.end();
    this.#endTable();
    return this.#take();
  }

  #take(): SavedChain[] {
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }

  #readLine(line: string): void {
    switch (line[0]) {
      case '-':
        this.#readRule(line);
        return;
      case ':':
        this.#readName(line);
        return;
      case '*':
        this.#endTable();
        this.#table = line.slice(1).trim();
        return;
      case '[':
        this.#readRule(line.slice(line.indexOf(' ') + 1));
    }
  }

  #readName(line: string): void {
    const [name = '', policy = ''] = line.slice(1).split(' ', 2);
    const known = policy === 'ACCEPT' || policy === 'DROP' ? ({ policy } as const) : {};
    // As bytes and back: a part of the line would keep it alive.
    const own = Buffer.from(name).toString();
    this.#chains.set(own, { table: this.#table, name: own, ...known, rules: NONE });
  }

  /** @param line `-A CHAIN RULE`. A rule without conditions and target is ignored, and so are the other lines of `iptables -S`. */
  #readRule(line: string): void {
    if (!line.startsWith('-A ')) return;
    const space = line.indexOf(' ', 3);
    if (space < 0) return;
    const name = line.slice(3, space);
    if (this.#chain?.name !== name) this.#begin(name);
    this.#chain?.rules.push(normalized(line.slice(space + 1).trimEnd()));
  }

  #begin(name: string): void {
    if (this.#chain && !this.#scattered) {
      this.#chains.delete(this.#chain.name);
      this.#complete.push(this.#chain);
    }
    const chain = this.#chains.get(name);
    // Those of a chain that has begun are an array of its own.
    this.#chain = chain && (chain.rules === NONE ? { ...chain, rules: [] } : (chain as Begun));
    if (this.#chain) this.#chains.set(this.#chain.name, this.#chain);
    else if (!this.#scattered) throw this.#misplaced(name);
  }

  #misplaced(name: string): NetlinkError {
    return new NetlinkError({
      code: 'ERR_MALFORMED_REPLY',
      operation: 'iptables.save',
      target: `${this.#table}/${name}`,
      kernelMessage: 'a rule is not beside the other rules of its chain, or no line names its chain',
    });
  }

  #endTable(): void {
    for (const chain of this.#chains.values()) this.#complete.push(chain);
    this.#chains = new Map();
    this.#chain = undefined;
  }
}
