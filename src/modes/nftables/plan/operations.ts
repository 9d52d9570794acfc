// The operations of nftables mode, and their order.
import type {
  ElementName,
  NewElement,
  NewSet,
  NftablesOperation,
  SetName,
  SetShape,
  Value,
} from '../../../kernel/nftables/types.js';
import type { Family } from '../../../net/address.js';
import {
  ADDRESS_TYPE,
  keyOfText,
  type NamedSet,
  type SlotMap,
  setNamed,
  slotMapOf,
  TABLE_FAMILY,
} from './containers.js';
import { isOptionalChain, TABLE_COMMENT } from './fixedChains.js';
import type { ChainItem, CounterItem, ElementItem, Item, SetItem } from './items.js';
import { isOfService, TABLE } from './names.js';
import { isSharedChain } from './sharedChains.js';
import { BalancedElement, eachSlotChange, hasSlots, LooseElement } from './slots.js';

/**
 * The order of the phases that add or change. A chain precedes the chains and the elements that lead to it: packets never meet a Service
 * that is half written.
 */
export const ADDITIONS = [
  'tables',
  'sets',
  'counters',
  'endpointChains',
  'serviceChains',
  'externalChains',
  'nodeChains',
  'baseChains',
  'elements',
] as const;

/** The order of the phases that remove, the reverse. They follow all additions of a pass. */
export const REMOVALS = [
  'deleteElements',
  'deleteNodeChains',
  'deleteExternalChains',
  'deleteServiceChains',
  'deleteEndpointChains',
  'deleteCounters',
  'deleteSets',
  'deleteTables',
] as const;

/** The order of all phases. */
export const ORDER = [...ADDITIONS, ...REMOVALS] as const;

/** A phase of {@link ORDER}. */
export type Phase = (typeof ORDER)[number];

/** One operation: the change of one item. */
export interface Operation {
  readonly key: string;
  readonly phase: Phase;
  /** `replace`: it is deleted, and made anew, in one transaction. A chain that is added loses the rules that it has. */
  readonly do: 'add' | 'replace' | 'delete';
  /** The item that is added or deleted. */
  readonly item: Item;
  /** The known item, if it is an element with endpoints in slots: only the slots that differ are written. */
  readonly from?: Item | undefined;
  /** `namespace/name`; undefined for items of the node and for those that were only read. */
  readonly service: string | undefined;
  /** The item afterwards; undefined if it is removed. */
  readonly becomes: Item | undefined;
}

/** The phase that adds an item. */
export function additionPhase(item: Item): Phase {
  switch (item.kind) {
    case 'table':
      return 'tables';
    case 'set':
      return 'sets';
    case 'counter':
      return 'counters';
    case 'element':
      return 'elements';
    case 'chain':
      if (item.base) return 'baseChains';
      return isOfService(item.name) || isSharedChain(item.name) ? `${roleOf(item.name)}Chains` : 'nodeChains';
  }
}

/** The phase that removes an item. */
export function removalPhase(item: Item): Phase {
  switch (item.kind) {
    case 'table':
      return 'deleteTables';
    case 'set':
      return 'deleteSets';
    case 'counter':
      return 'deleteCounters';
    case 'element':
      return 'deleteElements';
    case 'chain':
      return isOptionalChain(item.name) ? 'deleteNodeChains' : REMOVAL_OF_CHAIN[roleOf(item.name)];
  }
}

const REMOVAL_OF_CHAIN = {
  external: 'deleteExternalChains',
  service: 'deleteServiceChains',
  endpoint: 'deleteEndpointChains',
} as const;

/**
 * The chains to which a chain of a Service leads: `external` to `service`, this to `endpoint`. Those of source ranges lead to none. Shared
 * chains: `external` to `balance`, which leads to none.
 */
function roleOf(name: string): keyof typeof REMOVAL_OF_CHAIN {
  if (name.startsWith('endpoint-')) return 'endpoint';
  return /^(service|local|balance)-/.test(name) ? 'service' : 'external';
}

/** The operations of the kernel for an operation, in order. All of them belong in one transaction. */
export function kernelOperations({ do: verb, item, from }: Operation): NftablesOperation[] {
  switch (item.kind) {
    case 'table':
      return tableOperations(verb, item.family);
    case 'set':
      return [
        verb === 'delete'
          ? { do: 'deleteSet', set: nameIn(item.family, item.name) }
          : { do: 'addSet', set: setOf(item) },
      ];
    case 'counter':
      return [counterOperation(verb, item)];
    case 'chain':
      return chainOperations(verb, item);
    case 'element':
      return elementOperations(verb, item, from);
  }
}

function tableOperations(verb: Operation['do'], family: Family): NftablesOperation[] {
  const table = { family: TABLE_FAMILY[family], name: TABLE };
  const operations: NftablesOperation[] = [];
  if (verb !== 'add') operations.push({ do: 'deleteTable', table });
  if (verb !== 'delete') operations.push({ do: 'addTable', table: { ...table, comment: TABLE_COMMENT } });
  return operations;
}

/** A counter that exists stays as it is. */
function counterOperation(verb: Operation['do'], { family, name }: CounterItem): NftablesOperation {
  const object = { ...nameIn(family, name), type: 'counter' } as const;
  return verb === 'delete' ? { do: 'deleteObject', object } : { do: 'addObject', object };
}

function nameIn(family: Family, name: string) {
  return { family: TABLE_FAMILY[family], table: TABLE, name } as const;
}

/** The set of an item, as the kernel has it. */
export function setOf({ family, name, timeout }: SetItem): NewSet {
  const named = nameIn(family, name);
  const set = setNamed(family, name);
  if (set) return { ...named, ...shapeOf(set), comment: set.comment };
  return {
    ...named,
    key: ADDRESS_TYPE[family],
    flags: ['dynamic', 'timeout'],
    ...(timeout !== undefined && { timeout: BigInt(timeout) * 1000n }),
  };
}

/** All its rules are written: a chain that exists is emptied first. */
function chainOperations(verb: Operation['do'], item: ChainItem): NftablesOperation[] {
  const chain = nameIn(item.family, item.name);
  const operations: NftablesOperation[] = [];
  if (verb !== 'add') operations.push({ do: 'flushChain', chain }, { do: 'deleteChain', chain });
  if (verb === 'delete') return operations;
  const { base, comment } = item;
  operations.push({
    do: 'addChain',
    chain: { ...chain, ...(base && { base }), ...(comment !== undefined && { comment }) },
  });
  if (verb === 'add') operations.push({ do: 'flushChain', chain });
  for (const { expressions, comment } of item.rules) {
    const { family, table, name } = chain;
    operations.push({
      do: 'addRule',
      rule: { family, table, chain: name, expressions, ...(comment !== undefined && { comment }) },
    });
  }
  return operations;
}

/** What the elements of a set are. */
function shapeOf({ key, data, keyExpressions, dataExpressions }: NamedSet): SetShape {
  return {
    key,
    ...(data !== undefined && { data }),
    ...(keyExpressions && { keyExpressions }),
    ...(dataExpressions && { dataExpressions }),
  };
}

/** The sets of elements, as operations name them. They are frozen: the client then checks each only once. */
const TARGETS = new WeakMap<NamedSet, SetName>();

function targetOf(set: NamedSet): SetName {
  const known = TARGETS.get(set);
  if (known) return known;
  const target = { ...nameIn(set.family, set.name), ...shapeOf(set) };
  for (const part of [target, ...Object.values(target)]) Object.freeze(part);
  TARGETS.set(set, target);
  return target;
}

/** Slots are changed with the element that leads to them, in one transaction. */
function elementOperations(
  verb: Operation['do'],
  item: ElementItem,
  from: Item | undefined,
): NftablesOperation[] {
  const isDeleted = verb === 'delete';
  const { container, text, verdict, comment } = item;
  const key = keyOfText(container, text);
  const map = slotMapOf(container, text);
  const change = isDeleted ? { from: item, to: undefined } : { from, to: item };
  const operations = map ? slotOperations(map, key as readonly Value[], change) : [];
  const before = from?.kind === 'element' && !isAbsent(from) ? from : undefined;
  if (!isDeleted && before?.verdict === verdict && before.comment === comment) return operations;
  const { data } = container;
  const set = targetOf(container);
  const element = { key };
  const isThere = isDeleted ? !isAbsent(item) : verb === 'replace' && !(from && isAbsent(from));
  if (isThere) operations.push({ do: 'deleteElements', set, elements: [element] });
  if (isDeleted) return operations;
  const written = {
    ...element,
    ...(data !== undefined && { data: verdictOf(verdict) }),
    ...(comment !== undefined && { comment }),
  };
  operations.push({ do: 'addElements', set, elements: [written] });
  return operations;
}

function isAbsent(item: Item): boolean {
  return item instanceof LooseElement && item.isAbsent;
}

/** The operations for the slots of a frontend, which are all in one map. @param frontend the key of its element */
function slotOperations(
  map: SlotMap,
  frontend: readonly Value[],
  { from, to }: { readonly from: Item | undefined; readonly to: Item | undefined },
): NftablesOperation[] {
  if (!(hasSlots(from) || hasSlots(to))) return [];
  const endpoints = to instanceof BalancedElement ? to.endpoints : undefined;
  const emptied: ElementName[] = [];
  const filled: NewElement[] = [];
  eachSlotChange(from, to, (slot, empties, place) => {
    const key = frontend.concat(slot);
    if (empties) emptied.push({ key });
    if (place !== undefined && endpoints)
      filled.push({ key, data: [endpoints.addressAt(place), endpoints.portAt(place)] });
  });
  const operations: NftablesOperation[] = [];
  const set = targetOf(map);
  if (emptied.length > 0) operations.push({ do: 'deleteElements', set, elements: emptied });
  if (filled.length > 0) operations.push({ do: 'addElements', set, elements: filled });
  return operations;
}

/** The verdict of an element that is written. */
function verdictOf(verdict: string) {
  return verdict === 'drop' ? ({ verdict } as const) : ({ verdict: 'goto', chain: verdict } as const);
}
