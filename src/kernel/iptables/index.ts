// iptables through its own programs: the one part of the kernel that has no stable netlink interface for both backends.
import { NetlinkError } from '../errors.js';
import type { Family } from '../net/address.js';
import { FAMILY } from '../net/shapes.js';
import { checkArgument } from '../shapes.js';
import { checkArray } from '../shared/arguments.js';
import { ProgramError } from '../shared/programs/program.js';
import { readProgram } from '../shared/programs/programReading.js';
import { reported, verbOf } from '../shared/reported.js';
import { TimeSlice } from '../timeSlice.js';
import { readCounted } from './counted.js';
import { Restorer, type RestorerEvents } from './restorer.js';
import { mainErrorOf, resultsInSteps, writeTables } from './results.js';
import { addChain, type GrowingTables, SavedReader } from './saved.js';
import type { CountedRules, Iptables, SavedChain, SavedTables, Table } from './types.js';
import { CHAIN_NAME, TABLE } from './writable.js';

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
  const events: RestorerEvents = {
    fallback: (name, reason) => iptables.onFallback?.(name, reason),
    replaced: (name, before, now) => iptables.onReplaced?.(name, before, now),
  };
  const restorers = {
    4: new Restorer(program('restore', 4), events),
    6: new Restorer(program('restore', 6), events),
  };
  async function* chains(family: Family) {
    await restorers[family].follow();
    yield* savedChains(program('save', family));
  }
  const iptables: IptablesClient = {
    chains,
    save: async (family) => (await allOf(chains(family))).rules,
    saveTables: (family) => allOf(chains(family)),
    listRules,
    async restore(family, operations) {
      const target = program('restore', family);
      checkArray('iptables.restore', 'operations', operations);
      const restore = { do: 'restore', family } as const;
      let results: Awaited<ReturnType<Iptables['restore']>> = [];
      await reported(iptables, [restore], verbOf, async () => {
        const slice = new TimeSlice();
        const writing = slice.finish(writeTables(operations, target));
        const outcome = await restorers[family].restore(writing.then(({ tables }) => tables));
        results = (await writing).results ?? (await slice.finish(resultsInSteps(operations, outcome)));
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

/** The program of a family. Throws the error of the call if there is no such family. */
export function program(verb: 'save' | 'restore', family: Family): string {
  checkArgument(`iptables.${verb}`, 'family', family, FAMILY);
  return `${command(family)}-${verb}`;
}

function command(family: Family): string {
  return family === 4 ? 'iptables' : 'ip6tables';
}

async function* savedChains(program: string): AsyncGenerator<readonly SavedChain[], void, void> {
  const reader = new SavedReader();
  for await (const bytes of outputOf('iptables.save', program, [])) yield reader.read(bytes);
  yield reader.end();
}

async function allOf(pieces: AsyncIterable<readonly SavedChain[]>): Promise<SavedTables> {
  const tables: GrowingTables = { rules: new Map(), policies: new Map() };
  const slice = new TimeSlice();
  for await (const piece of pieces) {
    for (const chain of piece) {
      addChain(chain, tables);
      if (slice.spend(1)) await slice.yield();
    }
  }
  return tables;
}

/**
 * Every rule of every table with its counters. Runs one process. Rejects with `ENOENT` without iptables, and `ERR_PROCESS` if it
 * fails.
 */
export async function saveWithCounters(family: Family): Promise<CountedRules> {
  return readCounted(outputOf('iptables.save', program('save', family), ['-c']));
}

/** A chain whose rules are listed: `nat/KUBE-SERVICES`. Throws the error of the call if an argument is invalid. */
export function listedChain(family: Family, table: Table, chain: string): string {
  checkArgument('iptables.listRules', 'family', family, FAMILY);
  checkArgument('iptables.listRules', 'table', table, TABLE);
  checkArgument('iptables.listRules', 'chain', chain, CHAIN_NAME);
  return `${table}/${chain}`;
}

/** `-S` prints rules as iptables-save does. `-w`: iptables-legacy waits for its lock. */
async function listRules(family: Family, table: Table, chain: string): Promise<readonly string[]> {
  const place = listedChain(family, table, chain);
  const args = ['-w', '-t', table, '-S', chain];
  const reader = new SavedReader({ scattered: true });
  reader.read(Buffer.from(`*${table}\n:${chain} - [0:0]\n`));
  for await (const bytes of outputOf('iptables.listRules', command(family), args, place)) reader.read(bytes);
  const [found] = reader.end();
  return found?.rules ?? [];
}

/** The most of the output of a program that is read in one step, in bytes. Four times as many took 7 to 12 ms on a slow machine. */
const PORTION = 32_768;

/** The output of a program that changes nothing, in portions, between which the event loop turns. */
async function* outputOf(
  operation: string,
  program: string,
  args: readonly string[],
  target = program,
): AsyncGenerator<Buffer, void, void> {
  const slice = new TimeSlice();
  try {
    for await (const bytes of readProgram(program, args)) {
      for (let start = 0; start < bytes.length; start += PORTION) {
        yield bytes.subarray(start, start + PORTION);
        if (slice.spend()) await slice.yield();
      }
    }
  } catch (error) {
    throw readError(error, operation, target);
  }
}

/** The error of a program that reads rules. Other errors are returned as they are. */
function readError(error: unknown, operation: string, target: string): unknown {
  if (!(error instanceof ProgramError)) return error;
  const missing = error.code === 'ENOENT';
  return new NetlinkError({
    code: missing ? 'ENOENT' : 'ERR_PROCESS',
    operation,
    target,
    kernelMessage: missing ? undefined : error.message,
    hint: missing ? 'install the package iptables' : undefined,
  });
}
