// iptables through its own programs: the one part of the kernel that has no stable netlink interface for both backends.
import { execFile } from 'node:child_process';
import { NetlinkError } from '../../errors.js';
import type { Family } from '../../net/address.js';
import { reported, verbOf } from '../reported.js';
import { parsePolicies, parseSaved, restoreInput } from './text.js';
import type { Iptables } from './types.js';

export { parsePolicies, parseSaved, restoreInput } from './text.js';
export type * from './types.js';

/** Time limit of a program, in ms; longer than the 5 s for which it waits for the lock. */
const TIMEOUT = 30_000;
/** iptables-save of a node with many foreign rules. */
const MAX_OUTPUT = 256 * 1024 * 1024;

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

function run(command: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: TIMEOUT, maxBuffer: MAX_OUTPUT };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (error) reject(failure(command, error, stderr));
      else resolve(stdout);
    });
    // A program that ends before it has read its input reports the reason on stderr; the broken pipe has no reason.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

function failure(
  command: string,
  error: Error & { code?: unknown; killed?: boolean },
  stderr: string,
): NetlinkError {
  const missing = error.code === 'ENOENT';
  const said = error.killed ? `no end after ${TIMEOUT} ms` : stderr.trim();
  return new NetlinkError({
    code: missing ? 'ENOENT' : 'ERR_PROCESS',
    operation: `iptables.${command.endsWith('save') ? 'save' : 'restore'}`,
    target: command,
    kernelMessage: missing ? undefined : said || error.message,
    hint: missing ? 'install the package iptables' : undefined,
  });
}
