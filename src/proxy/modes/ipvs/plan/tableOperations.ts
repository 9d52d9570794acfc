// Changes of the table of a family → the operations of one transaction.
import type { Family } from '../../../../kernel/net/address.js';
import type {
  ElementName,
  NewElement,
  NftablesOperation,
  SetName,
} from '../../../../kernel/nftables/types.js';
import { chainOperations } from '../../nftablesRules/plan/chains.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { TABLE } from './items.js';
import type { TableChange } from './operations.js';
import { elementsOf, nameIn, TABLE_COMMENT, TABLE_SETS } from './table.js';

/** An operation of the kernel, with the number of the change that it is a part of: of elements, the first one. */
export interface TableOperation {
  readonly change: number;
  readonly operation: NftablesOperation;
}

/** The elements of a set that one transaction changes. */
interface Elements {
  readonly set: SetName;
  readonly change: number;
  readonly deleted: ElementName[];
  readonly added: NewElement[];
}

/**
 * The operations of the kernel for changes of a family, in an order in which nothing refers to what is not there: table, sets and chains, elements,
 * rules, and then what is deleted. For each set, one operation deletes elements, and then one adds some.
 *
 * @param apart each element has an operation of its own
 */
export function tableOperations(
  family: Family,
  changes: readonly TableChange[],
  apart = false,
): TableOperation[] {
  const made: TableOperation[] = [];
  const rules: TableOperation[] = [];
  const deleted: TableOperation[] = [];
  const sets = new Map<SetName | NewElement, Elements>();
  for (const [number, change] of changes.entries()) {
    const { do: verb, item } = change;
    const push = (list: TableOperation[], ...operations: readonly NftablesOperation[]) => {
      for (const operation of operations) list.push({ change: number, operation });
    };
    if (item.kind === 'table') {
      if (verb !== 'add') push(verb === 'delete' ? deleted : made, deleteTable(family));
      if (verb !== 'delete') push(made, ...addTable(family));
    } else if (item.kind === 'tableChain') {
      for (const each of chainOperations(verb, nameIn(family, item.name), item)) {
        if (verb === 'delete') push(deleted, each);
        else push(each.do === 'addRule' ? rules : made, each);
      }
    } else {
      for (const { set, element } of elementsOf(item)) {
        const owner = apart ? element : set;
        const elements = sets.get(owner) ?? { set, change: number, deleted: [], added: [] };
        sets.set(owner, elements);
        const { key, keyEnd } = element;
        if (verb !== 'add') elements.deleted.push({ key, ...(keyEnd !== undefined && { keyEnd }) });
        if (verb !== 'delete') elements.added.push(element);
      }
    }
  }
  return [...made, ...elementOperations(sets.values()), ...rules, ...unlinked(deleted)];
}

function deleteTable(family: Family): NftablesOperation {
  return { do: 'deleteTable', table: { family: TABLE_FAMILY[family], name: TABLE } };
}

/** The table with its sets. */
function addTable(family: Family): NftablesOperation[] {
  const table = { family: TABLE_FAMILY[family], name: TABLE, comment: TABLE_COMMENT };
  const sets = [...TABLE_SETS[family].values()];
  return [{ do: 'addTable', table }, ...sets.map((set) => ({ do: 'addSet', set }) as const)];
}

/** All that delete come before those that add. */
function elementOperations(sets: Iterable<Elements>): TableOperation[] {
  const deletions: TableOperation[] = [];
  const additions: TableOperation[] = [];
  for (const { set, change, deleted, added } of sets) {
    if (deleted.length > 0)
      deletions.push({ change, operation: { do: 'deleteElements', set, elements: deleted } });
    if (added.length > 0) additions.push({ change, operation: { do: 'addElements', set, elements: added } });
  }
  return [...deletions, ...additions];
}

/** All chains are emptied before one is deleted: none leads to another any more. */
function unlinked(operations: readonly TableOperation[]): TableOperation[] {
  const isFlush = ({ operation }: TableOperation) => operation.do === 'flushChain';
  return [...operations.filter(isFlush), ...operations.filter((each) => !isFlush(each))];
}
