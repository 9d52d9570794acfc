// The chains to which rules of other programs jump, such as those of kubelet and CNI plugins.
import type { SavedChain } from '../../../../kernel/iptables/types.js';

/** The names of a chain: `nat/KUBE-SERVICES` has the table nat. */
export function splitChainId(id: string): [table: string, name: string] {
  const [table = '', name = ''] = id.split('/');
  return [table, name];
}

/** The chains to which rules jump that are not the mode's own. */
export class ForeignTargets {
  readonly #isOwnChain: (table: string, name: string) => boolean;
  readonly #ownRules: ReadonlySet<string>;
  /** Names by table. */
  readonly #targets = new Map<string, Set<string>>();

  /**
   * @param isOwnChain whether all rules of a chain are the mode's own
   * @param ownRules texts of its own rules in other chains
   */
  constructor(isOwnChain: (table: string, name: string) => boolean, ownRules: ReadonlySet<string>) {
    this.#isOwnChain = isOwnChain;
    this.#ownRules = ownRules;
  }

  /** Looks at the rules of a chain. */
  add({ table, name, rules }: SavedChain): void {
    if (this.#isOwnChain(table, name)) return;
    for (const rule of rules) {
      const target = this.#ownRules.has(rule) ? undefined : /-[jg] (\S+)/.exec(rule)?.[1];
      if (target === undefined) continue;
      const targets = this.#targets.get(table);
      if (targets) targets.add(target);
      else this.#targets.set(table, new Set([target]));
    }
  }

  has(table: string, name: string): boolean {
    return this.#targets.get(table)?.has(name) ?? false;
  }

  /** Names to which these rules jump in a table: chains, and targets such as ACCEPT. */
  in(table: string): Iterable<string> {
    return this.#targets.get(table) ?? [];
  }
}
