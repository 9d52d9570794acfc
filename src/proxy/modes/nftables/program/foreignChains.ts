// Base chains that other programs have added to the tables of the mode. The kernel applies them to packets, as it applies ours. The mode does not
// delete them. It names them.

import type { Family } from '../../../../kernel/net/address.js';
import type { Chain } from '../../../../kernel/nftables/types.js';
import { TABLE_FAMILY } from '../../nftablesRules/plan/families.js';
import { TABLE } from '../plan/names.js';

/** Those that the last reading of all items found. */
export class ForeignChains {
  readonly #found = new Map<Family, readonly string[]>();

  /** Takes the chains of a family's table that are not of this mode; none if there is no table. */
  take(family: Family, chains: readonly Pick<Chain, 'name' | 'base'>[]): void {
    const texts = chains.flatMap(({ name, base }) => {
      if (!base) return [];
      const { hook, priority, policy = 'accept' } = base;
      const place = `hook ${hook}, priority ${priority}, policy ${policy}`;
      return [`table ${TABLE_FAMILY[family]} ${TABLE}, chain ${name} (${place})`];
    });
    this.#found.set(family, texts.sort());
  }

  /** One text for each: `table ip kube-proxy, chain x (hook input, priority 0, policy drop)`. */
  list(): string[] {
    return [...this.#found.values()].flat();
  }
}
