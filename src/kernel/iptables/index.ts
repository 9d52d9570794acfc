// iptables through its own programs: the one part of the kernel that has no stable netlink interface for both backends.
import { NetlinkError } from '../../errors.js';
import type { Family } from '../../net/address.js';
import { ProgramError, runProgram } from '../program.js';
import { reported, verbOf } from '../reported.js';
import { parsePolicies, parseSaved, restoreInput } from './text.js';
import type { Iptables } from './types.js';

export { parsePolicies, parseSaved, restoreInput } from './text.js';
export type * from './types.js';

/** iptables and ip6tables of the process's network namespace; each call runs one process. */
export function openIptables(): Iptables {
  const saved = (family: Family) => run(program('save', family), [], '');
  const iptables: Iptables = {
    async save(family) {
      return parseSaved(await saved(family));
    },
    async saveTables(family) {
      const text = await saved(family);
      return { rules: parseSaved(text), policies: parsePolicies(text) };
    },
    async restore(family, operations) {
      const input = restoreInput(operations);
      const restore = { do: 'restore', family } as const;
      const [error] = await reported(iptables, [restore], verbOf, async () => [
        await run(program('restore', family), ['--noflush', '-w', '5'], input).then(
          () => undefined,
          (error: NetlinkError) => error,
        ),
      ]);
      return error;
    },
  };
  return iptables;
}

/** The program of a family. */
export function program(verb: 'save' | 'restore', family: Family): string {
  return `${family === 4 ? 'iptables' : 'ip6tables'}-${verb}`;
}

async function run(command: string, args: readonly string[], input: string): Promise<string> {
  try {
    return await runProgram(command, args, { input });
  } catch (error) {
    throw error instanceof ProgramError ? failure(command, error) : error;
  }
}

function failure(command: string, error: ProgramError): NetlinkError {
  const missing = error.code === 'ENOENT';
  return new NetlinkError({
    code: missing ? 'ENOENT' : 'ERR_PROCESS',
    operation: `iptables.${command.endsWith('save') ? 'save' : 'restore'}`,
    target: command,
    kernelMessage: missing ? undefined : error.message,
    hint: missing ? 'install the package iptables' : undefined,
  });
}
