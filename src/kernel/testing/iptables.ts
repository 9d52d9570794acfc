// iptables in memory: chains and rules of both families, changed by whole restores.
import { NetlinkError } from '../../errors.js';
import type { Family } from '../../net/address.js';
import { program } from '../iptables/index.js';
import { parsePolicies, parseSaved } from '../iptables/text.js';
import type {
  Chain,
  Iptables,
  IptablesOperation,
  IptablesRestore,
  Policy,
  SavedRules,
  SavedTables,
  Table,
} from '../iptables/types.js';
import { reported, verbOf } from '../reported.js';
import type { Batch } from '../types.js';
import type { Fault, Faults } from './faults.js';

const TABLES = ['nat', 'filter', 'mangle'] as const;
const BASE_CHAINS = {
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
} as const;

/** A fake of iptables. */
export class FakeIptables implements Iptables, Faults {
  fault: Fault = () => undefined;
  readFault: Fault = () => undefined;
  onBatch: ((batch: Batch<IptablesRestore>) => void) | undefined = undefined;
  /** Restores done so far: each is a process in reality. */
  restores = 0;
  #chains: Record<Family, Map<string, string[]>> = { 4: baseChains(), 6: baseChains() };
  /** Built-in chains with a policy other than ACCEPT. */
  #policies: Record<Family, ReadonlyMap<string, Policy>> = { 4: new Map(), 6: new Map() };

  async save(family: Family): Promise<SavedRules> {
    const fault = this.readFault('iptables.save', program('save', family));
    if (fault) throw fault;
    return new Map([...this.#chains[family]].map(([name, rules]) => [name, [...rules]]));
  }

  async saveTables(family: Family): Promise<SavedTables> {
    return { rules: await this.save(family), policies: parsePolicies(this.dump(family)) };
  }

  async restore(family: Family, operations: readonly IptablesOperation[]): Promise<NetlinkError | undefined> {
    const restore = { do: 'restore', family } as const;
    const [error] = await reported(this, [restore], verbOf, async () => [this.#restore(family, operations)]);
    return error;
  }

  #restore(family: Family, operations: readonly IptablesOperation[]): NetlinkError | undefined {
    this.restores++;
    const operation = 'iptables.restore';
    const target = program('restore', family);
    const fault = this.fault(operation, target);
    if (fault) return fault;
    for (const table of TABLES) {
      const changed = new Map([...this.#chains[family]].map(mutable));
      const kernelMessage = change(
        changed,
        operations.filter((each) => tableOf(each) === table),
      );
      if (kernelMessage !== undefined) {
        return new NetlinkError({ code: 'ERR_PROCESS', operation, target, kernelMessage });
      }
      this.#chains[family] = changed;
    }
    return undefined;
  }

  /** Makes these a family's rules and policies, as if somebody had made them before: the text of iptables-save. */
  load(family: Family, text: string): void {
    this.#chains[family] = new Map([...baseChains(), ...[...parseSaved(text)].map(mutable)]);
    this.#policies[family] = parsePolicies(text);
  }

  /** The output of iptables-save for a family. */
  dump(family: Family): string {
    const chains = this.#chains[family];
    return (['mangle', 'filter', 'nat'] as const)
      .filter((table) => table !== 'mangle' || [...chains.keys()].some((name) => name.startsWith('mangle/')))
      .map((table) => {
        const names = [...chains.keys()].filter((name) => name.startsWith(`${table}/`));
        const bare = (name: string) => name.slice(table.length + 1);
        const isBase = (name: string) => (BASE_CHAINS[table] as readonly string[]).includes(bare(name));
        const policy = (name: string) =>
          isBase(name) ? (this.#policies[family].get(name) ?? 'ACCEPT') : '-';
        const headers = names.map((name) => `:${bare(name)} ${policy(name)} [0:0]\n`);
        const rules = names.flatMap((name) =>
          (chains.get(name) ?? []).map((rule) => `-A ${bare(name)} ${rule}\n`),
        );
        return `*${table}\n${headers.join('')}${rules.join('')}COMMIT\n`;
      })
      .join('');
  }
}

/** As iptables-restore does: chains, rules, then insertions and deletions of chains. Returns the reason of a refusal, if any. */
function change(chains: Map<string, string[]>, operations: readonly IptablesOperation[]): string | undefined {
  for (const operation of operations) {
    if ('chain' in operation) chains.set(idOf(operation), []);
  }
  for (const operation of operations) {
    if (operation.do === 'setChain') chains.get(idOf(operation))?.push(...operation.chain.rules);
    if (operation.do !== 'deleteJump') continue;
    const rules = chains.get(idOf(operation)) ?? [];
    const place = rules.indexOf(operation.jump.rule);
    if (place < 0) return 'Bad rule (does a matching rule exist in that chain?)';
    rules.splice(place, 1);
  }
  for (const operation of operations) {
    if (operation.do === 'insertJump') {
      const rules = chains.get(idOf(operation));
      if (!rules) return 'No chain/target/match by that name';
      rules.unshift(operation.jump.rule);
    }
    if (operation.do !== 'deleteChain') continue;
    if (isTarget(chains, operation.chain)) return 'Too many links';
    chains.delete(idOf(operation));
  }
  return undefined;
}

function isTarget(
  chains: ReadonlyMap<string, readonly string[]>,
  { table, name }: Omit<Chain, 'rules'>,
): boolean {
  const rules = [...chains].filter(([id]) => id.startsWith(`${table}/`)).flatMap(([, each]) => each);
  return rules.some((rule) =>
    rule.split(' ').some((word, i, words) => word === name && /^-[jg]$/.test(words[i - 1] ?? '')),
  );
}

function tableOf(operation: IptablesOperation): Table {
  return 'chain' in operation ? operation.chain.table : operation.jump.table;
}

function idOf(operation: IptablesOperation): string {
  return 'chain' in operation
    ? `${operation.chain.table}/${operation.chain.name}`
    : `${operation.jump.table}/${operation.jump.from}`;
}

/** Table mangle shows only once something is in it. */
function baseChains(): Map<string, string[]> {
  return new Map(
    (['nat', 'filter'] as const).flatMap((table) =>
      BASE_CHAINS[table].map((name): [string, string[]] => [`${table}/${name}`, []]),
    ),
  );
}

function mutable([name, rules]: readonly [string, readonly string[]]): [string, string[]] {
  return [name, [...rules]];
}
