// The rules of iptables mode in chains that ipvs mode has too serve traffic until ipvs mode replaces them: it does so only once the kernel has
// what all its Services need. With rules of nf_tables, those of another mode translate until chains keep them from it: likewise. As for the rest of a former mode, see `reconcile/formerModes.ts`.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { Result } from '../../shared/program/result.js';
import type { Item } from '../plan/items.js';
import type { Operation, Phase } from '../plan/operations.js';

/**
 * What all Services need, by the phase that makes it: without `conntrack=1` nothing is masqueraded, without the link no packet of this node
 * reaches IPVS, without sets and chains no packet is marked.
 */
const NEEDED: ReadonlySet<Phase> = new Set(['settings', 'link', 'sets', 'rules']);

type Send = (operations: readonly Operation[]) => Promise<Result[]>;

/** Holds the operations back that replace rules of another mode. */
export class HandOver {
  /** Keys of needed items that the kernel lacks. */
  #lacking = new Set<string>();
  /** Operations that add virtual services since {@link begin}. */
  #tried = 0;
  #refused = 0;

  /** A pass begins. @param unknown items whose last operation failed */
  begin(unknown: ReadonlyMap<string, Item | undefined>): void {
    this.#lacking = new Set();
    this.#tried = 0;
    this.#refused = 0;
    for (const [key, item] of unknown) if (isNeeded(item)) this.#lacking.add(key);
  }

  /** Applies operations of the pass, in order, with `send`. */
  async apply(operations: readonly Operation[], send: Send): Promise<Result[]> {
    const first = operations.findIndex(isReplacement);
    if (first < 0) return this.#noting(operations, send);
    let end = first + 1;
    while (end < operations.length && isReplacement(operations[end] as Operation)) end++;
    const replacements = operations.slice(first, end);
    const before = await this.#noting(operations.slice(0, first), send);
    const obstacle = this.#obstacle;
    const replaced =
      obstacle === undefined
        ? await send(replacements)
        : replacements.map((each) => heldBack(each, obstacle));
    return [...before, ...replaced, ...(await send(operations.slice(end)))];
  }

  async #noting(operations: readonly Operation[], send: Send): Promise<Result[]> {
    const results = await send(operations);
    for (const [i, { key, phase }] of operations.entries()) {
      const isRefused = results[i] !== undefined;
      if (NEEDED.has(phase)) {
        if (isRefused) this.#lacking.add(key);
        else this.#lacking.delete(key);
      } else if (phase === 'addServers') {
        this.#tried++;
        if (isRefused) this.#refused++;
      }
    }
    return results;
  }

  /** Why the rules stay; undefined: they need not. A single Service that the kernel refuses does not keep those of all others. */
  get #obstacle(): string | undefined {
    if (this.#lacking.size > 0) return [...this.#lacking].join(', ');
    if (2 * this.#refused > this.#tried) return 'the Services, most of which the kernel refuses';
    return undefined;
  }
}

function isReplacement({ phase }: Operation): boolean {
  return phase === 'replaceRules';
}

/** Not chains: one that is held back would hold the others back. */
function isNeeded(item: Item | undefined): boolean {
  return (
    item?.kind === 'sysctl' ||
    item?.kind === 'timeouts' ||
    item?.kind === 'link' ||
    item?.kind === 'set' ||
    item?.kind === 'table'
  );
}

function heldBack({ key, call }: Operation, obstacle: string): NetlinkError {
  const rules = call.on === 'iptables' ? 'the rules of iptables mode stay' : 'it is not added';
  const hint = `${rules} until the kernel has ${obstacle}`;
  return new NetlinkError({ code: 'ERR_HELD_BACK', operation: 'kernel.apply', target: key, hint });
}
