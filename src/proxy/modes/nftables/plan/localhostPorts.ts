// Node ports on loopback addresses that are rejected, as in kube-proxy from 1.37 on with gate KubeProxyNFTablesLocalhostNodePorts: for each
// rejected protocol a chain and a counter, and a map that leads to them.
import type { Family } from '../../../../kernel/net/address.js';
import type { Protocol } from '../../../../kernel/net/protocol.js';
import { counted, reject, rule } from '../../nftablesRules/plan/expressions.js';
import type { ChainItem, CounterItem } from './items.js';

/** The protocols of Services. */
const PROTOCOLS: readonly Protocol[] = ['tcp', 'udp', 'sctp'];

/** `localhost-nodeport-reject-tcp` */
export function rejectChainName(protocol: Protocol): string {
  return `localhost-nodeport-reject-${protocol}`;
}

/** The counter of the packets of a protocol that are rejected. kube-proxy's name of it was not determined. */
function rejectedCounterName(protocol: Protocol): string {
  return `localhost-nodeport-rejected-${protocol}`;
}

const CHAINS: ReadonlySet<string> = new Set(PROTOCOLS.map(rejectChainName));
const COUNTERS: ReadonlyMap<string, Protocol> = new Map(
  PROTOCOLS.map((protocol) => [rejectedCounterName(protocol), protocol]),
);

/** Whether a chain has the name of one that rejects node ports on loopback addresses. */
export function isLocalhostRejectChain(name: string): boolean {
  return CHAINS.has(name);
}

/** The protocol of the rejected packets that a counter counts; undefined for other counters. */
export function protocolOfCounter(name: string): Protocol | undefined {
  return COUNTERS.get(name);
}

/** The counters and the chains of the rejected protocols. */
export function localhostRejects(
  family: Family,
  protocols: readonly Protocol[],
): readonly (CounterItem | ChainItem)[] {
  return protocols.flatMap((protocol): (CounterItem | ChainItem)[] => {
    const counter = rejectedCounterName(protocol);
    const rules = [rule([counted(counter), reject(family)])];
    return [
      { kind: 'counter', family, name: counter },
      { kind: 'chain', family, name: rejectChainName(protocol), rules },
    ];
  });
}
