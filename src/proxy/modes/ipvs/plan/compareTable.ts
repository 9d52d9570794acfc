// Items of the table of nf_tables, desired and known → their operations. Pure.
import type { Desired } from '../../mode.js';
import { sameBase } from '../../nftablesRules/plan/chains.js';
import { sameRules } from '../../nftablesRules/plan/sameRules.js';
import { type Entry, type Item, keyOf, type TableChain, type TableItem, tableKey } from './items.js';
import type { KernelCall, Phase } from './operations.js';
import type { IpvsOptions } from './options.js';
import { setOf } from './sets.js';
import { type ElementItem, familyOfElement, isElement } from './table.js';
import { followsServers } from './tableChains.js';

/** An item in the table. */
export type TablePart = TableItem | TableChain | ElementItem;

/** Whether an item is in the table: those that are elements are in ipsets, or rules, with rules of iptables. */
export function isInTable(item: Item, rules: IpvsOptions['rules']): item is TablePart {
  if (item.kind === 'table' || item.kind === 'tableChain') return true;
  return rules === 'nftables' && isElement(item);
}

/** Whether a desired item equals the known one. */
export function isSamePart(want: TablePart, have: Item): boolean {
  return changeTowards(want, have) === undefined;
}

function changeTowards(want: TablePart, have: Item | undefined): 'add' | 'replace' | undefined {
  if (have?.kind !== want.kind) return 'add';
  switch (want.kind) {
    case 'table':
      return have.kind === 'table' && have.stale ? 'replace' : undefined;
    case 'tableChain':
      if (have.kind !== 'tableChain' || !sameBase(want.base, have.base)) return 'replace';
      return sameRules(want.rules, have.rules) ? undefined : 'add';
    case 'shortcut': {
      const isSame =
        have.kind === 'shortcut' &&
        have.clusterIP === want.clusterIP &&
        have.clusterPort === want.clusterPort;
      return isSame ? undefined : 'replace';
    }
    case 'entry':
    case 'nodeDrop':
      return undefined; // The key has all fields.
  }
}

type Step = readonly [phase: Phase, call: KernelCall];

/** The call that adds or changes an item; undefined if it is as desired. */
export function stepTowardsPart(want: TablePart, have: Item | undefined): Step | undefined {
  const verb = changeTowards(want, have);
  if (!verb) return undefined;
  switch (want.kind) {
    case 'table':
      return ['sets', { on: 'nftables', family: want.family, change: { do: verb, item: want } }];
    case 'tableChain': {
      const phase = !have && followsServers(want) ? 'replaceRules' : 'rules';
      return [phase, { on: 'nftables', family: want.family, change: { do: verb, item: want } }];
    }
    default:
      return [
        'addEntries',
        { on: 'nftables', family: familyOfElement(want), change: { do: verb, item: want } },
      ];
  }
}

/** The call that removes an item; undefined if it is removed with the table. */
export function stepAwayFromPart(have: TablePart, desired: Desired<Item>): Step | undefined {
  const isTable = have.kind === 'table' || have.kind === 'tableChain';
  const family = isTable ? have.family : familyOfElement(have);
  const call: KernelCall = { on: 'nftables', family, change: { do: 'delete', item: have } };
  if (have.kind === 'table') return ['deleteSets', call];
  if (!desired.get(tableKey(family))) return undefined;
  if (have.kind === 'tableChain') return ['deleteRules', call];
  return [isReplacedRange(have, desired) ? 'addEntries' : 'deleteEntries', call];
}

/**
 * Whether an item is a source range of a load balancer that still has some. It is deleted in the transaction that adds others: the kernel refuses a range
 * that overlaps one of the set.
 */
function isReplacedRange(have: ElementItem, desired: Desired<Item>): boolean {
  if (have.kind !== 'entry' || have.set.type !== 'hash:ip,port,net') return false;
  const { address, protocol, port } = have.entry;
  const set = setOf('KUBE-LOAD-BALANCER-FW', familyOfElement(have));
  const firewall = { kind: 'entry', set, entry: { address, protocol, port } } as Entry;
  return desired.get(keyOf(firewall)) !== undefined;
}
