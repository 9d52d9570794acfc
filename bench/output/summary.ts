// The meaning of the figures of a scenario, in a sentence. Pure.
import type { Figure } from '../types.js';
import { titleOf } from './table.js';
import { durationText, groupedText, numberText } from './units.js';

/** The figures of the greatest size in words, as multiples of that of kube-netlink-proxy; undefined without it. */
export function summaryText(figures: readonly Figure[]): string | undefined {
  const own = figures.filter(({ method }) => method === 'ours');
  const [last] = [...own].sort((a, b) => b.size.services - a.size.services);
  if (!last) return undefined;
  const others = figures.filter(({ method, size }) => method !== 'ours' && isOf(size, last));
  const text = `${titleOf('ours')} takes ${durationText(last.wall.median)}${growthText(own, last)}.`;
  if (others.length === 0) return text;
  return `${text} The others take this multiple of it: ${others.map((one) => multiple(one, last)).join('; ')}.`;
}

/** The growth from the least size to this one. */
function growthText(own: readonly Figure[], last: Figure): string {
  const [first] = [...own].sort((a, b) => a.size.services - b.size.services);
  if (!first || first.size.services === last.size.services) return '';
  const [sizes, times] = [last.size.services / first.size.services, last.wall.median / first.wall.median];
  const [many, few] = [last, first].map(({ size }) => groupedText(size.services));
  return ` with ${many} Services: ${numberText(times)} times the time with ${few}, for ${numberText(sizes)} times the Services`;
}

function multiple({ method, sample, wall }: Figure, ours: Figure): string {
  const estimate = sample === undefined ? '' : '≈ ';
  return `${titleOf(method)} ${estimate}${numberText(wall.median / ours.wall.median)}`;
}

function isOf(size: Figure['size'], { size: other }: Figure): boolean {
  return size.services === other.services && size.endpoints === other.endpoints;
}
