// The rules that distribute connections over the endpoints of a Service port.
import type { Family } from '../../net/address.js';
import type { AddressPorts } from '../../net/addressPorts.js';
import type { Protocol } from '../../net/protocol.js';
import { endpointChain } from './names.js';
import { comment, hostNetwork, probability, recentList } from './ruleText.js';

/** An endpoint with the name of its chain. */
export interface NamedEndpoint {
  /** `10.0.0.1:80`, `[fd00::1]:80`. */
  readonly text: string;
  readonly address: string;
  readonly chain: string;
}

/** The facts of a Service port that the rules of its endpoints depend on. */
export interface BalancedPort {
  readonly family: Family;
  readonly protocol: Protocol;
  /** Timeout of client-IP affinity, in s; 0 for none. */
  readonly affinitySeconds: number;
  /** Name of the Service port: `default/web:http`. */
  readonly name: string;
  /** Rules of endpoints have comments: not in large clusters. */
  readonly comments: boolean;
}

/** The endpoints of a list with their chains, in the order of their text, as in kube-proxy. */
export function namedEndpoints({ name, protocol }: BalancedPort, list: AddressPorts): NamedEndpoint[] {
  const endpoints: NamedEndpoint[] = [];
  for (let i = 0; i < list.size; i++) {
    const text = list.textAt(i);
    endpoints.push({ text, address: list.addressAt(i), chain: endpointChain(name, protocol, text) });
  }
  return endpoints.sort((a, b) => (a.text < b.text ? -1 : 1));
}

/** The rules that select an endpoint: first the one to which the client was connected before, then a random one. */
export function balance(port: BalancedPort, endpoints: readonly NamedEndpoint[]): string[] {
  const rules: string[] = [];
  const { affinitySeconds, family } = port;
  if (affinitySeconds > 0) {
    for (const { text, chain } of endpoints) {
      const list = `--rcheck --seconds ${affinitySeconds} --reap ${recentList(chain, family)}`;
      rules.push(`${commented(port, ` -> ${text}`)}-m recent ${list} -j ${chain}`);
    }
  }
  for (const [i, { text, chain }] of endpoints.entries()) {
    const left = endpoints.length - i;
    const chance = left > 1 ? `-m statistic --mode random --probability ${probability(left)} ` : '';
    rules.push(`${commented(port, ` -> ${text}`)}${chance}-j ${chain}`);
  }
  return rules;
}

/** The rules of an endpoint's chain: masquerade its traffic to itself, and translate the destination. */
export function endpointRules(port: BalancedPort, { text, address, chain }: NamedEndpoint): string[] {
  const { family, protocol } = port;
  const own = commented(port, '');
  const remember = port.affinitySeconds > 0 ? `-m recent --set ${recentList(chain, family)} ` : '';
  return [
    `-s ${hostNetwork(address, family)} ${own}-j KUBE-MARK-MASQ`,
    `-p ${protocol} ${own}${remember}-m ${protocol} -j DNAT --to-destination ${text}`,
  ];
}

function commented({ name, comments }: BalancedPort, rest: string): string {
  return comments ? `${comment(name + rest)} ` : '';
}
