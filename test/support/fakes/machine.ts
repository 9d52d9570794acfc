// Machines of every kind, for hints.
import type { Machine } from '../../../src/kernel/shared/hints.js';

/** A machine with these files. Folders of modules exist as far as a file is in them. */
export function machine(files: Readonly<Record<string, string>>): Machine {
  return { release: '6.12.1', exists: (path) => path in files, read: (path) => files[path] };
}

/** A machine with IPv6 that can load these kernel modules, and has no others. */
export function machineWith(
  modules: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Machine {
  const list = modules.map((name) => `kernel/net/${name}.ko.xz:\n`).join('');
  return machine({
    '/proc/net/if_inet6': '',
    '/lib/modules/6.12.1/modules.dep': list,
    '/lib/modules/6.12.1/modules.builtin': '',
    ...files,
  });
}
