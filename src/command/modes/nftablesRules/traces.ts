// Finds the tables of a mode without its code.
import { NetlinkError } from '../../../kernel/errors.js';
import type { Nftables } from '../../../kernel/nftables/types.js';
import { HOST, type Machine, stateOfModule } from '../../../kernel/shared/hints.js';
import { familyOfTable } from '../../../proxy/modes/nftablesRules/plan/families.js';

/** Opens nftables. */
export type OpenNftables = () => Promise<Pick<Nftables, 'listTables' | 'close'>>;

/**
 * Whether the kernel has the table of a mode, in any family. Loads no kernel module: a request to a kernel that has not
 * loaded nf_tables would load it.
 */
export async function hasTable(table: string, open: OpenNftables, machine: Machine = HOST): Promise<boolean> {
  const state = stateOfModule('nf_tables', machine);
  if (state === 'loadable' || state === 'missing') return false;
  const nftables = await open();
  try {
    for await (const { family, name } of nftables.listTables())
      if (name === table && familyOfTable(family) !== undefined) return true;
    return false;
  } catch (error) {
    // EINVAL: nfnetlink has no nf_tables.
    if (error instanceof NetlinkError && error.code === 'EINVAL') return false;
    throw error;
  } finally {
    await nftables.close();
  }
}
