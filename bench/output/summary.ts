// The figures of scenarios in a table for a page: this proxy by number of Services, and the others as multiples of it. Pure.
import type { Figure } from '../types.js';
import type { Table } from './table.js';
import { durationText, groupedText, numberText } from './units.js';

const NO_BREAK = '\u00a0';

/** A number of Services that many clusters have: it is shown beside the greatest one. */
const COMMON = 1000;

/** The figures of a scenario on a machine. */
export interface SummaryGroup {
  readonly title: string;
  /** Its number on the page. */
  readonly machine: number;
  /** The figures of each report. */
  readonly reports: readonly (readonly Figure[])[];
}

/** A row for each group with figures of kube-netlink-proxy, and a column for each number of Services; undefined without rows. */
export function summaryTable(groups: readonly SummaryGroup[]): Table | undefined {
  const shown = groups
    .map((group) => ({ ...group, own: group.reports.flatMap(shownOf), figures: group.reports.flat() }))
    .filter(({ own }) => own.length > 0);
  if (shown.length === 0) return undefined;
  const sizes = [...new Set(shown.flatMap(({ own }) => own.map(({ size }) => size.services)))];
  sizes.sort((a, b) => a - b);
  const left = (title: string) => ({ title, align: 'left' as const });
  const right = (title: string) => ({ title, align: 'right' as const });
  return {
    columns: [
      left(''),
      right('machine'),
      ...sizes.map((services) => right(`${groupedText(services)}${NO_BREAK}Services`)),
      left('other ways'),
    ],
    rows: shown.map(({ title, machine, figures, own }) => [
      title,
      String(machine),
      ...sizes.map((services) => timeText(own.find(({ size }) => size.services === services))),
      multiples(figures, own),
    ]),
  };
}

/** The figures of kube-netlink-proxy in a report that are shown: with the common and with the greatest number of Services. */
function shownOf(figures: readonly Figure[]): Figure[] {
  const own = figures.filter(({ method }) => method === 'ours');
  const greatest = Math.max(...own.map(({ size }) => size.services));
  return own.filter(({ size: { services } }) => services === greatest || services === COMMON);
}

/** `1.20 s (1.30 s)`: wall-clock time, and CPU time. */
function timeText(figure: Figure | undefined): string {
  return figure === undefined
    ? ''
    : `${durationText(figure.wall.median)} (${durationText(figure.cpu.median)})`;
}

/** Each other way with the greatest number of Services that was measured; the number is in parentheses if it is not the greatest. */
function multiples(figures: readonly Figure[], own: readonly Figure[]): string {
  const descending = [...own].sort((a, b) => b.size.services - a.size.services);
  const methods = [...new Set(figures.map(({ method }) => method))].filter((method) => method !== 'ours');
  return methods
    .flatMap((method) => {
      for (const [i, ours] of descending.entries()) {
        const other = figures.find((figure) => figure.method === method && isOf(figure.size, ours));
        if (other) return `${multiple(other, ours)}${i === 0 ? '' : ` (${groupedText(ours.size.services)})`}`;
      }
      return [];
    })
    .join('; ');
}

function multiple({ method, sample, wall }: Figure, ours: Figure): string {
  const estimate = sample === undefined ? '' : '≈ ';
  return `${method} ${estimate}${numberText(wall.median / ours.wall.median)}`;
}

function isOf(size: Figure['size'], { size: other }: Figure): boolean {
  return size.services === other.services && size.endpoints === other.endpoints;
}
