// The real rules of a network namespace for tests that have the rest of the kernel in memory.
import { NetlinkError, ROLLED_BACK } from '../../../src/kernel/errors.js';
import { openIptables } from '../../../src/kernel/iptables/index.js';
import type { Iptables, IptablesOperation } from '../../../src/kernel/iptables/types.js';
import type { Family } from '../../../src/kernel/net/address.js';
import type { Faults } from '../../../src/kernel/testing/index.js';
import { tool } from './tools.js';

/** The rules of the network namespace of this thread. */
export interface RealRules extends Iptables {
  /** The output of iptables-save. */
  dump(family: Family): string;
  close(): Promise<void>;
}

/** Opens the rules; `faults` decides which restores the kernel refuses, and which readings fail. */
export function openRealRules(faults: Pick<Faults, 'fault' | 'readFault'>): RealRules {
  const iptables = openIptables();
  const check = (operation: string) => {
    const fault = faults.readFault(operation, 'iptables');
    if (fault) throw fault;
  };
  return {
    onBatch: undefined,
    async *chains(family) {
      check('iptables.save');
      yield* iptables.chains(family);
    },
    async save(family) {
      check('iptables.save');
      return iptables.save(family);
    },
    async saveTables(family) {
      check('iptables.saveTables');
      return iptables.saveTables(family);
    },
    async listRules(family, table, chain) {
      check('iptables.listRules');
      return iptables.listRules(family, table, chain);
    },
    async restore(family, operations) {
      const refused = operations.length > 0 && faults.fault('iptables.restore', 'iptables') !== undefined;
      return refused ? restoreRefused(iptables, family, operations) : iptables.restore(family, operations);
    },
    dump: (family) => tool(family === 4 ? 'iptables-save' : 'ip6tables-save'),
    close: async () => iptables.close(),
  };
}

/** A restore that the kernel refuses, because its last rule is for a chain that does not exist. Tables before it are changed. */
async function restoreRefused(
  iptables: Iptables,
  family: Family,
  operations: readonly IptablesOperation[],
): Promise<(NetlinkError | undefined)[]> {
  const last = operations.at(-1);
  const table = last && ('chain' in last ? last.chain : 'rules' in last ? last.rules : last.rule).table;
  const rule = { family, table: table ?? 'nat', chain: 'KNP-NONE', text: '-j ACCEPT' } as const;
  const results = await iptables.restore(family, [...operations, { do: 'appendRule', rule }]);
  const error = results.pop() ?? new NetlinkError({ code: 'ERR_PROCESS', operation: 'iptables.restore' });
  return results.map((result) => (result?.code === ROLLED_BACK ? error : result));
}
