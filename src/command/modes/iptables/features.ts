// The matches and targets of iptables without which no Service works, each with a rule that only a kernel with it accepts. The
// target REJECT and the matches recent, sctp and nfacct are not among them: without these three, only some Services have an error.
import type { Family } from '../../../kernel/net/address.js';
import { probability } from '../../../proxy/modes/iptables/plan/ruleText.js';

/** A match or target, which is an extension of iptables. */
export interface Feature {
  readonly kind: 'match' | 'target';
  readonly name: string;
  /** The kernel module that has it. */
  readonly module: string;
  /** Newer versions of iptables-nft write expressions of nf_tables instead, which need no such module. */
  readonly mayBeNative?: true;
  /** A rule of table nat that needs no other feature. */
  rule(family: Family): string;
}

/** The features that the rules of the node and of every Service have. */
export const FEATURES: readonly Feature[] = [
  { ...match('comment', 'xt_comment', '--comment probe'), mayBeNative: true },
  match('conntrack', 'xt_conntrack', '--ctstate NEW'),
  { ...match('mark', 'xt_mark', '--mark 0x1/0x1'), mayBeNative: true },
  match('addrtype', 'xt_addrtype', '--dst-type LOCAL'),
  { ...match('tcp', 'xt_tcpudp', '--dport 1', '-p tcp '), mayBeNative: true },
  { ...match('udp', 'xt_tcpudp', '--dport 1', '-p udp '), mayBeNative: true },
  match('statistic', 'xt_statistic', `--mode random --probability ${probability(2)}`),
  target('MARK', 'xt_mark', () => '-j MARK --set-xmark 0x1/0x1'),
  { ...target('MASQUERADE', 'xt_MASQUERADE', () => '-j MASQUERADE --random-fully'), mayBeNative: true },
  // Addresses that are reserved for documentation (RFC 5737, RFC 3849). No packet passes the rule.
  {
    ...target('DNAT', 'xt_nat', (family) => {
      return `-p tcp -j DNAT --to-destination ${family === 4 ? '192.0.2.1' : '[2001:db8::1]'}:1`;
    }),
    mayBeNative: true,
  },
];

/**
 * Whether iptables mode, of this proxy or of kube-proxy, has programmed the family since the machine started: no other mode has this
 * chain. Its rules were accepted, so that a restart tests nothing.
 *
 * @param chains `table/chain`
 */
export function isProgrammed(chains: ReadonlySet<string>): boolean {
  return chains.has('filter/KUBE-EXTERNAL-SERVICES');
}

/** `match statistic`, `target MARK`. */
export function titleOf({ kind, name }: Feature): string {
  return `${kind} ${name}`;
}

function match(name: string, module: string, options: string, protocol = ''): Feature {
  return { kind: 'match', name, module, rule: () => `${protocol}-m ${name} ${options} -j RETURN` };
}

function target(name: string, module: string, rule: Feature['rule']): Feature {
  return { kind: 'target', name, module, rule };
}
