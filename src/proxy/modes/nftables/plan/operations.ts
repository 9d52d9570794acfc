// The operations of nftables mode, and their order.
import { isOptionalChain } from './fixedChains.js';
import type { Item } from './items.js';
import { isOfService } from './names.js';
import { isSharedChain } from './sharedChains.js';

/**
 * The order of the phases that add or change. A chain precedes the chains and the elements that lead to it: packets never meet a Service
 * that is half written.
 */
export const ADDITIONS = [
  'tables',
  'sets',
  'counters',
  'flowTables',
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
  'deleteFlowTables',
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
    case 'flowtable':
    case 'device':
      return 'flowTables';
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
    case 'flowtable':
    case 'device':
      return 'deleteFlowTables';
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
