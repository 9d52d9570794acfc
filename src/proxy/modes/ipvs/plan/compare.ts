// Desired and known → operations, in order. Pure. The cost depends only on the compared keys.
import type {
  IpsetOperation,
  SetDefinition,
  SetEntry,
  SetReference,
} from '../../../../kernel/ipset/types.js';
import type { Chain } from '../../../../kernel/iptables/types.js';
import type { AddressId, IpvsTimeouts } from '../../../../kernel/ipvs/types.js';
import { noChange } from '../../../../kernel/ipvs/values/serverLists.js';
import { familyOf } from '../../../../kernel/net/address.js';
import { equalTexts } from '../../iptablesRules/plan/describe.js';
import type { Comparison, Desired } from '../../mode.js';
import { compareServer, isSameServer } from './compareServer.js';
import { isInTable, isSamePart, stepAwayFromPart, stepTowardsPart } from './compareTable.js';
import type { IsProtected } from './excluded.js';
import {
  type Item,
  LINK,
  LINK_KEY,
  REBUILD,
  type SetItem,
  setKey,
  type TableChain,
  type TableItem,
  type VirtualServiceItem,
} from './items.js';
import {
  ADDITIONS,
  type KernelCall,
  type Operation,
  ORDER,
  type Phase,
  REMOVALS,
  serverOperation,
} from './operations.js';
import type { IpvsOptions } from './options.js';
import { recordOf, recordsNaming } from './ownership.js';
import { CHAINS, FIREWALLS } from './rules.js';
import { isForeignSet, setOf as referenceOf } from './sets.js';
import { lowerLink, raiseLink, routeOf, ruleOf, type TunnelLink } from './tunnels.js';

/**
 * Compares one key at a time.
 *
 * @param isProtected items that are not deleted when no plan has them any more
 * @param usable a virtual service as this kernel can have it now; default: as it is desired
 * @param rules see {@link IpvsOptions.rules}
 */
export function compare(
  desired: Desired<Item>,
  known: ReadonlyMap<string, Item>,
  unknown: ReadonlyMap<string, Item | undefined>,
  isProtected: IsProtected,
  usable: (want: VirtualServiceItem, have: VirtualServiceItem | undefined) => VirtualServiceItem = (want) =>
    want,
  rules: IpvsOptions['rules'] = 'iptables',
): Comparison<Item, Operation> {
  const phases = new Phases();
  for (const [key, item] of unknown) {
    if (item?.kind === 'virtualService' && !desired.get(key)) phases.leaves(item.service, key);
  }
  return {
    look(key) {
      const want = desired.get(key);
      const have = known.get(key);
      if (want === have) return undefined;
      if (want && have && isSame(want, have)) return want;
      if (want?.kind === 'virtualService') {
        const there = have?.kind === 'virtualService' ? have : undefined;
        compareServer(phases, key, usable(want, there), there);
      } else if (want?.kind === 'tunnelLink') {
        if (have?.kind !== 'tunnelLink' || !have.whole)
          for (const one of raiseLink(want)) phases.add('addAddresses', rtnetlink(one), key, want);
      } else if (want && isInTable(want, rules)) {
        const step = stepTowardsPart(want, have);
        if (step) phases.add(...step, key, want);
      } else if (want) {
        const step = stepTowards(want, have);
        if (step) phases.add(...step, key, want);
        else if (want.kind === 'set' && have?.kind === 'set') rebuildSet(phases, key, want, have, desired);
      } else if (have === undefined || isProtected(have)) {
        return undefined;
      } else if (have.kind === 'virtualService') {
        if (!have.foreign) phases.deleteServer(key, have);
      } else if (have.kind === 'tunnelLink') {
        for (const one of lowerLink(have)) phases.add('deleteAddresses', rtnetlink(one), key, undefined);
      } else {
        const step = isInTable(have, rules) ? stepAwayFromPart(have, desired) : stepAway(have, desired);
        if (step) phases.add(...step, key, undefined);
      }
      return undefined;
    },
    additions: () => phases.additions(),
    removals: () => phases.removals(known),
  };
}

/** Operations by phase. */
class Phases {
  /** Lists of operations. Entries of each set have one of their own: libipset sends them in one message. */
  readonly #phases = new Map<Phase, Map<string, Operation[]>>(ORDER.map((phase) => [phase, new Map()]));
  /** Record of deleted virtual services → their keys. */
  readonly #leaving = new Map<string, string[]>();

  push(operation: Operation): void {
    const lists = this.#phases.get(operation.phase);
    const name = setOf(operation);
    const list = lists?.get(name);
    if (list) list.push(operation);
    else lists?.set(name, [operation]);
  }

  add(phase: Phase, call: KernelCall, key: string, becomes: Item | undefined): void {
    this.push({ key, phase, size: 1, call, becomes });
  }

  /** The kernel also deletes its real servers. */
  deleteServer(key: string, { service }: VirtualServiceItem): void {
    const change = { ...noChange(service), verb: 'deleteService' } as const;
    this.push(serverOperation('deleteServers', key, change, undefined));
    this.leaves(service, key);
  }

  /** A virtual service is deleted: in this pass, or in a later one while it is unknown. */
  leaves(service: AddressId, key: string): void {
    for (const record of recordsNaming(service)) {
      const keys = this.#leaving.get(record);
      if (keys) keys.push(key);
      else this.#leaving.set(record, [key]);
    }
  }

  additions(): Operation[] {
    return joined(ADDITIONS.map((phase) => this.#take(phase)));
  }

  removals(known: ReadonlyMap<string, Item>): Operation[] {
    const lists = REMOVALS.map((phase) => {
      const operations = this.#take(phase);
      const held = phase === 'deleteEntries' && this.#leaving.size > 0;
      return held ? this.#heldUntilGone(operations, known) : operations;
    });
    return joined(lists);
  }

  #take(phase: Phase): Operation[] {
    const lists = [...(this.#phases.get(phase) ?? [])];
    this.#phases.get(phase)?.clear();
    if (phase === 'deleteEntries') lists.sort(([a], [b]) => Number(isFirewall(b)) - Number(isFirewall(a)));
    return joined(lists.map(([, list]) => list));
  }

  /**
   * An entry that records a virtual service as ours is deleted only after that service. Otherwise, if the deletion of
   * the service failed, the service would no longer be recognised as ours.
   */
  #heldUntilGone(entries: readonly Operation[], known: ReadonlyMap<string, Item>): Operation[] {
    return entries.map((operation) => {
      const item = known.get(operation.key);
      const after = item && this.#leaving.get(recordOf(item) ?? '');
      return after ? { ...operation, after } : operation;
    });
  }
}

/** Whether a set has the load balancers with source ranges. Their entries go before the ranges: without any, all clients are refused. */
function isFirewall(set: string): boolean {
  return ([4, 6] as const).some((family) => referenceOf('KUBE-LOAD-BALANCER-FW', family).name === set);
}

/** Name of the set whose entry an operation adds or deletes; empty for other operations. */
function setOf({ phase, call }: Operation): string {
  if (phase !== 'addEntries' && phase !== 'deleteEntries') return '';
  return call.on === 'ipset' && 'set' in call.operation ? call.operation.set.name : '';
}

/** The lists as one. concat() copies without a call for each operation: there may be hundreds of thousands. */
function joined(lists: readonly Operation[][]): Operation[] {
  return ([] as Operation[]).concat(...lists);
}

type Step = readonly [phase: Phase, call: KernelCall];

/** An item that one call adds, changes or removes. */
type SimpleItem = Exclude<Item, VirtualServiceItem | TunnelLink | TableItem | TableChain>;

/** The call that creates or updates an item; undefined if it is as desired. */
function stepTowards(want: SimpleItem, have: Item | undefined): Step | undefined {
  switch (want.kind) {
    case 'sysctl':
      if (have?.kind === 'sysctl' && have.value === want.value) return undefined;
      return ['settings', { on: 'sysctl', name: want.name, value: want.value }];
    case 'timeouts':
      if (have?.kind === 'timeouts' && equalTimeouts(want, have)) return undefined;
      return ['settings', { on: 'timeouts', timeouts: want }];
    case 'link':
      return have ? undefined : ['link', rtnetlink({ do: 'addLink', name: want.name, kind: 'dummy' })];
    case 'set':
      return have ? undefined : ['sets', ipset({ do: 'create', set: want.set })];
    case 'entry':
      return have ? undefined : ['addEntries', ipset(entryChange('add', want.set, want.entry))];
    case 'chain':
      if (have?.kind === 'chain' && equalTexts(want.rules, have.rules)) return undefined;
      return [
        phaseOfChain(want, have?.kind === 'chain' ? have : undefined),
        { on: 'iptables', family: want.family, operation: { do: 'setChain', chain: want } },
      ];
    case 'jump':
      if (have) return undefined;
      return ['rules', { on: 'iptables', family: want.family, operation: { do: 'insertRule', rule: want } }];
    case 'address':
      return have
        ? undefined
        : ['addAddresses', rtnetlink({ do: 'addAddress', address: bound(want.address) })];
    case 'tunnelRule':
      return have ? undefined : ['link', rtnetlink({ do: 'addRule', rule: ruleOf(want) })];
    case 'tunnelRoute':
      return have ? undefined : ['addAddresses', rtnetlink({ do: 'addRoute', route: routeOf(want) })];
    case 'nodeDrop':
    case 'shortcut':
      return undefined; // It is a rule of a chain.
  }
}

/** The entry of an item is of the type of the item's set. */
function entryChange(verb: 'add' | 'delete', set: SetReference, entry: SetEntry): IpsetOperation {
  return { do: verb, set, entry } as IpsetOperation;
}

/**
 * When a chain gets its rules. A firewall that only loses some loses them last: they drop packets of excluded clients to virtual services that
 * are deleted in the same pass. All others are changed by one restore.
 */
function phaseOfChain(want: Chain, have: Chain | undefined): Phase {
  if (!have) return 'rules';
  if (leadsToOthers(have)) return 'replaceRules';
  if (!FIREWALLS.includes(want.name)) return 'rules';
  let left = 0;
  for (const rule of have.rules) if (rule === want.rules[left]) left++;
  return left === want.rules.length ? 'deleteRules' : 'rules';
}

/** Whether a rule jumps to a chain of Kubernetes that ipvs mode does not have: one of iptables mode. */
function leadsToOthers({ table, rules }: Chain): boolean {
  return rules.some((rule) => {
    const target = /-j (KUBE-\S+)/.exec(rule)?.[1];
    return target !== undefined && !CHAINS[table].includes(target);
  });
}

/**
 * The call that removes an item. Undefined for foreign items, for settings, and for items that are removed with
 * another: entries with their set, addresses with their link. Links, sets and chains are removed only in a clean-up.
 */
function stepAway(have: SimpleItem, desired: Desired<Item>): Step | undefined {
  if ('foreign' in have && have.foreign) return undefined;
  switch (have.kind) {
    case 'entry':
      if (!desired.get(setKey(have.set.name))) return undefined;
      return ['deleteEntries', ipset(entryChange('delete', have.set, have.entry))];
    case 'address':
      if (!desired.get(LINK_KEY)) return undefined;
      return ['deleteAddresses', rtnetlink({ do: 'deleteAddress', address: bound(have.address) })];
    case 'chain':
      return [
        'deleteRules',
        { on: 'iptables', family: have.family, operation: { do: 'deleteChain', chain: have } },
      ];
    case 'jump':
      return [
        'deleteRules',
        { on: 'iptables', family: have.family, operation: { do: 'deleteRule', rule: have } },
      ];
    case 'set':
      return isForeignSet(have.set)
        ? undefined
        : ['deleteSets', ipset({ do: 'destroy', name: have.set.name })];
    case 'link':
      return ['deleteLink', rtnetlink({ do: 'deleteLink', link: have.name })];
    // The rules are the last: they say that the rest is ours.
    case 'tunnelRule':
      return ['deleteLink', rtnetlink({ do: 'deleteRule', rule: ruleOf(have) })];
    case 'tunnelRoute':
      return ['deleteAddresses', rtnetlink({ do: 'deleteRoute', route: routeOf(have) })];
    case 'sysctl':
    case 'timeouts':
    case 'nodeDrop':
    case 'shortcut':
      return undefined;
  }
}

/**
 * The parameters of an existing set cannot be changed. A new set is filled and swapped with it, so that rules never
 * match an incomplete set.
 */
function rebuildSet(phases: Phases, key: string, want: SetItem, have: SetItem, desired: Desired<Item>): void {
  if (equalSets(want.set, have.set)) return;
  const set = { ...want.set, name: REBUILD };
  const add = (operation: IpsetOperation, becomes: Item) =>
    phases.add('sets', ipset(operation), key, becomes);
  add({ do: 'create', set }, have);
  add({ do: 'flush', name: REBUILD }, have);
  for (const member of desired.group(want.set.name)) {
    const item = desired.get(member);
    if (item?.kind === 'entry') add(entryChange('add', set, item.entry), have);
  }
  add({ do: 'swap', name: REBUILD, other: want.set.name }, want);
  add({ do: 'destroy', name: REBUILD }, want);
}

/**
 * Whether a desired item equals the known one. Not if the known item has more state: draining real servers, a foreign link or chain,
 * the size of a set, unchanged timeouts.
 */
function isSame(want: Item, have: Item): boolean {
  if (want.kind !== have.kind || ('foreign' in have && have.foreign)) return false;
  switch (want.kind) {
    case 'virtualService':
      return have.kind === 'virtualService' && isSameServer(want, have);
    case 'sysctl':
      return have.kind === 'sysctl' && have.value === want.value;
    case 'chain':
      return have.kind === 'chain' && equalTexts(want.rules, have.rules);
    case 'tunnelLink':
      return have.kind === 'tunnelLink' && have.whole === want.whole;
    case 'table':
    case 'tableChain':
    case 'shortcut':
      return isSamePart(want, have);
    case 'set':
    case 'timeouts':
      return false;
    default:
      return true; // The key has all fields.
  }
}

const ipset = (operation: IpsetOperation): KernelCall => ({ on: 'ipset', operation });
const rtnetlink = (operation: Extract<KernelCall, { on: 'rtnetlink' }>['operation']): KernelCall => ({
  on: 'rtnetlink',
  operation,
});

function bound(address: string) {
  return { link: LINK, address, prefix: familyOf(address) === 4 ? 32 : 128 };
}

/** The number of buckets is not compared: it affects only speed. */
function equalSets(a: SetDefinition, b: SetItem['set']): boolean {
  if (b.extended) return false;
  const same = a.type === b.type && a.family === b.family && a.maxElements === b.maxElements;
  return same && equalRanges(a, b);
}

function equalRanges({ range: a }: SetDefinition, { range: b }: SetDefinition): boolean {
  return a?.[0] === b?.[0] && a?.[1] === b?.[1];
}

function equalTimeouts(want: IpvsTimeouts, have: IpvsTimeouts): boolean {
  const kept = (wanted: number, had: number) => wanted === 0 || wanted === had;
  return kept(want.tcp, have.tcp) && kept(want.tcpFin, have.tcpFin) && kept(want.udp, have.udp);
}
