// Groups planned operations and items by their owners.
import type { PlannedOperation } from '../../proxy/reconcile/plannedOperation.js';

/** The owners of an item. */
type Owned = Pick<PlannedOperation, 'node' | 'services' | 'formerMode'>;

/** The items of the same Services, of the node, of no owner, or of a former mode. */
interface Group<Member> {
  readonly heading: string;
  readonly members: Member[];
}

/** The groups, in order: the node's, those of Services by name, the one without an owner, and those of former modes. */
export function groupsOf<Member extends Owned>(members: readonly Member[]): Group<Member>[] {
  const groups = new Map<string, Group<Member>>();
  for (const member of members) {
    const sortKey = sortKeyOf(member);
    const group = groups.get(sortKey) ?? { heading: headingOf(member), members: [] };
    group.members.push(member);
    groups.set(sortKey, group);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function sortKeyOf({ node, services, formerMode }: Owned): string {
  if (formerMode !== undefined) return `3 ${formerMode}`;
  if (node) return '0';
  return services.length > 0 ? `1 ${services.join(' ')}` : '2';
}

function headingOf({ node, services, formerMode }: Owned): string {
  if (formerMode !== undefined) return `no longer wanted, of ${formerMode} mode`;
  if (node) return 'the node';
  if (services.length === 0) return 'no longer wanted';
  return services.length === 1 ? `Service ${services[0]}` : `Services ${services.join(', ')}`;
}
