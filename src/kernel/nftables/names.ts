// The names of operations in errors and reports, in the notation of nft(8). Pure.
import { hasFields, shown } from '../shared/arguments.js';
import type { Naming } from '../shared/batch.js';
import type { Attempt } from '../shared/failures.js';
import { verbOf } from '../shared/reported.js';
import { hintFor } from './hints.js';
import type { NftablesOperation } from './types.js';

/** How operations of nftables are named. */
export const NAMING: Naming<NftablesOperation> = {
  family: 'nftables',
  attempt(operation) {
    if (!hasFields(operation)) return { operation: 'nftables.apply' };
    return {
      operation: `nftables.${verbOf(operation)}`,
      target: targetOf(operation),
      hint: (code: string) => hintFor(operation, code),
    };
  },
  nameOf: verbOf,
};

/** The attempt to read: `listRules` of `ip kube-proxy`. */
export function attemptToRead(verb: string, target?: string): Attempt {
  return { operation: `nftables.${verb}`, target };
}

/** The names in the notation of nft, with blanks between them: those that are given. Accepts values that break every rule. */
export function described(...names: readonly unknown[]): string {
  return names
    .filter((name) => name !== undefined)
    .map((name) => (typeof name === 'string' ? name : shown(name)))
    .join(' ');
}

interface Named {
  readonly family?: unknown;
  readonly table?: unknown;
  readonly chain?: unknown;
  readonly name?: unknown;
  readonly type?: unknown;
  readonly handle?: unknown;
}

/** The target of an operation: `chain ip kube-proxy services`. */
function targetOf(operation: NftablesOperation): string {
  const given = operation as unknown as Readonly<Record<string, Named | undefined>>;
  const { table, chain, rule, set, object, flowTable } = given;
  if (rule) {
    const { handle } = rule;
    const place = handle === undefined ? undefined : `handle ${numbered(handle)}`;
    return described('rule', rule.family, rule.table, rule.chain, place);
  }
  if (chain) return described('chain', chain.family, chain.table, chain.name);
  if (set) {
    const isOfElements = operation.do === 'addElements' || operation.do === 'deleteElements';
    return described(isOfElements ? 'element' : 'set', set.family, set.table, set.name);
  }
  if (flowTable) return described('flowtable', flowTable.family, flowTable.table, flowTable.name);
  if (object) return described(object.type, object.family, object.table, object.name);
  return described('table', table?.family, table?.name);
}

function numbered(handle: unknown): string {
  return typeof handle === 'bigint' ? String(handle) : shown(handle);
}
