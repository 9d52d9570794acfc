// Hosts without the programs of iptables. What a proxy wrote with them is looked for without them.
import { NetlinkError } from '../../../kernel/errors.js';
import type { Iptables } from '../../../kernel/iptables/types.js';
import type { Family } from '../../../kernel/net/address.js';
import { openNftables } from '../../../kernel/nftables/index.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import { HOST, type Machine, stateOfModule } from '../../../kernel/shared/hints.js';
import { TABLE_FAMILY } from '../../../proxy/modes/nftablesRules/plan/families.js';

/** The tables that iptables-legacy has made, one name a line. The file exists while their module is loaded. */
const LEGACY = { 4: '/proc/net/ip_tables_names', 6: '/proc/net/ip6_tables_names' } as const;

type OpenTables = () => Promise<Pick<Nftables, 'listChains' | 'close'>>;

/**
 * iptables in which a family without programs has no chains, unless the kernel has some that a proxy may have made: then the error of
 * the missing program says so.
 */
export function withAbsentPrograms(
  iptables: Iptables,
  open: OpenTables = () => openNftables(),
  machine: Machine = HOST,
): Iptables {
  return {
    async *chains(family) {
      try {
        yield* iptables.chains(family);
      } catch (error) {
        if (!isAbsent(error) || (await hasChains(family, open, machine))) throw error;
      }
    },
    save: (family) => iptables.save(family),
    saveTables: (family) => iptables.saveTables(family),
    listRules: (family, table, chain) => iptables.listRules(family, table, chain),
    restore: (family, operations) => iptables.restore(family, operations),
    get onBatch() {
      return iptables.onBatch;
    },
    set onBatch(listener) {
      iptables.onBatch = listener;
    },
  };
}

function isAbsent(error: unknown): boolean {
  return error instanceof NetlinkError && error.code === 'ENOENT' && error.operation.startsWith('iptables.');
}

/** Whether iptables-legacy has tables, or a chain of iptables-nft has a name of Kubernetes. */
async function hasChains(family: Family, open: OpenTables, machine: Machine): Promise<boolean> {
  if ((machine.read(LEGACY[family]) ?? '').trim() !== '') return true;
  const state = stateOfModule('nf_tables', machine);
  if (state === 'loadable' || state === 'missing') return false;
  const nftables = await open();
  try {
    for await (const { table, name } of nftables.listChains({ family: TABLE_FAMILY[family] }))
      if (/^(nat|filter|mangle)$/.test(table) && name.startsWith('KUBE-')) return true;
    return false;
  } finally {
    await nftables.close();
  }
}
