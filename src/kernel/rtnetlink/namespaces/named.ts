// Network namespaces with a name: files in /run/netns, as ip-netns(8) makes them.
import { readdir } from 'node:fs/promises';
import { argumentError } from '../../arguments.js';
import { type Addon, loadAddon, type NativeError } from '../../shared/addon.js';
import { shown } from '../../shared/arguments.js';
import { type Attempt, toNetlinkError } from '../../shared/failures.js';
import { NAMED_NAMESPACES } from '../../shared/hints.js';
import type { NamedNamespace } from './types.js';

const LONGEST_NAME = 255; // NAME_MAX
const RULE = 'must be a name of 1 to 255 bytes without /, and neither . nor ..';

/**
 * Creates a network namespace and its name, as `ip netns add` does: no process is in it, and its `lo` is down. `/run/netns` is created
 * if it is missing. Needs CAP_SYS_ADMIN in the user namespace that owns the mount namespace of the process.
 *
 * Rejects with NetlinkError `EEXIST` if the name is taken, `EPERM` without the privilege, `EAGAIN` if another program holds the lock of
 * `/run/netns` for over 5 s, `EROFS`, `EACCES` and `ENOSPC` of the folder, `ENOSPC` beyond `user.max_net_namespaces`; with TypeError or
 * RangeError for a name that breaks the rule of {@link NamedNamespace}.
 */
export function addNamespace(name: string): Promise<void> {
  return change('addNamespace', name);
}

/**
 * Deletes the name of a network namespace, as `ip netns delete` does. The namespace ends when no process, socket or mount is in it: a
 * client that is open in it keeps it. Needs CAP_SYS_ADMIN, as {@link addNamespace}.
 *
 * Rejects with NetlinkError `ENOENT` if there is no such name, `EPERM` without the privilege; with TypeError or RangeError for a name that
 * breaks the rule of {@link NamedNamespace}.
 */
export function deleteNamespace(name: string): Promise<void> {
  return change('deleteNamespace', name);
}

/**
 * The names in `/run/netns`, sorted, as `ip netns list` has them; none if there is no such folder. A name may be that of a file that is no
 * network namespace: opening a client in it is then refused with `EINVAL`. Rejects with NetlinkError `EACCES`.
 */
export async function listNamespaces(): Promise<NamedNamespace[]> {
  try {
    const names = await readdir(NAMED_NAMESPACES);
    return names.sort().map((name) => ({ name, path: `${NAMED_NAMESPACES}/${name}` }));
  } catch (error) {
    const { code, errno = 0 } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    const message = `cannot read ${NAMED_NAMESPACES}`;
    throw toNetlinkError({ errno: -errno, code: '', message }, { operation: 'rtnetlink.listNamespaces' });
  }
}

async function change(verb: keyof Addon & ('addNamespace' | 'deleteNamespace'), name: string): Promise<void> {
  const attempt = attemptAt(verb, name);
  if (!isName(name)) {
    throw argumentError(attempt.operation, {
      ...{ field: 'name', value: name, rule: RULE, wrongType: typeof name !== 'string' },
    });
  }
  try {
    await loadAddon()[verb](NAMED_NAMESPACES, name);
  } catch (error) {
    const { errno, code, kernelMessage } = error as NativeError;
    if (errno === undefined || kernelMessage === undefined) throw error;
    throw toNetlinkError({ errno, code, message: kernelMessage }, attempt);
  }
}

function attemptAt(verb: string, name: unknown): Attempt {
  const hint = (code: string) =>
    code === 'EPERM' ? `needs CAP_SYS_ADMIN, to mount a network namespace in ${NAMED_NAMESPACES}` : undefined;
  return { operation: `rtnetlink.${verb}`, target: `netns ${shown(name)}`, hint };
}

function isName(name: unknown): name is string {
  return (
    typeof name === 'string' && !/^(\.{0,2})$|[/\0]/.test(name) && Buffer.byteLength(name) <= LONGEST_NAME
  );
}
