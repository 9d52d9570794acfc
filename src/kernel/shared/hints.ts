// Hints that are true on this machine: its state is looked at when an operation has failed, and never before.
import { existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { performance } from 'node:perf_hooks';

/** The part of the machine that hints look at. */
export interface Machine {
  /** `uname -r`. */
  readonly release: string;
  exists(path: string): boolean;
  /** The text of a file, or undefined if it cannot be read. */
  read(path: string): string | undefined;
}

/** This machine, as the process sees it. */
export const HOST: Machine = {
  release: release(),
  exists: existsSync,
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined; // the hint then says less
    }
  },
};

/** A capability (include/uapi/linux/capability.h), and its bit in `CapEff`. */
const CAPABILITY = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n } as const;

/** The line of /proc/self/uid_map in the first user namespace: all ids are themselves. */
const ALL_IDS = /^\s*0\s+0\s+4294967295\s*$/;

/**
 * The reason for an EPERM.
 *
 * @param entered whether the call entered another network namespace, which needs CAP_SYS_ADMIN beside CAP_NET_ADMIN
 */
export function permissionHint(entered: boolean, machine: Machine = HOST): string {
  const needed = entered ? 'CAP_SYS_ADMIN' : 'CAP_NET_ADMIN';
  const purpose = entered ? 'to enter another network namespace' : 'over the network namespace';
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(machine.read('/proc/self/status') ?? '')?.[1];
  if (effective === undefined) return `needs ${needed} ${purpose}`;
  if (((BigInt(`0x${effective}`) >> CAPABILITY[needed]) & 1n) === 0n) {
    return `needs ${needed} ${purpose}, which this process lacks`;
  }
  const ids = machine.read('/proc/self/uid_map');
  if (ids !== undefined && !ALL_IDS.test(ids)) {
    return `needs ${needed} ${purpose}: this process has it in its own user namespace only, which does not own that network namespace`;
  }
  return `this process has ${needed}: the object belongs to another program or has another state, or a security module or a seccomp filter refuses the call`;
}

/** Where ip-netns(8) has the network namespaces that it names. */
export const NAMED_NAMESPACES = '/run/netns';

/** What can be done about a network namespace whose file is missing. */
export function namespaceHint(path: string, machine: Machine = HOST): string | undefined {
  if (path.includes('/')) return undefined;
  const named = `${NAMED_NAMESPACES}/${path}`;
  if (machine.exists(named)) return `a network namespace is named by its path: ${named}`;
  return `a network namespace is named by its path, as ${named} is that of \`ip netns add ${path}\``;
}

/** The part of a module in the running kernel; `unknown` where the folder of the kernel's modules cannot be read. */
type ModuleState = 'loaded' | 'built in' | 'loadable' | 'missing' | 'unknown';

const folderOf = ({ release }: Machine) => `/lib/modules/${release}`;

/** Looks for a kernel module, and loads nothing. */
export function stateOfModule(name: string, machine: Machine = HOST): ModuleState {
  if (machine.exists(`/sys/module/${name}`)) return 'loaded';
  const available = machine.read(`${folderOf(machine)}/modules.dep`);
  if (available === undefined) return 'unknown';
  const isListed = (list: string) =>
    new RegExp(`(^|/)${spellings(name)}\\.ko(\\.\\w+)?(:|$)`, 'm').test(list);
  if (isListed(machine.read(`${folderOf(machine)}/modules.builtin`) ?? '')) return 'built in';
  return isListed(available) ? 'loadable' : 'missing';
}

/** Whether the running kernel is known to have a module: loaded or built in. Then no operation misses it. */
export function hasModule(name: string, machine: Machine = HOST): boolean {
  const state = stateOfModule(name, machine);
  return state === 'loaded' || state === 'built in';
}

/** What can be done about a kernel module that an operation misses. */
export function moduleHint(name: string, machine: Machine = HOST): string {
  const state = stateOfModule(name, machine);
  switch (state) {
    case 'loaded':
    case 'built in':
      return `the kernel module ${name} is ${state}, and refuses the request`;
    case 'loadable':
      return `load the kernel module ${name} (modprobe ${name})`;
    case 'missing':
      return `the kernel ${machine.release} has no module ${name}: install the package with its modules, or another kernel`;
    case 'unknown':
      return `load the kernel module ${name} on the host (modprobe ${name}): it is not loaded, and this process cannot read ${folderOf(machine)}`;
  }
}

/** A pattern for the name of a module: files may have `-` for each `_`. */
function spellings(name: string): string {
  return name.replace(/[_-]/g, '[_-]');
}

/** Time for which a hint is repeated before the machine is looked at again, in ms: a batch may fail with very many errors. */
const LIFETIME = 1000;
const remembered = new Map<string, { readonly hint: string | undefined; readonly until: number }>();

/** The hint of that name, from `look` unless it was asked for within the last second. */
export function recent<Hint extends string | undefined>(
  name: string,
  look: () => Hint,
  now = performance.now(),
): Hint {
  const former = remembered.get(name);
  if (former && former.until > now) return former.hint as Hint;
  const hint = look();
  remembered.set(name, { hint, until: now + LIFETIME });
  return hint;
}
