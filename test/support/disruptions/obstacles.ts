// What keeps a mode from what all its Services need, while it follows another one: the kernel refuses a setting or a transaction, or lacks a
// setting, or another program holds the lock of iptables.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const absent: Obstacle = {
  title: 'the settings of IPVS are absent',
  reason: /all Services need what the kernel refuses: .*ENOENT/s,
  raise: () => mounted('/proc/sys/net/ipv4/vs', '-t tmpfs none'),
};

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

/** The lock is a file of the proxy's own: other tests do not wait for it. Only the programs of iptables-legacy take it. */
const locked: Obstacle = {
  title: 'another program holds the lock of iptables',
  reason: /all Services need what the kernel refuses: .*lock of iptables/s,
  raise: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'knp-lock-'));
    const lock = join(folder, 'xtables.lock');
    // With the descriptor, the lock is that of one process.
    const holder = spawn('sh', ['-c', 'exec 9>"$0"; flock 9; echo held; exec sleep infinity', lock], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const end = () => holder.kill('SIGKILL');
    closeAfter({
      close: () => {
        end();
        rmSync(folder, { recursive: true });
      },
    });
    await once(holder.stdout, 'data');
    return { launcher: ['env', `XTABLES_LOCKFILE=${lock}`], remove: end };
  },
};

/** The obstacle of each mode that is tried at each change to it. */
export const OBSTACLES = {
  ipvs: readOnly('net.ipv4.vs.conntrack=0'),
  iptables: readOnly('net.ipv4.conf.all.route_localnet=0'),
  nftables: owned,
} as const satisfies Readonly<Record<string, Obstacle>>;

/** Changes between ipvs mode and iptables mode with other obstacles, in their order: the mode that follows, and its obstacle. */
export const MORE_OBSTACLES = [
  ['iptables', OBSTACLES.iptables],
  ['ipvs', absent],
  ['iptables', locked],
  ['ipvs', locked],
] as const satisfies readonly (readonly [string, Obstacle])[];
