// The operations of the mode → those of the kernel, in order.

import type { Family } from '../../../../kernel/net/address.js';
import type { NewSet, NftablesOperation } from '../../../../kernel/nftables/types.js';
import { chainOperations, type NameOfSet } from '../../nftablesRules/plan/chains.js';
import { ADDRESS_TYPE, TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { shortSetName } from '../../nftablesRules/plan/setNames.js';
import { nameIn, setNamed, shapeOf } from './containers.js';
import { ElementChanges } from './elementChanges.js';
import { TABLE_COMMENT } from './fixedChains.js';
import { FLOW_TABLE_HOOK } from './flowTable.js';
import type { CounterItem, DeviceItem, FlowTableItem, SetItem } from './items.js';
import { FLOW_TABLE, TABLE } from './names.js';
import type { Operation } from './operations.js';

/**
 * The operations of the kernel for operations of the mode, which belong in one transaction. Elements that follow each other are merged: for each
 * set, one operation deletes all of them, and one adds all of them.
 */
export class KernelOperations {
  readonly #all: NftablesOperation[] = [];
  #elements = new ElementChanges();

  /** Adds those of an operation. @param nameOf the name in the kernel of a set of a rule; default the short one */
  add({ do: verb, item, from }: Operation, nameOf: NameOfSet = shortSetName): void {
    if (item.kind === 'element') {
      this.#elements.add(verb, item, from);
      return;
    }
    this.#endElements();
    for (const each of operationsOf(verb, item, nameOf)) this.#all.push(each);
  }

  /** All of them. Call it once. */
  take(): readonly NftablesOperation[] {
    this.#endElements();
    return this.#all;
  }

  #endElements(): void {
    if (this.#elements.isEmpty) return;
    for (const each of this.#elements.operations()) this.#all.push(each);
    this.#elements = new ElementChanges();
  }
}

/** The operations of the kernel for one operation. @param nameOf see {@link KernelOperations.add} */
export function kernelOperations(operation: Operation, nameOf?: NameOfSet): readonly NftablesOperation[] {
  const operations = new KernelOperations();
  operations.add(operation, nameOf);
  return operations.take();
}

function operationsOf(
  verb: Operation['do'],
  item: Exclude<Operation['item'], { kind: 'element' }>,
  nameOf: NameOfSet,
): NftablesOperation[] {
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
    case 'flowtable':
      return [flowTableOperation(verb, item)];
    case 'device':
      return [flowTableOperation(verb, item, [item.name])];
    case 'chain':
      return chainOperations(verb, nameIn(item.family, item.name), item, nameOf);
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

/** The flow table, or links of it: the kernel adds them to a flow table that exists. */
function flowTableOperation(
  verb: Operation['do'],
  { family }: FlowTableItem | DeviceItem,
  devices?: readonly string[],
): NftablesOperation {
  const name = nameIn(family, FLOW_TABLE);
  const hook = { priority: FLOW_TABLE_HOOK.priority, ...(devices && { devices }) };
  if (verb === 'delete') return { do: 'deleteFlowTable', flowTable: devices ? { ...name, ...hook } : name };
  return { do: 'addFlowTable', flowTable: { ...name, ...hook, flags: FLOW_TABLE_HOOK.flags } };
}

/** The set of an item, as the kernel has it. */
function setOf({ family, name, timeout }: SetItem): NewSet {
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
