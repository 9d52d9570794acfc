// Kernel settings below /proc/sys.
import { readFile, writeFile } from 'node:fs/promises';
import { NetlinkError } from '../errors.js';
import { checkArgument, ruled, TEXT } from '../shapes.js';
import { HOST, hasModule, type Machine, moduleHint } from '../shared/hints.js';
import { changed } from '../shared/reported.js';
import type { BatchSource } from '../shared/types.js';

/** A change of a setting, as batches are reported. */
export interface SysctlWrite {
  readonly do: 'write';
  readonly name: string;
  readonly value: string;
}

/** Kernel settings, named by their path below /proc/sys: `net/ipv4/ip_forward`. */
export interface Sysctl extends BatchSource<SysctlWrite> {
  /** The value without surrounding space, or undefined when this kernel has no such setting. */
  read(name: string): Promise<string | undefined>;
  /** Rejects with ENOENT when this kernel (or a module not loaded) has no such setting, EROFS or EACCES without the right. */
  write(name: string, value: string): Promise<void>;
}

/** A path below /proc/sys: no part of it leads outside. */
const SETTING = ruled(
  'string',
  'must be a path below /proc/sys: net/ipv4/ip_forward',
  (name: string) => /^[^/\0]+(?:\/[^/\0]+)*$/.test(name) && !/(?:^|\/)\.\.?(?:\/|$)/.test(name),
);

/** Throws the error of the call if the name of a setting, or its new value, is invalid. */
export function checkSetting(
  operation: 'sysctl.read' | 'sysctl.write',
  name: string,
  ...values: string[]
): void {
  checkArgument(operation, 'name', name, SETTING);
  for (const value of values) checkArgument(operation, 'value', value, TEXT);
}

/** The settings of the process's network namespace. */
export function openSysctl(root = '/proc/sys'): Sysctl {
  const sysctl: Sysctl = {
    async read(name) {
      checkSetting('sysctl.read', name);
      try {
        return (await readFile(`${root}/${name}`, 'utf8')).trim();
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw failure('sysctl.read', name, error);
      }
    },
    write: (name, value) =>
      changed(sysctl, { do: 'write', name, value }, async () => {
        checkSetting('sysctl.write', name, value);
        try {
          await writeFile(`${root}/${name}`, value, { flag: 'r+' });
        } catch (error) {
          throw failure('sysctl.write', name, error);
        }
      }),
  };
  return sysctl;
}

function failure(operation: string, name: string, error: unknown): NetlinkError {
  const code = codeOf(error);
  const errno = Math.abs((error as NodeJS.ErrnoException).errno ?? 0);
  return new NetlinkError({ code, errno, operation, target: name, hint: hintFor(code, name) });
}

/** The hint to an error: true for every cause of its code. */
export function hintFor(code: string, name: string, machine: Machine = HOST): string | undefined {
  switch (code) {
    case 'ENOENT': {
      const link = /^net\/ipv[46]\/(?:conf|neigh)\/(?!all\/|default\/)([^/]+)\//.exec(name)?.[1];
      if (link !== undefined)
        return `there is no link ${link} in the network namespace, or the kernel has no such setting`;
      if (name.startsWith('net/ipv4/vs/') && !hasModule('ip_vs', machine))
        return moduleHint('ip_vs', machine);
      return 'the kernel has no such setting, or has not loaded the module that has it';
    }
    case 'EROFS':
      return 'mount /proc/sys writable, or run privileged';
    case 'EACCES':
      return 'the setting is read-only, or needs root in the namespace that owns the network';
    default:
      return undefined;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'ERR_UNKNOWN';
}
