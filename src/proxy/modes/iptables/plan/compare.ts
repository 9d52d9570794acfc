// Desired and known → operations, in order. Pure. The cost depends only on the compared keys.
import type { IptablesOperation } from '../../../../kernel/iptables/types.js';
import type { Family } from '../../../../kernel/net/address.js';
import { equalTexts } from '../../iptablesRules/plan/describe.js';
import type { Comparison, Desired } from '../../mode.js';
import {
  type ChainItem,
  chainKey,
  type Item,
  type RuleItem,
  ruleCountOf,
  type SharedChainItem,
  textsOf,
  withTexts,
} from './items.js';
import { ADDITIONS, type KernelCall, type Operation, type Phase, REMOVALS } from './operations.js';

/** Compares one key at a time. */
export function compare(
  desired: Desired<Item>,
  known: ReadonlyMap<string, Item>,
): Comparison<Item, Operation> {
  const phases = new Phases();
  return {
    look(key) {
      const want = desired.get(key);
      const have = known.get(key);
      if (want === have) return undefined;
      if (want && have && isSame(want, have)) return want;
      const operations = new KeyOperations(phases, key, want, have);
      if (want) operations.towards(want, have);
      else if (have && !isRemovedWithChain(have, desired, known)) operations.away(have);
      return undefined;
    },
    additions: () => phases.take(ADDITIONS),
    removals: () => phases.take(REMOVALS),
  };
}

/** Whether a desired item equals the known one. Not if the known item is foreign, or has rules that remain to be deleted. */
export function isSame(want: Item, have: Item): boolean {
  if ('foreign' in have && have.foreign) return false;
  switch (want.kind) {
    case 'sysctl':
      return have.kind === 'sysctl' && have.value === want.value;
    case 'chain':
      return have.kind === 'chain' && equalChains(want, have);
    case 'sharedChain':
      return have.kind === 'sharedChain' && !have.strays && equalTexts(want.tail, have.tail);
    case 'rule':
      return have.kind === 'rule' && equalTexts(textsOf(want), textsOf(have));
  }
}

/** Rules of a chain that is deleted are deleted with it. */
function isRemovedWithChain(have: Item, desired: Desired<Item>, known: ReadonlyMap<string, Item>): boolean {
  if (have.kind !== 'rule') return false;
  const key = chainKey(have.family, have.table, have.chain);
  const chain = known.get(key);
  return chain?.kind === 'sharedChain' && !chain.foreign && desired.get(key) === undefined;
}

/** Operations by phase. */
class Phases {
  readonly #phases: Readonly<Record<Phase, Operation[]>> = {
    settings: [],
    chains: [],
    rules: [],
    deleteRules: [],
    deleteChains: [],
  };

  push(operation: Operation): void {
    this.#phases[operation.phase].push(operation);
  }

  take(phases: readonly Phase[]): Operation[] {
    return phases.flatMap((phase) => this.#phases[phase].splice(0));
  }
}

/** The operations of one key. */
class KeyOperations {
  readonly #phases: Phases;
  readonly #key: string;
  readonly #service: string | undefined;

  constructor(phases: Phases, key: string, want: Item | undefined, have: Item | undefined) {
    this.#phases = phases;
    this.#key = key;
    this.#service = serviceOf(want) ?? serviceOf(have);
  }

  /** Creates or changes the item. */
  towards(want: Item, have: Item | undefined): void {
    switch (want.kind) {
      case 'sysctl':
        if (have?.kind === 'sysctl' && have.value === want.value) return;
        this.#push('settings', { on: 'sysctl', name: want.name, value: want.value }, want);
        return;
      case 'chain':
        if (have?.kind === 'chain' && equalChains(want, have)) return;
        this.#rules('chains', { do: 'setChain', chain: want }, want);
        return;
      case 'sharedChain':
        if (have?.kind === 'sharedChain') this.#tail(want, have);
        else this.#rules('chains', { do: 'setChain', chain: { ...want, rules: want.tail } }, want);
        return;
      case 'rule':
        this.#order(want, have?.kind === 'rule' ? have : undefined, textsOf(want));
    }
  }

  /** Removes the item, unless it is foreign or a setting. */
  away(have: Item): void {
    if (have.kind === 'sysctl' || have.foreign) return;
    if (have.kind === 'rule') this.#order(have, have, []);
    else this.#rules('deleteChains', { do: 'deleteChain', chain: have }, undefined);
  }

  /** The new rules of a tail are appended before the others are deleted: of equal rules, the first one is deleted. */
  #tail(want: SharedChainItem, have: SharedChainItem): void {
    const { family, table, name: chain } = want;
    const tail = [...have.tail];
    const strays = [...(have.strays ?? [])];
    const now = (): SharedChainItem => ({
      ...want,
      tail: [...tail],
      ...(strays.length > 0 && { strays: [...strays] }),
    });
    for (const text of want.tail.filter((rule) => !have.tail.includes(rule))) {
      tail.push(text);
      this.#rules('rules', { do: 'appendRule', rule: { family, table, chain, text } }, now());
    }
    const remove = (list: string[], text: string) => {
      list.splice(list.indexOf(text), 1);
      this.#rules('deleteRules', { do: 'deleteRule', rule: { family, table, chain, text } }, now());
    };
    for (const text of have.strays ?? []) remove(strays, text);
    for (const text of have.tail) if (!want.tail.includes(text)) remove(tail, text);
  }

  /** Rules of an item must be in order. They stay where they are if others only have to be inserted before them, or deleted. */
  #order(item: RuleItem, have: RuleItem | undefined, wanted: readonly string[]): void {
    const { family, table, chain, atEnd } = item;
    const known = have ? textsOf(have) : [];
    const isWanted = wanted.length === 1 ? (text: string) => text === wanted[0] : hasEach(wanted);
    const stale = known.filter((text) => !isWanted(text));
    const kept = known.filter(isWanted);
    const surplus = without(kept, wanted);
    const missing = wanted.length - kept.length;
    if (missing >= 0 && equalTexts(kept, wanted.slice(missing))) {
      // The rules of an item change together, or its key is unknown: each operation has the item after all of them.
      const becomes = withTexts(item, [...wanted, ...stale]);
      for (let first = missing - 1; first >= 0; first--) {
        const rule = { family, table, chain, text: wanted[first] as string };
        this.#rules('rules', { do: atEnd ? 'appendRule' : 'insertRule', rule }, becomes);
      }
    } else if (!equalTexts(without(kept, surplus), wanted)) {
      const rules = { family, table, chain, before: kept, after: wanted };
      this.#rules('rules', { do: 'replaceRules', rules }, withTexts(item, [...wanted, ...stale]));
      surplus.length = 0;
    }
    const rest = withTexts(item, wanted);
    for (const text of [...stale, ...surplus]) {
      const rule = { family, table, chain, text };
      this.#rules('deleteRules', { do: 'deleteRule', rule }, rest, serviceOf(have));
    }
  }

  #rules(
    phase: Phase,
    operation: IptablesOperation,
    becomes: Item | undefined,
    service = this.#service,
  ): void {
    this.#push(phase, { on: 'iptables', family: familyOf(operation), operation, service }, becomes);
  }

  #push(phase: Phase, call: KernelCall, becomes: Item | undefined): void {
    this.#phases.push({ key: this.#key, phase, call, becomes });
  }
}

function familyOf(operation: IptablesOperation): Family {
  if ('chain' in operation) return operation.chain.family;
  return 'rules' in operation ? operation.rules.family : operation.rule.family;
}

/** The texts that remain after a removal. Of equal texts, the first is removed. */
function without(texts: readonly string[], removed: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const text of removed) left.set(text, (left.get(text) ?? 0) + 1);
  return texts.filter((text) => {
    const count = left.get(text) ?? 0;
    if (count > 0) left.set(text, count - 1);
    return count === 0;
  });
}

/** Whether a text is one of these. */
function hasEach(texts: readonly string[]): (text: string) => boolean {
  const all = new Set(texts);
  return (text) => all.has(text);
}

function serviceOf(item: Item | undefined): string | undefined {
  return item && 'service' in item ? item.service : undefined;
}

function equalChains(want: ChainItem, have: ChainItem): boolean {
  if (want.hasSameRules?.(have)) return true;
  return ruleCountOf(want) === ruleCountOf(have) && equalTexts(want.rules, have.rules);
}
