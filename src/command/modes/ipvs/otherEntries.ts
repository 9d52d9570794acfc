// The entries of sets that ipvs mode left with the other rules: they record which virtual services are ours.
import { openIpset } from '../../../kernel/ipset/index.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import { type Item, TABLE } from '../../../proxy/modes/ipvs/plan/items.js';
import type { IpvsOptions } from '../../../proxy/modes/ipvs/plan/options.js';
import type { IpvsKernel } from '../../../proxy/modes/ipvs/program/kernel.js';
import { observeSets } from '../../../proxy/modes/ipvs/program/observe.js';
import { observeTable } from '../../../proxy/modes/ipvs/program/observeTable.js';
import { hasTable } from '../nftablesRules/traces.js';
import { NO_IPSET } from './absentParts.js';
import { hasIpset } from './loaded.js';

/**
 * The entries of the sets that the mode left with the other rules, until they are removed. Their parts of the kernel are opened for a reading only, and
 * not again after nothing was found.
 */
export function entriesOfOther(options: IpvsOptions): NonNullable<IpvsKernel['otherEntries']> {
  let isGone = false;
  const read = options.rules === 'iptables' ? readTables : readSets;
  return async function* () {
    if (isGone) return;
    isGone = true;
    for await (const items of read(options)) {
      isGone = false;
      yield items;
    }
  };
}

async function* readTables({ families }: IpvsOptions): AsyncGenerator<readonly Item[]> {
  if (!(await hasTable(TABLE, openNftables))) return;
  const nftables = await openNftables();
  try {
    for (const family of families) yield* observeTable(nftables, family);
  } finally {
    await nftables.close();
  }
}

async function* readSets(options: IpvsOptions): AsyncGenerator<readonly Item[]> {
  const ipset = hasIpset() ? await openIpset() : NO_IPSET;
  try {
    yield* observeSets({ ipset }, options);
  } finally {
    await ipset.close();
  }
}
