// Changes of a node's rules as other programs may make them.

import type { Family } from '../../../src/kernel/net/address.js';
import type { FakeIptables } from '../../../src/kernel/testing/index.js';

/** Deletes, repeats and moves some rules, and empties some chains. */
export function tamperWithRules(iptables: FakeIptables, random: () => number): void {
  for (const family of [4, 6] as const) {
    edit(iptables, family, (line) => {
      if (!line.startsWith('-A ')) return [line];
      const luck = random();
      if (luck < 0.05) return [];
      return luck < 0.1 ? [line, line] : [line];
    });
    if (random() < 0.3) {
      // The tail is no longer last.
      edit(iptables, family, (line) =>
        line.includes('must be the last rule') ? [line, '-A KUBE-SERVICES -d 192.0.2.99/32 -j DROP'] : [line],
      );
    }
    if (random() < 0.2) iptables.load(family, '');
  }
}

/** Replaces lines of the output of iptables-save. */
export function edit(
  iptables: FakeIptables,
  family: Family,
  change: (line: string) => readonly string[],
): void {
  iptables.load(family, iptables.dump(family).split('\n').flatMap(change).join('\n'));
}
