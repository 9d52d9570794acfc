// Runs the command bench again in new namespaces, which end with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { constants } from 'node:os';

/** A machine or a user that cannot run the benchmark; the message is for people. */
export class NotIsolated extends Error {}

/** Environment variable with the network namespace of the outer process, in the form of `/proc/self/ns/net`. */
const OUTER_NAMESPACE = 'KUBE_NETLINK_PROXY_OUTER_NETNS';

/** Signals that end the benchmark. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Whether this process is in a network namespace of its own, which {@link runIsolated} made. Throws {@link NotIsolated} if the
 * environment promises it and it is not so: nothing may be measured in the namespace of the node.
 */
export function isIsolated(env: NodeJS.ProcessEnv = process.env): boolean {
  const outer = env[OUTER_NAMESPACE];
  if (outer === undefined) return false;
  if (outer !== readlinkSync('/proc/self/ns/net')) return true;
  throw new NotIsolated(`the network namespace is the node's: ${outer}; unset ${OUTER_NAMESPACE}`);
}

/**
 * The command that runs another one in new network, mount and process namespaces. The kernel removes all that the
 * command leaves, with the namespaces, when it or this process ends.
 */
function isolated(command: readonly string[]): string[] {
  // A tmpfs hides /run: locks of iptables and named network namespaces are the benchmark's own. The shell is process 1 of its
  // namespace, and waits for processes that lost their parents.
  const setUp = 'mount -t tmpfs tmpfs /run && mkdir -p /run/lock /run/netns && "$@"; exit $?';
  return [
    ...['setpriv', '--pdeathsig', 'KILL'],
    ...['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ...['sh', '-c', setUp, 'sh', ...command],
  ];
}

/**
 * Runs this process's command line again in new namespaces; resolves to its exit status. A signal ends it, with all its
 * processes. Rejects with {@link NotIsolated} if the user is not root or a program is missing.
 */
export async function runIsolated(): Promise<number> {
  if (process.getuid?.() !== 0) {
    throw new NotIsolated('bench needs root, because it creates network namespaces: run it with sudo');
  }
  const [program = '', ...args] = isolated([process.execPath, ...process.execArgv, ...process.argv.slice(1)]);
  const env = { ...process.env, [OUTER_NAMESPACE]: readlinkSync('/proc/self/ns/net') };
  const child = spawn(program, args, { env, stdio: 'inherit' });
  let signalled: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals) => {
    signalled ??= signal;
    child.kill('SIGKILL');
  };
  for (const signal of ENDING) process.on(signal, end);
  try {
    const [status, signal] = await endOf(child);
    const cause = signalled ?? signal;
    if (signalled)
      process.stderr.write(`\n${signalled}: the benchmark has ended, and its namespaces with it\n`);
    return cause === null ? (status ?? 1) : 128 + constants.signals[cause];
  } finally {
    for (const signal of ENDING) process.off(signal, end);
  }
}

async function endOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  try {
    return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new NotIsolated(`cannot start setpriv: ${message}`);
    throw new NotIsolated('the tool setpriv is missing: install the package util-linux');
  }
}
