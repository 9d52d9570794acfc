// The rules of one family in memory, changed as iptables-restore changes them.
import { tableOf } from '../iptables/text.js';
import type { IptablesOperation, SavedRules, Table } from '../iptables/types.js';

const NO_CHAIN = 'No chain/target/match by that name.';

/** Targets that are no chains. */
const TARGETS: ReadonlySet<string> = new Set([
  ...['ACCEPT', 'DROP', 'RETURN', 'REJECT', 'LOG', 'NFLOG', 'NOTRACK', 'CT'],
  ...['MARK', 'CONNMARK', 'MASQUERADE', 'DNAT', 'SNAT', 'REDIRECT'],
]);

/** The chains of one family: `nat/KUBE-SERVICES` → rules. */
export class FakeRules {
  readonly #chains = new Map<string, string[]>();
  /** Chain → number of rules that jump to it. */
  readonly #jumps = new Map<string, number>();
  /** Reverts the changes of the table under way, first to last. */
  #undo: (() => void)[] = [];

  constructor(saved: Iterable<readonly [string, readonly string[]]>) {
    for (const [id, rules] of saved) {
      this.#chains.set(id, [...rules]);
      for (const rule of rules) this.#count(id, rule, 1);
    }
  }

  /** Every chain with its rules. */
  saved(): SavedRules {
    return new Map([...this.#chains].map(([id, rules]) => [id, [...rules]]));
  }

  /** Changes a table as a whole, or not at all. Returns the reason of a refusal, if any. */
  change(table: Table, operations: readonly IptablesOperation[]): string | undefined {
    this.#undo = [];
    const refused = this.#apply(operations.filter((operation) => tableOf(operation) === table));
    if (refused !== undefined) for (const step of this.#undo.reverse()) step();
    return refused;
  }

  /** In the order of the lines that restoreInput() writes. */
  #apply(operations: readonly IptablesOperation[]): string | undefined {
    for (const operation of operations) if ('chain' in operation) this.#empty(chainOf(operation));
    for (const operation of operations) {
      const refused = this.#append(operation);
      if (refused !== undefined) return refused;
    }
    for (const operation of operations) {
      if (operation.do !== 'insertRule') continue;
      const refused = this.#add(chainOf(operation), operation.rule.text, 0);
      if (refused !== undefined) return refused;
    }
    for (const operation of operations) {
      if (operation.do !== 'deleteRule') continue;
      const id = chainOf(operation);
      const place = this.#chains.get(id)?.indexOf(operation.rule.text) ?? -1;
      if (place < 0) return 'Bad rule (does a matching rule exist in that chain?).';
      this.#splice(id, place, 1);
    }
    for (const operation of operations) {
      if (operation.do !== 'deleteChain') continue;
      const id = chainOf(operation);
      if (this.#jumps.has(id)) return 'Too many links';
      const rules = this.#chains.get(id) ?? [];
      this.#chains.delete(id);
      this.#undo.push(() => this.#chains.set(id, rules));
    }
    return undefined;
  }

  #append(operation: IptablesOperation): string | undefined {
    if (operation.do !== 'setChain' && operation.do !== 'appendRule') return undefined;
    const id = chainOf(operation);
    const texts = operation.do === 'setChain' ? operation.chain.rules : [operation.rule.text];
    for (const text of texts) {
      const refused = this.#add(id, text, this.#chains.get(id)?.length ?? 0);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  /** Creates the chain, or deletes its rules. */
  #empty(id: string): void {
    const rules = this.#chains.get(id);
    if (rules) {
      this.#splice(id, 0, rules.length);
      return;
    }
    this.#chains.set(id, []);
    this.#undo.push(() => this.#chains.delete(id));
  }

  #add(id: string, text: string, place: number): string | undefined {
    const target = targetOf(id, text);
    if (!this.#chains.has(id) || (target !== undefined && !this.#chains.has(target))) return NO_CHAIN;
    this.#splice(id, place, 0, text);
    return undefined;
  }

  #splice(id: string, place: number, deleted: number, ...added: string[]): void {
    const rules = this.#chains.get(id) ?? [];
    const former = rules.splice(place, deleted, ...added);
    for (const rule of former) this.#count(id, rule, -1);
    for (const rule of added) this.#count(id, rule, 1);
    this.#undo.push(() => {
      rules.splice(place, added.length, ...former);
      for (const rule of former) this.#count(id, rule, 1);
      for (const rule of added) this.#count(id, rule, -1);
    });
  }

  #count(id: string, rule: string, difference: 1 | -1): void {
    const target = targetOf(id, rule);
    if (target === undefined) return;
    const jumps = (this.#jumps.get(target) ?? 0) + difference;
    if (jumps > 0) this.#jumps.set(target, jumps);
    else this.#jumps.delete(target);
  }
}

/** The chain to which a rule of a chain jumps; undefined if its target is no chain. */
function targetOf(id: string, rule: string): string | undefined {
  const target = / -[jg] (\S+)/.exec(` ${rule}`)?.[1];
  return target === undefined || TARGETS.has(target) ? undefined : `${id.split('/', 1)[0]}/${target}`;
}

function chainOf(operation: IptablesOperation): string {
  return 'chain' in operation
    ? `${operation.chain.table}/${operation.chain.name}`
    : `${operation.rule.table}/${operation.rule.chain}`;
}
