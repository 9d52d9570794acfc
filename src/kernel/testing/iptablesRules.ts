// The rules of one family in memory, changed as iptables-restore changes them.
import { tableOf } from '../iptables/text.js';
import type { IptablesOperation, RuleReplacement, SavedRules, Table } from '../iptables/types.js';

const NO_CHAIN = 'No chain/target/match by that name.';

/** Targets that are not chains. */
const TARGETS: ReadonlySet<string> = new Set([
  ...['ACCEPT', 'DROP', 'RETURN', 'REJECT', 'LOG', 'NFLOG', 'NOTRACK', 'CT'],
  ...['MARK', 'CONNMARK', 'MASQUERADE', 'DNAT', 'SNAT', 'REDIRECT'],
]);

/** The reason for which a rule of a chain (`nat/KUBE-SERVICES`) is refused; undefined to allow it. */
export type Refuse = (chain: string, rule: string) => string | undefined;

/** An operation that is refused, and the reason. */
export interface Refusal {
  readonly operation: IptablesOperation;
  /** The refused rule or the chain. */
  readonly subject: string;
  readonly reason: string;
}

/** The chains of one family: `nat/KUBE-SERVICES` → rules. */
export class FakeRules {
  readonly #chains = new Map<string, string[]>();
  /** Chain → number of rules that jump to it. */
  readonly #jumps = new Map<string, number>();
  /** The rule or the chain of the change under way. */
  #subject = '';
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

  /** Changes a table as a whole, or not at all. Returns the refusal, if there is one. */
  change(table: Table, operations: readonly IptablesOperation[], refuse: Refuse): Refusal | undefined {
    this.#undo = [];
    const refusal = this.#apply(
      operations.filter((operation) => tableOf(operation) === table),
      refuse,
    );
    if (refusal !== undefined) for (const step of this.#undo.reverse()) step();
    return refusal;
  }

  /** In the order of the lines that restoreInput() writes. */
  #apply(operations: readonly IptablesOperation[], refuse: Refuse): Refusal | undefined {
    for (const operation of operations) if ('chain' in operation) this.#empty(chainOf(operation));
    for (const kind of ['appendRule', 'insertRule', 'deleteRule', 'deleteChain'] as const) {
      for (const operation of operations) {
        const reason = this.#change(kind, operation, refuse);
        if (reason !== undefined) return { operation, subject: this.#subject, reason };
      }
    }
    return undefined;
  }

  /** Applies an operation if its lines are of this kind. Returns the reason of a refusal, if any. */
  #change(
    kind: 'appendRule' | 'insertRule' | 'deleteRule' | 'deleteChain',
    operation: IptablesOperation,
    refuse: Refuse,
  ): string | undefined {
    const id = chainOf(operation);
    switch (operation.do) {
      case 'setChain':
        return kind === 'appendRule' ? this.#append(id, operation.chain.rules, refuse) : undefined;
      case 'appendRule':
        return kind === 'appendRule' ? this.#append(id, [operation.rule.text], refuse) : undefined;
      case 'insertRule':
        return kind === 'insertRule' ? this.#add(id, operation.rule.text, 0, refuse) : undefined;
      case 'replaceRules':
        return kind === 'insertRule' ? this.#replace(id, operation.rules, refuse) : undefined;
      case 'deleteRule':
        return kind === 'deleteRule' ? this.#delete(id, operation.rule.text) : undefined;
      case 'deleteChain':
        return kind === 'deleteChain' ? this.#remove(id) : undefined;
    }
  }

  #append(id: string, texts: readonly string[], refuse: Refuse): string | undefined {
    for (const text of texts) {
      const reason = this.#add(id, text, this.#chains.get(id)?.length ?? 0, refuse);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #replace(id: string, { before, after }: RuleReplacement, refuse: Refuse): string | undefined {
    for (const text of before) {
      const reason = this.#delete(id, text);
      if (reason !== undefined) return reason;
    }
    for (const text of after.toReversed()) {
      const reason = this.#add(id, text, 0, refuse);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #delete(id: string, text: string): string | undefined {
    this.#subject = text;
    const place = this.#chains.get(id)?.indexOf(text) ?? -1;
    if (place < 0) return 'Bad rule (does a matching rule exist in that chain?).';
    this.#splice(id, place, 1);
    return undefined;
  }

  #remove(id: string): string | undefined {
    this.#subject = id.slice(id.indexOf('/') + 1);
    if (this.#jumps.has(id)) return 'Too many links';
    // The same list: earlier steps are reverted in it.
    const rules = this.#chains.get(id) ?? [];
    this.#chains.delete(id);
    this.#undo.push(() => this.#chains.set(id, rules));
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

  #add(id: string, text: string, place: number, refuse: Refuse): string | undefined {
    this.#subject = text;
    const refused = refuse(id, text);
    if (refused !== undefined) return refused;
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

/** The chain to which a rule of a chain jumps; undefined if its target is not a chain. */
function targetOf(id: string, rule: string): string | undefined {
  const target = / -[jg] (\S+)/.exec(` ${rule}`)?.[1];
  return target === undefined || TARGETS.has(target) ? undefined : `${id.split('/', 1)[0]}/${target}`;
}

function chainOf(operation: IptablesOperation): string {
  if ('chain' in operation) return `${operation.chain.table}/${operation.chain.name}`;
  const { table, chain } = 'rules' in operation ? operation.rules : operation.rule;
  return `${table}/${chain}`;
}
