// iptables in memory: chains and rules of both families, changed by whole restores.
import { NetlinkError } from '../errors.js';
import { listedChain, program } from '../iptables/index.js';
import { mainErrorOf, resultsOf, writeTables } from '../iptables/results.js';
import { parsePolicies, parseSaved } from '../iptables/saved.js';
import { linesOf } from '../iptables/text.js';
import type {
  Iptables,
  IptablesOperation,
  IptablesRestore,
  Policy,
  SavedChain,
  SavedRules,
  SavedTables,
  Table,
} from '../iptables/types.js';
import type { Family } from '../net/address.js';
import { FAMILY } from '../net/shapes.js';
import { ANY_TEXT, checkArgument } from '../shapes.js';
import { checkArray } from '../shared/arguments.js';
import { reported, verbOf } from '../shared/reported.js';
import type { Batch } from '../shared/types.js';
import { atOnce } from '../steps.js';
import type { Fault, Faults } from './faults.js';
import { FakeRules, type Refuse } from './iptablesRules.js';

const BASE_CHAINS = {
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
} as const;

/** Chains in a piece of {@link FakeIptables.chains}. */
const PIECE = 64;

/** A fake of iptables. */
export class FakeIptables implements Iptables, Faults {
  fault: Fault = () => undefined;
  readFault: Fault = () => undefined;
  /** Decides whether a rule is refused, as by a kernel without one of its matches. None is by default. */
  refuse: Refuse = () => undefined;
  onBatch: ((batch: Batch<IptablesRestore>) => void) | undefined = undefined;
  /** Restores done so far. */
  restores = 0;
  #rules: Record<Family, FakeRules> = { 4: new FakeRules(baseChains()), 6: new FakeRules(baseChains()) };
  /** Built-in chains with a policy other than ACCEPT. */
  #policies: Record<Family, ReadonlyMap<string, Policy>> = { 4: new Map(), 6: new Map() };

  /** In small pieces, between which the rules may change. */
  async *chains(family: Family): AsyncGenerator<readonly SavedChain[], void, void> {
    const saved = await this.save(family);
    let piece: SavedChain[] = [];
    for (const [id, rules] of saved) {
      const [table = '', name = ''] = id.split('/');
      const policy = this.#policyOf(family, id);
      piece.push({ table, name, ...(policy && { policy }), rules });
      if (piece.length < PIECE) continue;
      yield piece;
      piece = [];
    }
    yield piece;
  }

  async save(family: Family): Promise<SavedRules> {
    const fault = this.readFault('iptables.save', program('save', family));
    if (fault) throw fault;
    return this.#rules[family].saved();
  }

  async saveTables(family: Family): Promise<SavedTables> {
    return { rules: await this.save(family), policies: parsePolicies(this.dump(family)) };
  }

  async listRules(family: Family, table: Table, chain: string): Promise<readonly string[]> {
    const place = listedChain(family, table, chain);
    const fault = this.readFault('iptables.listRules', place);
    if (fault) throw fault;
    const rules = this.#rules[family].saved().get(place);
    if (rules) return rules;
    throw new NetlinkError({
      code: 'ERR_PROCESS',
      operation: 'iptables.listRules',
      target: place,
      kernelMessage: 'No chain/target/match by that name.',
    });
  }

  async restore(
    family: Family,
    operations: readonly IptablesOperation[],
  ): Promise<(NetlinkError | undefined)[]> {
    const target = program('restore', family);
    checkArray('iptables.restore', 'operations', operations);
    const restore = { do: 'restore', family } as const;
    let results: (NetlinkError | undefined)[] = [];
    await reported(this, [restore], verbOf, async () => {
      results = this.#restore(family, operations, target);
      return [mainErrorOf(results)];
    });
    return results;
  }

  #restore(
    family: Family,
    operations: readonly IptablesOperation[],
    target: string,
  ): (NetlinkError | undefined)[] {
    if (operations.length === 0) return [];
    this.restores++;
    const fault = this.fault('iptables.restore', target);
    if (fault) return operations.map(() => fault);
    const { tables, results } = atOnce(writeTables(operations, target));
    if (results) return results;
    for (const [committed, { table }] of tables.entries()) {
      const refusal = this.#rules[family].change(table, operations, this.refuse);
      if (refusal === undefined) continue;
      const place = operations.indexOf(refusal.operation);
      const line = lineOf(operations, table, place, refusal.subject);
      const before = tables.slice(0, committed).reduce((sum, { lines }) => sum + lines + 1, 0);
      const message = `line ${before + line + 1} failed: ${refusal.reason}`;
      const failure = { code: 'ERR_PROCESS', message, linesBefore: 0 };
      return resultsOf(operations, { program: target, tables, committed, failure });
    }
    return operations.map(() => undefined);
  }

  /** Makes these a family's rules and policies, as if somebody had made them before: the text of iptables-save. */
  load(family: Family, text: string): void {
    checkArgument('FakeIptables.load', 'family', family, FAMILY);
    checkArgument('FakeIptables.load', 'text', text, ANY_TEXT);
    this.#rules[family] = new FakeRules(new Map([...baseChains(), ...parseSaved(text)]));
    this.#policies[family] = parsePolicies(text);
  }

  /** The output of iptables-save for a family, as the nf_tables backend prints it. */
  dump(family: Family): string {
    checkArgument('FakeIptables.dump', 'family', family, FAMILY);
    const chains = this.#rules[family].saved();
    return (['mangle', 'filter', 'nat'] as const)
      .filter((table) => table !== 'mangle' || [...chains.keys()].some((name) => name.startsWith('mangle/')))
      .map((table) => {
        const names = [...chains.keys()].filter((name) => name.startsWith(`${table}/`));
        const bare = (name: string) => name.slice(table.length + 1);
        const headers = names.map((name) => `:${bare(name)} ${this.#policyOf(family, name) ?? '-'} [0:0]\n`);
        const rules = names.flatMap((name) =>
          (chains.get(name) ?? []).map((rule) => `-A ${bare(name)} ${printed(rule)}\n`),
        );
        return `*${table}\n${headers.join('')}${rules.join('')}COMMIT\n`;
      })
      .join('');
  }

  /** @param id `filter/INPUT`. Undefined for a chain that is not built in */
  #policyOf(family: Family, id: string): Policy | undefined {
    const [table = '', name = ''] = id.split('/');
    const isBase = (BASE_CHAINS as Record<string, readonly string[]>)[table]?.includes(name) ?? false;
    return isBase ? (this.#policies[family].get(id) ?? 'ACCEPT') : undefined;
  }
}

/** The last line of an operation that has a rule or names a chain. */
function lineOf(
  operations: readonly IptablesOperation[],
  table: Table,
  place: number,
  subject: string,
): number {
  return linesOf(operations, table).findLastIndex(
    (line) => line.place === place && line.text.endsWith(` ${subject}`),
  );
}

/** iptables-save prints a second space before the name of a counter. */
function printed(rule: string): string {
  return rule.replace('--nfacct-name ', '--nfacct-name  ');
}

/** Table mangle shows only once something is in it. */
function baseChains(): Map<string, readonly string[]> {
  return new Map(
    (['nat', 'filter'] as const).flatMap((table) =>
      BASE_CHAINS[table].map((name): [string, readonly string[]] => [`${table}/${name}`, []]),
    ),
  );
}
