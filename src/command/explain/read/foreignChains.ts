// The base chains of other programs in nftables, which an explanation does not follow.

import type { Family } from '../../../kernel/net/address.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import type { BaseChain, Nftables } from '../../../kernel/nftables/types.js';
import { stateOfModule } from '../../../kernel/shared/hints.js';

/** The part of nftables that has them. */
export type ChainReader = Pick<Nftables, 'listTables' | 'listChains' | 'listRules'>;

/** Families of tables whose chains packets of the other family pass, and those without packets of IP. */
const OTHER_FAMILIES: Readonly<Record<Family, readonly unknown[]>> = { 4: ['ip6', 'arp'], 6: ['ip', 'arp'] };
/** The tables of iptables, whose chains iptables-save prints. */
const IPTABLES = /^(raw|mangle|nat|filter|security)$/;
const IPTABLES_CHAINS = /^(PREROUTING|INPUT|FORWARD|OUTPUT|POSTROUTING)$/;

/**
 * The base chains that decide about packets of a family, and are neither of iptables nor of this proxy: `table inet np, chain output (hook
 * output, priority 0)`. Those without rules that accept all packets are left out. Rejects with a NetlinkError.
 *
 * @param own the table that the explanation follows, of the family's own tables; undefined if it follows none
 */
export async function foreignChains(
  nftables: ChainReader,
  family: Family,
  own: string | undefined,
): Promise<string[]> {
  const found: string[] = [];
  for (const { family: kind, name: table } of await nftables.listTables().toArray()) {
    if (OTHER_FAMILIES[family].includes(kind)) continue;
    const isFamily = kind === 'ip' || kind === 'ip6';
    if (isFamily && table === own) continue;
    for (const { name: chain, base } of await nftables.listChains({ family: kind, table }).toArray()) {
      if (!base || (isFamily && IPTABLES.test(table) && IPTABLES_CHAINS.test(chain))) continue;
      const rules = base.policy === 'drop' ? 1 : await countRules(nftables, { family: kind, table, chain });
      if (rules > 0) found.push(`table ${kind} ${table}, chain ${chain} (${placeOf(base)})`);
    }
  }
  return found;
}

async function countRules(
  nftables: ChainReader,
  chain: NonNullable<Parameters<ChainReader['listRules']>[0]>,
): Promise<number> {
  return (await nftables.listRules(chain).toArray()).length;
}

function placeOf({ hook, priority }: BaseChain): string {
  return `hook ${hook}, priority ${priority}`;
}

/** Opens nftables where the mode has no use for it; undefined if the kernel has no nf_tables, which is not loaded for this. */
export async function openChainReader(): Promise<Nftables | undefined> {
  const state = stateOfModule('nf_tables');
  return state === 'loadable' || state === 'missing' ? undefined : openNftables();
}
