// Reads which modes have programmed the kernel: the chains of iptables, and what each mode asks for. Changes nothing.
import { existsSync } from 'node:fs';
import { NetlinkError } from '../../../kernel/errors.js';
import { openIptables } from '../../../kernel/iptables/index.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import { openRtnetlink } from '../../../kernel/rtnetlink/index.js';
import type { KernelSigns } from './definition.js';

/** Calls `use` with the signs in the kernel of this node. Rejects with the NetlinkError of the part that cannot be read. */
export async function withSigns<Result>(use: (signs: KernelSigns) => Promise<Result>): Promise<Result> {
  const rtnetlink = await openRtnetlink();
  const iptables = openIptables();
  try {
    const families = existsSync('/proc/net/if_inet6') ? ([4, 6] as const) : ([4] as const);
    return await use({
      chains: await chainsOf(iptables, families),
      hasLink: async (name) => (await rtnetlink.getLink(name)) !== undefined,
      openNftables: () => openNftables(),
    });
  } finally {
    rtnetlink.close();
    await iptables.close();
  }
}

/** The chains of the families, as `table/chain`. A host without the programs of iptables has none that a proxy made. */
export async function chainsOf(
  iptables: Pick<Iptables, 'chains'>,
  families: readonly Family[],
): Promise<Set<string>> {
  const chains = new Set<string>();
  for (const family of families) {
    try {
      for await (const piece of iptables.chains(family))
        for (const { table, name } of piece) chains.add(`${table}/${name}`);
    } catch (error) {
      if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    }
  }
  return chains;
}
