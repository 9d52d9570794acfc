// iptables that lives in memory: chains and rules of both families, changed by whole restores.
import type { NetlinkError } from '../errors.js';
import { parseSaved } from '../kernel/iptables/text.js';
import type { Iptables, IptablesOperation, SavedRules } from '../kernel/iptables/types.js';
import type { Family } from '../net/address.js';
import { attempt, type Fault, type Faults } from './faults.js';

const BASE_CHAINS = {
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
} as const;

/** A fake of iptables. */
export class FakeIptables implements Iptables, Faults {
  fault: Fault = () => undefined;
  /** Restores done so far: each is a process in reality. */
  restores = 0;
  #chains: Record<Family, Map<string, string[]>> = { 4: baseChains(), 6: baseChains() };

  async save(family: Family): Promise<SavedRules> {
    return new Map([...this.#chains[family]].map(([name, rules]) => [name, [...rules]]));
  }

  async restore(family: Family, operations: readonly IptablesOperation[]): Promise<NetlinkError | undefined> {
    this.restores++;
    return attempt(this, 'iptables.restore', `IPv${family}`, () => {
      for (const operation of operations) this.#do(this.#chains[family], operation);
      return undefined;
    });
  }

  /** Makes these a family's rules, as if somebody had made them before: the text of iptables-save. */
  load(family: Family, text: string): void {
    this.#chains[family] = new Map([...baseChains(), ...[...parseSaved(text)].map(mutable)]);
  }

  /** What iptables-save prints of a family. */
  dump(family: Family): string {
    const chains = this.#chains[family];
    return (['mangle', 'filter', 'nat'] as const)
      .filter((table) => table !== 'mangle' || [...chains.keys()].some((name) => name.startsWith('mangle/')))
      .map((table) => {
        const names = [...chains.keys()].filter((name) => name.startsWith(`${table}/`));
        const bare = (name: string) => name.slice(table.length + 1);
        const isBase = (name: string) => (BASE_CHAINS[table] as readonly string[]).includes(bare(name));
        const headers = names.map((name) => `:${bare(name)} ${isBase(name) ? 'ACCEPT' : '-'} [0:0]\n`);
        const rules = names.flatMap((name) =>
          (chains.get(name) ?? []).map((rule) => `-A ${bare(name)} ${rule}\n`),
        );
        return `*${table}\n${headers.join('')}${rules.join('')}COMMIT\n`;
      })
      .join('');
  }

  #do(chains: Map<string, string[]>, operation: IptablesOperation): void {
    if ('chain' in operation) {
      const name = `${operation.chain.table}/${operation.chain.name}`;
      if (operation.do === 'setChain') chains.set(name, [...operation.chain.rules]);
      else chains.delete(name);
      return;
    }
    const rules = chains.get(`${operation.jump.table}/${operation.jump.from}`);
    if (operation.do === 'insertJump') rules?.unshift(operation.jump.rule);
    else rules?.splice(rules.indexOf(operation.jump.rule), 1);
  }
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
