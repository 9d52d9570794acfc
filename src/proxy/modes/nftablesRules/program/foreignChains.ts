// Base chains that other programs have added to the tables of a mode. The kernel applies them to packets, as it applies ours. The mode does not
// delete them. It names them.

import type { Family } from '../../../../kernel/net/address.js';
import type { Chain } from '../../../../kernel/nftables/types.js';
import { TABLE_FAMILY } from '../plan/families.js';

/** Those that the last reading of all items found. */
export class ForeignChains {
  readonly #table: string;
  readonly #found = new Map<Family, readonly string[]>();

  /** @param table name of the table in each family */
  constructor(table: string) {
    this.#table = table;
  }

  /** Takes the chains of a family's table that are not of this mode; none if there is no table. */
  take(family: Family, chains: readonly Pick<Chain, 'name' | 'base'>[]): void {
    const texts = chains.flatMap(({ name, base }) => {
      if (!base) return [];
      const { hook, priority, policy = 'accept' } = base;
      const place = `hook ${hook}, priority ${priority}, policy ${policy}`;
      return [`table ${TABLE_FAMILY[family]} ${this.#table}, chain ${name} (${place})`];
    });
    this.#found.set(family, texts.sort());
  }

  /** One text for each: `table ip kube-proxy, chain x (hook input, priority 0, policy drop)`. */
  list(): string[] {
    return [...this.#found.values()].flat();
  }
}
