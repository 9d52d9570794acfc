// Places of labels that must not overlap. Pure.

/**
 * Coordinates of labels, each as near to its wish as the others permit, in the order of the wishes.
 *
 * @param wishes wished coordinates, in px
 * @param gap least distance between two labels, in px
 * @param range of all labels, in px; it is exceeded at its end if the labels need more space
 */
export function labelPlaces(
  wishes: readonly number[],
  gap: number,
  [start, end]: readonly [start: number, end: number],
): number[] {
  // Groups of labels that touch each other; the centre of a group is the mean of the wishes of its members.
  const groups: { readonly members: number[]; centre: number }[] = [];
  const half = ({ members }: { readonly members: readonly number[] }) => ((members.length - 1) * gap) / 2;
  const within = (centre: number, reach: number) => Math.max(start + reach, Math.min(end - reach, centre));
  const order = wishes.map((_, i) => i).sort((a, b) => (wishes[a] ?? 0) - (wishes[b] ?? 0));
  for (const label of order) {
    let group = { members: [label], centre: within(wishes[label] ?? 0, 0) };
    for (let last = groups.at(-1); last && overlaps(last, group); last = groups.at(-1)) {
      groups.pop();
      const members = [...last.members, ...group.members];
      const mean = members.reduce((sum, member) => sum + (wishes[member] ?? 0), 0) / members.length;
      group = { members, centre: within(mean, half({ members })) };
    }
    groups.push(group);
  }
  const places: number[] = [];
  for (const group of groups) {
    for (const [i, label] of group.members.entries()) places[label] = group.centre - half(group) + i * gap;
  }
  return places;

  function overlaps(above: (typeof groups)[number], below: (typeof groups)[number]): boolean {
    return above.centre + half(above) + gap > below.centre - half(below);
  }
}
