// What keeps a mode from what all its Services need, while it follows another one: the kernel refuses a setting or a transaction.
import { execFileSync, spawn } from 'node:child_process';
import { until } from '../apiServer/cluster.js';
import { closeAfter } from '../closeAfter.js';
import { ask } from '../namespaces/witnesses.js';

/** An obstacle that exists. */
interface Raised {
  /** Words before the command of a proxy that meets it: they execute the command in the same process. */
  readonly launcher?: readonly string[];
  /** Removes it, for the running proxy too. */
  remove(proxy: number): unknown;
}

/** An obstacle. */
export interface Obstacle {
  readonly title: string;
  /** Why the mode is not ready, in the output of `status`. */
  readonly reason: RegExp;
  /** Raises it in the network namespace of a node, on which no proxy runs. */
  raise(node: string): Raised | Promise<Raised>;
}

/** A setting of the mode, to be written again: what a node has after its boot, and what nobody writes for a container that starts again. */
function reset(node: string, setting: string): void {
  ask(node, 'sysctl', '-q', '-w', setting);
}

/** Mounts something in the mount namespace of the proxy alone. */
const mounted = (path: string, options: string): Raised => ({
  launcher: ['sh', '-c', `mount ${options} ${path} && exec "$@"`, 'sh'],
  remove: (proxy) => {
    execFileSync('nsenter', ['-t', String(proxy), '-m', '-n', 'umount', '-l', path]);
  },
});

/** `/proc/sys` as in a container without privileges, for a mode that writes this setting. */
const readOnly = (setting: string): Obstacle => ({
  title: '/proc/sys is read-only',
  reason: /all Services need what the kernel refuses: .*EROFS/s,
  raise: (node) => {
    reset(node, setting);
    return mounted('/proc/sys', '--bind -o ro /proc/sys');
  },
});

/** A table with an owner is changed by its process alone, and goes with it. */
const owned: Obstacle = {
  title: 'another process owns the table',
  reason: /all Services need what the kernel refuses: .*EPERM.*another process owns the table/s,
  raise: async (node) => {
    const owner = spawn('ip', ['netns', 'exec', node, 'nft', '-i'], { stdio: ['pipe', 'ignore', 'inherit'] });
    const end = () => owner.kill('SIGKILL');
    closeAfter({ close: end });
    owner.stdin.write('add table ip kube-proxy { flags owner; }\n');
    await until('the table has an owner', () =>
      /^table ip kube-proxy$/m.test(ask(node, 'nft', 'list', 'tables')),
    );
    return { remove: end };
  },
};

/** The obstacle of each mode. */
export const OBSTACLES = {
  ipvs: readOnly('net.ipv4.vs.conntrack=0'),
  iptables: readOnly('net.ipv4.conf.all.route_localnet=0'),
  nftables: owned,
} as const satisfies Readonly<Record<string, Obstacle>>;
