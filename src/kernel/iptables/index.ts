// iptables through its own programs: the one part of the kernel that has no stable netlink interface for both backends.
import { NetlinkError } from '../../errors.js';
import type { Family } from '../../net/address.js';
import { ProgramError, runProgram } from '../program.js';
import { reported, verbOf } from '../reported.js';
import { Restorer } from './restorer.js';
import { mainErrorOf, resultsOf } from './results.js';
import { parseTablesInSlices } from './saved.js';
import { restoreTables } from './text.js';
import type { Iptables } from './types.js';

export { parsePolicies, parseSaved } from './saved.js';
export { restoreInput } from './text.js';
export type * from './types.js';

/** An open client of iptables. */
export interface IptablesClient extends Iptables {
  /** Lets changes already made finish, then ends the programs. Later changes fail with `ERR_CLOSED`. */
  close(): Promise<void>;
}

/**
 * iptables and ip6tables of the process's network namespace. The first change of a family starts an iptables-restore, which
 * makes all later ones; it ends with close(), and at the latest with the thread that opened it.
 */
export function openIptables(): IptablesClient {
  const onFallback = (name: string, reason: string) => iptables.onFallback?.(name, reason);
  const restorers = {
    4: new Restorer(program('restore', 4), onFallback),
    6: new Restorer(program('restore', 6), onFallback),
  };
  const saveTables = async (family: Family) => parseTablesInSlices(await saved(family));
  const iptables: IptablesClient = {
    save: async (family) => (await saveTables(family)).rules,
    saveTables,
    async restore(family, operations) {
      const restore = { do: 'restore', family } as const;
      let results: Awaited<ReturnType<Iptables['restore']>> = [];
      await reported(iptables, [restore], verbOf, async () => {
        const tables = restoreTables(operations);
        if (tables.length > 0) {
          results = resultsOf(operations.length, await restorers[family].restore(tables));
        }
        return [mainErrorOf(results)];
      });
      return results;
    },
    async close() {
      await Promise.all([restorers[4].close(), restorers[6].close()]);
    },
  };
  return iptables;
}

/** The program of a family. */
export function program(verb: 'save' | 'restore', family: Family): string {
  return `${family === 4 ? 'iptables' : 'ip6tables'}-${verb}`;
}

async function saved(family: Family): Promise<string> {
  const command = program('save', family);
  try {
    return await runProgram(command, []);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const missing = error.code === 'ENOENT';
    throw new NetlinkError({
      code: missing ? 'ENOENT' : 'ERR_PROCESS',
      operation: 'iptables.save',
      target: command,
      kernelMessage: missing ? undefined : error.message,
      hint: missing ? 'install the package iptables' : undefined,
    });
  }
}
