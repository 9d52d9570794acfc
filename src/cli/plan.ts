// The output of plan: text for people, JSON for programs.
import type { PlannedOperation } from '../reconcile/reconciler.js';
import { count, describeUnread } from './summary.js';

/** Operations for the same Services, for the node, or for unneeded items. */
interface Group {
  readonly heading: string;
  readonly operations: PlannedOperation[];
}

/**
 * A plan as text: the operations by Service, and a summary line. Services that share an item have a common heading.
 *
 * @param unread names of the unreadable inputs
 */
export function planText(operations: readonly PlannedOperation[], unread: readonly string[]): string {
  if (operations.length === 0) {
    return `${unread.length === 0 ? 'nothing would change' : describeUnread(unread).join('\n')}\n`;
  }
  const lines = groupsOf(operations).flatMap((group) => [
    group.heading,
    ...group.operations.flatMap((operation) => operation.lines.map((line) => `  ${line}`)),
  ]);
  return `${[...lines, '', summaryOf(operations), ...describeUnread(unread)].join('\n')}\n`;
}

/**
 * A plan as one line of JSON, with a line break: `operations`, in the order of their execution, and `unread`, the names
 * of the unreadable inputs. An operation has its `phase`, the `key` of its item, the owners of the item (`node` and
 * `services`), and its `lines` of text.
 */
export function planJson(operations: readonly PlannedOperation[], unread: readonly string[]): string {
  return `${JSON.stringify({ operations, unread })}\n`;
}

/** The node first, then Services by name, then items without an owner. */
function groupsOf(operations: readonly PlannedOperation[]): Group[] {
  const groups = new Map<string, Group>();
  for (const operation of operations) {
    const sortKey = sortKeyOf(operation);
    const group = groups.get(sortKey) ?? { heading: headingOf(operation), operations: [] };
    group.operations.push(operation);
    groups.set(sortKey, group);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function sortKeyOf({ node, services }: PlannedOperation): string {
  if (node) return '0';
  return services.length > 0 ? `1 ${services.join(' ')}` : '2';
}

function headingOf({ node, services }: PlannedOperation): string {
  if (node) return 'the node';
  if (services.length === 0) return 'no longer wanted';
  return services.length === 1 ? `Service ${services[0]}` : `Services ${services.join(', ')}`;
}

function summaryOf(operations: readonly PlannedOperation[]): string {
  const ofNode = operations.filter(({ node }) => node).length;
  const unwanted = operations.filter(({ node, services }) => !node && services.length === 0).length;
  const ofServices = operations.filter(({ node, services }) => !node && services.length > 0);
  const services = new Set(ofServices.flatMap((operation) => operation.services)).size;
  const parts = [
    [ofNode, 'for the node'],
    [ofServices.length, `for ${count(services, 'Service')}`],
    [unwanted, 'for items that are no longer wanted'],
  ] as const;
  const shown = parts.filter(([number]) => number > 0).map(([number, purpose]) => `${number} ${purpose}`);
  return `${count(operations.length, 'operation')}: ${shown.join(', ')}`;
}
