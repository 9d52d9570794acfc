// Groups planned operations and items by their owners.

/** The owners of an item. */
export interface Owned {
  /** The item is in the node's own plan. */
  readonly node: boolean;
  /** Services whose plans have the item. */
  readonly services: readonly string[];
}

/** What the same Services own, or the node, or no one. */
export interface Group<Member> {
  readonly heading: string;
  readonly members: Member[];
}

/** The groups, in order: the node's, those of Services by name, and the one without an owner. */
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

function sortKeyOf({ node, services }: Owned): string {
  if (node) return '0';
  return services.length > 0 ? `1 ${services.join(' ')}` : '2';
}

function headingOf({ node, services }: Owned): string {
  if (node) return 'the node';
  if (services.length === 0) return 'no longer wanted';
  return services.length === 1 ? `Service ${services[0]}` : `Services ${services.join(', ')}`;
}
