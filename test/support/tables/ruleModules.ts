// The kernel modules of rules, from their text.
import type { Family } from '../../../src/kernel/net/address.js';

/** Matches and targets in modules of other names. */
const OTHERS: Readonly<Record<string, string>> = {
  MARK: 'xt_mark',
  DNAT: 'xt_nat',
  tcp: 'xt_tcpudp',
  udp: 'xt_tcpudp',
};

/** The modules of a rule: `-m set` → `xt_set`, `-j REJECT` → `ipt_REJECT`. Names of chains have a hyphen. */
export function modulesOf(rule: string, family: Family): string[] {
  const names = [...rule.matchAll(/-(?:m|j) ([A-Za-z]+)(?= |$)/g)].map(([, name]) => name ?? '');
  return names
    .filter((name) => !['ACCEPT', 'RETURN', 'DROP'].includes(name))
    .map((name) => {
      if (name === 'REJECT') return family === 4 ? 'ipt_REJECT' : 'ip6t_REJECT';
      return OTHERS[name] ?? `xt_${name}`;
    });
}
