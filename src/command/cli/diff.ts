// The command diff: the items in which the kernel differs from the objects, by Service.
import type { PlannedItem } from '../../proxy/reconcile/plannedOperation.js';
import type { CommandRunner } from './command.js';
import { groupsOf } from './grouping.js';
import type { StyleName } from './output/colours.js';
import { type Layout, textLines, writeReport } from './output/output.js';
import { signedLines } from './output/signs.js';
import type { Preview } from './passes.js';
import { preview } from './preview.js';
import { count, describeUnread } from './summary.js';

/** `diff`. */
export const runDiff: CommandRunner = (invocation) =>
  preview(invocation, (found) => {
    const { output } = invocation;
    const report = diffReport(found);
    writeReport(output, report, (layout) => diffLines(report, layout));
  });

/** An item in which the kernel differs from the objects. */
export interface Difference extends PlannedItem {
  /** Its key: `virtual service 10.96.0.80:80/tcp`. */
  readonly item: string;
  /** The changes that it needs, as lines of a readable diff. */
  readonly lines: readonly string[];
}

/** The result of `diff -o json`. */
export interface DiffReport {
  readonly differences: readonly Difference[];
  /** Base chains of other programs in the tables of the mode, which are no difference and stay. Absent: none. */
  readonly foreignChains?: readonly string[];
  /** Names of the unreadable inputs. */
  readonly unread: readonly string[];
}

/** The report of a preview: one difference for all operations of an item. */
export function diffReport({ operations, unread, foreignChains = [] }: Preview): DiffReport {
  const byItem = new Map<string, Difference & { readonly lines: string[] }>();
  for (const { key, state, node, services, formerMode, lines } of operations) {
    const owners = { node, services, ...(formerMode === undefined ? {} : { formerMode }) };
    // A former mode may have an item with the same key.
    const id = `${formerMode ?? ''} ${key}`;
    const difference = byItem.get(id) ?? { item: key, state, ...owners, lines: [] };
    difference.lines.push(...lines);
    byItem.set(id, difference);
  }
  return {
    differences: [...byItem.values()],
    ...(foreignChains.length > 0 && { foreignChains }),
    unread,
  };
}

const STATES = ['missing', 'different', 'unwanted'] as const;

const STYLES: Readonly<Record<Difference['state'], StyleName>> = {
  missing: 'good',
  different: 'warning',
  unwanted: 'bad',
};

/**
 * Differences as text: the items by Service with their state, and a summary. Wide ones have the changes that each item needs.
 */
export function diffLines({ differences, unread, foreignChains = [] }: DiffReport, layout: Layout): string[] {
  const { columns, style } = layout;
  const unreadLines = describeUnread(unread).flatMap((line) => textLines(line, columns, 2));
  const foreign = foreignChains.flatMap((chain) =>
    textLines(`not of this proxy, and stays: ${chain}`, columns, 2),
  );
  if (differences.length === 0)
    return [...(unread.length === 0 ? ['the kernel has the desired state'] : unreadLines), ...foreign];
  const lines = groupsOf(differences).flatMap(({ heading, members }) => [
    ...textLines(heading, columns, 2).map((line) => style('heading', line)),
    ...members.flatMap((difference) => differenceLines(difference, layout)),
  ]);
  return [...lines, '', ...textLines(summaryOf(differences), columns, 2), ...unreadLines, ...foreign];
}

/** The line of an item, and the changes that it needs. */
function differenceLines({ item, state, lines }: Difference, { wide, columns, style }: Layout): string[] {
  const before = `  ${style(STYLES[state], state.padEnd(WIDTH))}  `;
  const blank = ' '.repeat(WIDTH + 4);
  const [first = '', ...rest] = textLines(item, columns - blank.length, 2);
  const changes = wide || state === 'different' ? lines : [];
  return [
    `${before}${first}`,
    ...rest.map((line) => `${blank}${line}`),
    ...changes
      .flatMap((line) => signedLines(line, columns - CHANGES.length, style))
      .map((line) => `${CHANGES}${line}`),
  ];
}

/** Before the changes that an item needs. */
const CHANGES = '      ';

const WIDTH = Math.max(...STATES.map((state) => state.length));

function summaryOf(differences: readonly Difference[]): string {
  const counts = STATES.map(
    (state) => [differences.filter((one) => one.state === state).length, state] as const,
  );
  const parts = counts.filter(([number]) => number > 0).map(([number, state]) => `${number} ${state}`);
  return `${count(differences.length, 'difference')}: ${parts.join(', ')}`;
}
