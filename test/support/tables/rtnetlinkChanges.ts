// The kinds of changes in the reports of a watch.
import type { RtnetlinkChange } from '../../../src/kernel/rtnetlink/index.js';

/** `links addresses`: a word for each kind of change in the reports; `lost` for one that has lost some. */
export function kindsOf(changes: readonly RtnetlinkChange[]): string {
  const kinds = new Set(changes.flatMap(({ events }) => events.map(({ kind }) => kind)));
  const words = [
    kinds.has('link') ? ['links'] : [],
    kinds.has('address') ? ['addresses'] : [],
    changes.some(({ lost }) => lost) ? ['lost'] : [],
  ];
  return words.flat().join(' ');
}
