// Commands of another program that damages what a proxy has programmed, by mode.
import { spawnSync } from 'node:child_process';
import type { FaultName } from '../core/history.js';

/** Modes that can be judged. */
export const MODES = ['nftables', 'iptables', 'ipvs'] as const;
export type JudgedMode = (typeof MODES)[number];

type Damage = Extract<FaultName, 'chainsFlushed' | 'tablesDeleted'>;

const BOTH = (command: string) =>
  ['iptables', 'ip6tables'].map((name) => command.replaceAll('IPTABLES', name));

const COMMANDS: Readonly<Record<JudgedMode, Readonly<Record<Damage, readonly string[]>>>> = {
  nftables: {
    chainsFlushed: ['nft flush table ip kube-proxy', 'nft flush table ip6 kube-proxy'],
    tablesDeleted: ['nft delete table ip kube-proxy', 'nft delete table ip6 kube-proxy'],
  },
  iptables: {
    chainsFlushed: BOTH('IPTABLES -w -t nat -F; IPTABLES -w -t filter -F'),
    tablesDeleted: BOTH("printf '*%s\\nCOMMIT\\n' nat filter mangle | IPTABLES-restore -w"),
  },
  ipvs: {
    chainsFlushed: ['ipvsadm -C', ...BOTH('IPTABLES -w -t nat -F')],
    tablesDeleted: ['ip link delete kube-ipvs0', ...BOTH("printf '*nat\\nCOMMIT\\n' | IPTABLES-restore -w")],
  },
};

/** What programs say of something that is not there: it cannot be damaged. */
const ABSENT = /No such file or directory|Cannot find device/;

/** Does the damage in a namespace. */
export function damage(namespace: string, mode: JudgedMode, fault: Damage): void {
  for (const command of COMMANDS[mode][fault]) {
    const words = ['netns', 'exec', namespace, 'sh', '-ec', command];
    const { status, stderr, error } = spawnSync('ip', words, { encoding: 'utf8' });
    if (status !== 0 && !ABSENT.test(stderr)) throw new Error(`${command}: ${error?.message ?? stderr}`);
  }
}
