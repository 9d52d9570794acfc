// The figures of a scenario in rows for a page: this proxy, and the others as multiples of it. Pure.
import type { Figure } from '../types.js';
import { durationText, groupedText, numberText } from './units.js';

/** A number of Services that many clusters have: it is shown beside the greatest one. */
const COMMON = 1000;

/** Rows of a scenario: Services, time, CPU time, and the other ways; none without a figure of kube-netlink-proxy. */
export function summaryRows(figures: readonly Figure[]): string[][] {
  const own = figures.filter(({ method }) => method === 'ours');
  const greatest = Math.max(...own.map(({ size }) => size.services));
  return own
    .filter(({ size: { services } }) => services === greatest || services === COMMON)
    .map((ours) => [
      groupedText(ours.size.services),
      durationText(ours.wall.median),
      durationText(ours.cpu.median),
      figures
        .filter(({ method, size }) => method !== 'ours' && isOf(size, ours))
        .map((other) => multiple(other, ours))
        .join('; '),
    ]);
}

function multiple({ method, sample, wall }: Figure, ours: Figure): string {
  const estimate = sample === undefined ? '' : '≈ ';
  return `${method} ${estimate}${numberText(wall.median / ours.wall.median)}`;
}

function isOf(size: Figure['size'], { size: other }: Figure): boolean {
  return size.services === other.services && size.endpoints === other.endpoints;
}
