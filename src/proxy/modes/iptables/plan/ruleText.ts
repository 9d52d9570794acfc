// The rules of Service ports and endpoints, as iptables-save prints them: addresses and links, then the protocol, then
// matches, then the target.
import type { Family } from '../../../../kernel/net/address.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { containsAll, type LocalMatch } from '../../shared/plan/localDetector.js';

/** `-m comment --comment "…"`. What would end the comment is escaped, as iptables-save does. */
export function comment(text: string): string {
  return `-m comment --comment "${SPECIAL.test(text) ? text.replace(EACH_SPECIAL, '\\$&') : text}"`;
}

const SPECIAL = /["'\\]/;
const EACH_SPECIAL = /["'\\]/g;

/** The network of one address: `10.0.0.1/32`. */
export function hostNetwork(address: string, family: Family): string {
  return `${address}/${family === 4 ? 32 : 128}`;
}

/** Matches traffic to a port, with a comment. */
export function toPort(protocol: Protocol, port: number, text: string, match = ''): string {
  return `-p ${protocol} ${comment(text)} ${match}-m ${protocol} --dport ${port}`;
}

/** Matches local traffic, or with `not` all other traffic, to a network. If all traffic is local, no rule matches other traffic. */
export function localTraffic(local: LocalMatch, not: '' | '! ', destination = ''): string {
  if (containsAll(local)) return destination;
  return 'network' in local
    ? `${not}-s ${local.network} ${destination}`
    : `${destination}${not}-i ${local.interface} `;
}

/** The number of values of a random number of the kernel (xt_statistic). */
const RANDOM_RANGE = 2 ** 31;

/** Results for small numbers: most Services have few endpoints. */
const probabilities: string[] = [];
const MOST_KNOWN = 256;

/** The probability 1/n as iptables writes and prints it: 10 decimals, rounded to a multiple of 2^-31, with 11 decimals. */
export function probability(n: number): string {
  const known = probabilities[n];
  if (known !== undefined) return known;
  const text = written(1 / n);
  if (n <= MOST_KNOWN) probabilities[n] = text;
  return text;
}

function written(share: number): string {
  return (Math.round(Number(share.toFixed(10)) * RANDOM_RANGE) / RANDOM_RANGE).toFixed(11);
}

/** Matches with the probability 1/n, followed by a space; nothing for n = 1. */
export function chance(n: number): string {
  return n > 1 ? `-m statistic --mode random --probability ${probability(n)} ` : '';
}

/**
 * Matches with the probability of a weight among those that are left, followed by a space; nothing if it is the last one. The kernel's
 * smallest probability is 2^-31: no rule has less.
 */
export function weightedChance(weight: number, left: number): string {
  if (weight >= left) return '';
  return `-m statistic --mode random --probability ${written(Math.max(weight / left, 1 / RANDOM_RANGE))} `;
}

/** The options of the `recent` list of an endpoint, after the verb. */
export function recentList(name: string, family: Family): string {
  const mask = family === 4 ? '255.255.255.255' : 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
  return `--name ${name} --mask ${mask} --rsource`;
}

/** The counter of packets to node ports on loopback addresses. */
export const LOCALHOST_COUNTER = 'localhost_nps_accepted_pkts';

/** The counter of packets that are dropped because of conntrack's state INVALID. */
export const INVALID_COUNTER = 'ct_state_invalid_dropped_pkts';

/** Counts packets. */
export function count(counter: string): string {
  return `-m nfacct --nfacct-name ${counter}`;
}
