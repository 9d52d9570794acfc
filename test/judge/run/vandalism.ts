// Commands of another program that damages what a proxy has programmed, by mode.
import { spawnSync } from 'node:child_process';
import type { FaultName } from '../core/history.js';

/** Modes that can be judged. */
export const MODES = ['nftables', 'iptables', 'ipvs'] as const;
export type JudgedMode = (typeof MODES)[number];

const DAMAGES = [
  ...(['chainsFlushed', 'tablesDeleted', 'setsFlushed', 'setsDestroyed'] as const),
  ...(['virtualServicesDeleted', 'addressesDeleted'] as const),
];
/** Faults that are done at once. */
export type Damage = Extract<FaultName, (typeof DAMAGES)[number]>;

/** Whether a fault is done at once. */
export function isDamage(fault: FaultName): fault is Damage {
  return (DAMAGES as readonly FaultName[]).includes(fault);
}

const BOTH = (command: string) =>
  ['iptables', 'ip6tables'].map((name) => command.replaceAll('IPTABLES', name));

/** Prints the commands that flush all sets and maps of a table, and executes them. */
const FLUSH_SETS = (family: string, table = 'kube-proxy') => {
  const line = `'$1 == "set" || $1 == "map" { print "flush " $1 " ${family} ${table} " $2 }'`;
  return `nft list table ${family} ${table} | awk ${line} | nft -f -`;
};

/** The same in both families for the table of ipvs mode. It is not there if the rules are those of iptables. */
const IPVS_TABLES = (verb: string) =>
  ['ip', 'ip6'].map((family) => `nft ${verb} table ${family} kube-proxy-ipvs`);

const COMMANDS: Readonly<Record<JudgedMode, Readonly<Partial<Record<Damage, readonly string[]>>>>> = {
  nftables: {
    chainsFlushed: ['nft flush table ip kube-proxy', 'nft flush table ip6 kube-proxy'],
    tablesDeleted: ['nft delete table ip kube-proxy', 'nft delete table ip6 kube-proxy'],
    setsFlushed: [FLUSH_SETS('ip'), FLUSH_SETS('ip6')],
  },
  iptables: {
    chainsFlushed: BOTH('IPTABLES -w -t nat -F; IPTABLES -w -t filter -F'),
    tablesDeleted: BOTH("printf '*%s\\nCOMMIT\\n' nat filter mangle | IPTABLES-restore -w"),
  },
  ipvs: {
    chainsFlushed: ['ipvsadm -C', ...BOTH('IPTABLES -w -t nat -F'), ...IPVS_TABLES('flush')],
    tablesDeleted: [
      'ip link delete kube-ipvs0',
      ...BOTH("printf '*nat\\nCOMMIT\\n' | IPTABLES-restore -w"),
      ...IPVS_TABLES('delete'),
    ],
    setsFlushed: ['ipset flush', FLUSH_SETS('ip', 'kube-proxy-ipvs'), FLUSH_SETS('ip6', 'kube-proxy-ipvs')],
    setsDestroyed: [
      ...BOTH('for table in nat filter mangle; do IPTABLES -w -t "$table" -F; done'),
      'ipset destroy',
      ...IPVS_TABLES('delete'),
    ],
    virtualServicesDeleted: ['ipvsadm -C'],
    addressesDeleted: ['ip address flush dev kube-ipvs0'],
  },
};

/**
 * What programs say of something that is not there, and so cannot be damaged, and of a set with a rule that the proxy made again at once.
 */
const ABSENT = /No such file or directory|Cannot find device|does not exist|in use by a kernel component/;

/** Does the damage in a namespace; returns false if nothing of the mode that runs can be damaged in this way. */
export function damage(namespace: string, mode: JudgedMode, fault: Damage): boolean {
  const commands = COMMANDS[mode][fault];
  if (!commands) return false;
  for (const command of commands) {
    const words = ['netns', 'exec', namespace, 'sh', '-ec', command];
    const { status, stderr, error } = spawnSync('ip', words, { encoding: 'utf8' });
    if (status !== 0 && !ABSENT.test(stderr)) throw new Error(`${command}: ${error?.message ?? stderr}`);
  }
  return true;
}
