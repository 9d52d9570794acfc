// Notifications of the multicast group `NFNLGRP_NFTABLES`.
import { MESSAGE } from '../numbers.js';
import type { NftablesEvent } from '../types.js';
import { readElementsOfEvent, readElementsSet } from './elements.js';
import { readFlowTable } from './flowTables.js';
import { readSet } from './sets.js';
import { readChain, readGeneration, readObject, readRule, readTable } from './tables.js';

/** What a notification tells; undefined for objects that this library does not have. */
export function readEvent(
  { type, payload }: { readonly type: number; readonly payload: Uint8Array },
  operation = 'nftables.watch',
): NftablesEvent | undefined {
  switch (type & 0xff) {
    case MESSAGE.newTable:
      return { kind: 'table', change: 'new', table: readTable(payload, operation) };
    case MESSAGE.deleteTable:
      return { kind: 'table', change: 'deleted', table: readTable(payload, operation) };
    case MESSAGE.newChain:
      return { kind: 'chain', change: 'new', chain: readChain(payload, operation) };
    case MESSAGE.deleteChain:
      return { kind: 'chain', change: 'deleted', chain: readChain(payload, operation) };
    case MESSAGE.newRule:
      return { kind: 'rule', change: 'new', rule: readRule(payload, operation) };
    case MESSAGE.deleteRule:
      return { kind: 'rule', change: 'deleted', rule: readRule(payload, operation) };
    case MESSAGE.newSet:
      return { kind: 'set', change: 'new', set: readSet(payload, operation) };
    case MESSAGE.deleteSet:
      return { kind: 'set', change: 'deleted', set: readSet(payload, operation) };
    case MESSAGE.newElements:
      return elements('new', payload, operation);
    case MESSAGE.deleteElements:
      return elements('deleted', payload, operation);
    case MESSAGE.newObject:
      return { kind: 'object', change: 'new', object: readObject(payload, operation) };
    case MESSAGE.deleteObject:
      return { kind: 'object', change: 'deleted', object: readObject(payload, operation) };
    case MESSAGE.newFlowTable:
      return { kind: 'flowTable', change: 'new', flowTable: readFlowTable(payload, operation) };
    case MESSAGE.deleteFlowTable:
      return { kind: 'flowTable', change: 'deleted', flowTable: readFlowTable(payload, operation) };
    case MESSAGE.newGeneration:
      return { kind: 'generation', generation: readGeneration(payload, operation) };
    default:
      return undefined;
  }
}

function elements(change: 'new' | 'deleted', payload: Uint8Array, operation: string): NftablesEvent {
  const set = readElementsSet(payload, operation);
  return { kind: 'elements', change, set, elements: [...readElementsOfEvent(payload, operation)] };
}
