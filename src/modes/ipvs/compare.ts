// Desired and known → operations, in order. Pure; its cost is that of the keys that are looked at.
import type { IpsetOperation, SetDefinition } from '../../kernel/ipset/types.js';
import type {
  AddressId,
  IpvsOperation,
  IpvsTimeouts,
  RealServer,
  VirtualService,
} from '../../kernel/ipvs/types.js';
import { familyOf } from '../../net/address.js';
import type { Comparison, Desired } from '../mode.js';
import {
  type Item,
  LINK,
  LINK_KEY,
  REBUILD,
  type SetItem,
  setKey,
  type VirtualServiceItem,
} from './items.js';
import { type KernelCall, type Operation, ORDER, type Phase } from './operations.js';
import { recordOf, recordsNaming } from './ownership.js';

/** Compares key by key. */
export function compare(
  desired: Desired<Item>,
  known: ReadonlyMap<string, Item>,
  unknown: ReadonlyMap<string, Item | undefined> = new Map(),
): Comparison<Operation> {
  const steps = new Steps();
  for (const [key, item] of unknown) {
    if (item?.kind === 'virtualService' && !desired.get(key)) steps.goes(item.service, key);
  }
  return {
    look(key) {
      const want = desired.get(key);
      const have = known.get(key);
      if (want?.kind === 'virtualService') {
        changeServer(steps, key, want, have?.kind === 'virtualService' ? have : undefined);
        return;
      }
      const step = want ? stepTowards(want, have) : have && stepAway(have, desired);
      if (step) steps.add(...step, key, want);
      else if (want?.kind === 'set' && have?.kind === 'set') rebuildSet(steps, key, want, have, desired);
    },
    operations: () => steps.ordered(known),
  };
}

/** Operations by phase. */
class Steps {
  readonly #phases = new Map<Phase, Operation[]>(ORDER.map((phase) => [phase, []]));
  /** Record of a virtual service that goes → the keys of those that it speaks of. */
  readonly #going = new Map<string, string[]>();

  add(phase: Phase, call: KernelCall, key: string, becomes: Item | undefined): void {
    this.#phases.get(phase)?.push({ key, phase, call, becomes });
    if (call.on !== 'ipvs' || call.operation.do !== 'deleteService') return;
    const { service } = call.operation;
    if (!('address' in service)) return;
    this.goes(service, key);
  }

  /** A virtual service of this key goes, in this pass or, while it is unknown, in a later one. */
  goes(service: AddressId, key: string): void {
    for (const record of recordsNaming(service)) {
      this.#going.set(record, [...(this.#going.get(record) ?? []), key]);
    }
  }

  ordered(known: ReadonlyMap<string, Item>): Operation[] {
    const entries = this.#phases.get('deleteEntries') ?? [];
    if (this.#going.size > 0) this.#phases.set('deleteEntries', this.#heldUntilGone(entries, known));
    return [...this.#phases.values()].flat();
  }

  /**
   * An entry that records a virtual service as ours stays until that service is gone: without it, a deletion that failed
   * would leave the service nobody's.
   */
  #heldUntilGone(entries: readonly Operation[], known: ReadonlyMap<string, Item>): Operation[] {
    return entries.map((operation) => {
      const item = known.get(operation.key);
      const after = item && this.#going.get(recordOf(item) ?? '');
      return after ? { ...operation, after } : operation;
    });
  }
}

type Step = readonly [phase: Phase, call: KernelCall];

/** The step that makes an item what it should be; undefined when it is so already. */
function stepTowards(want: Exclude<Item, VirtualServiceItem>, have: Item | undefined): Step | undefined {
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
      return have ? undefined : ['addEntries', ipset({ do: 'add', set: want.set, entry: want.entry })];
    case 'chain':
      if (have?.kind === 'chain' && equalTexts(want.rules, have.rules)) return undefined;
      return ['rules', { on: 'iptables', family: want.family, operation: { do: 'setChain', chain: want } }];
    case 'jump':
      if (have) return undefined;
      return ['rules', { on: 'iptables', family: want.family, operation: { do: 'insertJump', jump: want } }];
    case 'address':
      return have
        ? undefined
        : ['addAddresses', rtnetlink({ do: 'addAddress', address: bound(want.address) })];
    case 'nodeDrop':
      return undefined; // Stands in the kernel as text of a chain.
  }
}

/**
 * The step that removes an item; undefined for what is not ours, for settings, which stay as they are, and for what goes
 * with something else that goes: entries with their set, addresses with their device. While a node is proxied it always
 * wants its device, sets and chains: those steps are for cleaning up.
 */
function stepAway(have: Item, desired: Desired<Item>): Step | undefined {
  if ('foreign' in have && have.foreign) return undefined;
  switch (have.kind) {
    case 'entry':
      if (!desired.get(setKey(have.set.name))) return undefined;
      return ['deleteEntries', ipset({ do: 'delete', set: have.set, entry: have.entry })];
    case 'address':
      if (!desired.get(LINK_KEY)) return undefined;
      return ['deleteAddresses', rtnetlink({ do: 'deleteAddress', address: bound(have.address) })];
    case 'virtualService':
      // Its real servers go with it.
      return ['deleteServers', ipvs({ do: 'deleteService', service: have.service })];
    case 'chain':
      return [
        'deleteRules',
        { on: 'iptables', family: have.family, operation: { do: 'deleteChain', chain: have } },
      ];
    case 'jump':
      return [
        'deleteRules',
        { on: 'iptables', family: have.family, operation: { do: 'deleteJump', jump: have } },
      ];
    case 'set':
      return ['deleteSets', ipset({ do: 'destroy', name: have.set.name })];
    case 'link':
      return ['deleteLink', rtnetlink({ do: 'deleteLink', name: have.name })];
    case 'sysctl':
    case 'timeouts':
    case 'nodeDrop':
      return undefined;
  }
}

/**
 * A set that exists with other parameters cannot be changed. The right one is built beside it and swapped in, so that
 * rules that refer to it never see it incomplete.
 */
function rebuildSet(steps: Steps, key: string, want: SetItem, have: SetItem, desired: Desired<Item>): void {
  if (equalSets(want.set, have.set)) return;
  const set = { ...want.set, name: REBUILD };
  const add = (operation: IpsetOperation, becomes: Item) => steps.add('sets', ipset(operation), key, becomes);
  add({ do: 'create', set }, have);
  add({ do: 'flush', name: REBUILD }, have);
  for (const member of desired.group(want.set.name)) {
    const item = desired.get(member);
    if (item?.kind === 'entry') add({ do: 'add', set, entry: item.entry }, have);
  }
  add({ do: 'swap', name: REBUILD, other: want.set.name }, want);
  add({ do: 'destroy', name: REBUILD }, want);
}

function changeServer(
  steps: Steps,
  key: string,
  want: VirtualServiceItem,
  have: VirtualServiceItem | undefined,
): void {
  const { service } = want;
  // One of others' that a plan wants is taken over by an edit, whatever its settings: connections survive.
  if (!have || have.foreign || !equalSettings(service, have.service)) {
    const operation: IpvsOperation = { do: have ? 'updateService' : 'addService', service };
    const realServers = new Map(have?.realServers);
    steps.add('addServers', ipvs(operation), key, { ...want, realServers, changing: true });
  }
  for (const [id, realServer] of want.realServers) {
    const there = have?.realServers.get(id);
    if (there && equalRealServers(realServer, there)) continue;
    const operation: IpvsOperation = {
      do: there ? 'updateRealServer' : 'addRealServer',
      service,
      realServer,
    };
    steps.add('addServers', ipvs(operation), key, want);
  }
  for (const [id, realServer] of have?.realServers ?? []) {
    if (want.realServers.has(id)) continue;
    if (!mayDrain(want, id, realServer)) {
      steps.add('deleteServers', ipvs({ do: 'deleteRealServer', service, realServer }), key, want);
    } else if (realServer.weight !== 0) {
      const drained = { ...realServer, weight: 0 };
      steps.add('deleteServers', ipvs({ do: 'updateRealServer', service, realServer: drained }), key, want);
    }
  }
}

/**
 * Whether the connections of a real server that is no longer wanted are let run out: those of TCP, while its endpoint
 * is still there, and once it is draining whatever becomes of the endpoint. An endpoint that vanishes without notice is
 * gone: its connections are better reset than left to time out.
 */
function mayDrain({ service, drainable }: VirtualServiceItem, id: string, { weight }: RealServer): boolean {
  return service.protocol === 'tcp' && (weight === 0 || (drainable?.has(id) ?? false));
}

/**
 * Whether a wanted item can stand for the known one, between which no difference was found. Not where more is known than
 * is wanted: real servers that drain, a device or a chain that somebody else made, the size of a set, timeouts that stay as they are.
 */
export function isSame(want: Item, have: Item): boolean {
  if ('foreign' in have && have.foreign) return false;
  if (want.kind === 'virtualService') {
    return have.kind === 'virtualService' && want.realServers.size === have.realServers.size;
  }
  return want.kind !== 'set' && want.kind !== 'timeouts';
}

const ipvs = (operation: IpvsOperation): KernelCall => ({ on: 'ipvs', operation });
const ipset = (operation: IpsetOperation): KernelCall => ({ on: 'ipset', operation });
const rtnetlink = (operation: Extract<KernelCall, { on: 'rtnetlink' }>['operation']): KernelCall => ({
  on: 'rtnetlink',
  operation,
});

function bound(address: string) {
  return { link: LINK, address, prefix: familyOf(address) === 4 ? 32 : 128 };
}

/** The number of buckets is a matter of speed, not of state. */
function equalSets(a: SetDefinition, b: SetItem['set']): boolean {
  if (b.extended) return false;
  const same = a.type === b.type && a.family === b.family && a.maxElements === b.maxElements;
  return same && equalRanges(a, b);
}

function equalRanges({ range: a }: SetDefinition, { range: b }: SetDefinition): boolean {
  return a?.[0] === b?.[0] && a?.[1] === b?.[1];
}

/** Netmask and persistence engine are not compared, as kube-proxy does not: the kernel's are always those it was given. */
function equalSettings(a: VirtualService, b: VirtualService): boolean {
  return a.scheduler === b.scheduler && a.flags === b.flags && a.timeout === b.timeout;
}

function equalRealServers(a: RealServer, b: RealServer): boolean {
  return (
    a.weight === b.weight &&
    a.forwarding === b.forwarding &&
    a.upperThreshold === b.upperThreshold &&
    a.lowerThreshold === b.lowerThreshold
  );
}

function equalTimeouts(want: IpvsTimeouts, have: IpvsTimeouts): boolean {
  const kept = (wanted: number, had: number) => wanted === 0 || wanted === had;
  return kept(want.tcp, have.tcp) && kept(want.tcpFin, have.tcpFin) && kept(want.udp, have.udp);
}

function equalTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
