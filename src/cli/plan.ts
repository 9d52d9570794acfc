// What a pass would do, for people and for programs.
import type { PlannedOperation } from '../reconcile/reconciler.js';
import { count, describeUnread } from './summary.js';

/** Operations that serve the same Service, the node, or nothing that is wanted. */
interface Group {
  readonly heading: string;
  readonly operations: PlannedOperation[];
}

/**
 * A plan as text: the lines of its operations under the Service that they serve, and a line that sums them up. Services
 * that share an item are one heading.
 *
 * @param unread names of what the source could not read
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
 * A plan as JSON, a line that ends with a line break: `operations`, in the order in which they would be carried out. Each
 * has its `phase`, the `key` of its item, whether the `node` and which `services` want the item, and the `lines` of text.
 * `unread` has the names of what the source could not read.
 */
export function planJson(operations: readonly PlannedOperation[], unread: readonly string[]): string {
  return `${JSON.stringify({ operations, unread })}\n`;
}

/** The node first, then Services by name, then items that nothing wants any more. */
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
