// A node with kube-proxy's recorded rules of iptables mode: the facts of explanations, and the Services of its objects.
import { readFileSync } from 'node:fs';
import type { PathFacts } from '../../../src/command/explain/shared/facts.js';
import { parsePolicies, parseSaved } from '../../../src/kernel/iptables/saved.js';
import type { Family } from '../../../src/kernel/net/address.js';
import { formatNetwork, type Network, parseNetwork } from '../../../src/kernel/net/network.js';
import { categorizeEndpoints } from '../../../src/proxy/services/categorizeEndpoints.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../src/proxy/services/serviceCache.js';
import type { ServicePort } from '../../../src/proxy/services/types.js';
import { readManifest } from '../../../src/proxy/source/manifestFile.js';
import { recordedObjects, type Scenario } from './oracle.js';

/** The text of iptables-save that a step recorded for a family. */
export function recordedRules(step: string, family: Family): string {
  return readFileSync(`${step}/${family === 4 ? 'iptables' : 'ip6tables'}.txt`, 'utf8');
}

/**
 * The facts of a node with these rules: the interfaces of the scenario, an uplink, and a network of pods.
 *
 * @param text of iptables-save
 */
export function factsOf({ configuration, interfaces }: Scenario, family: Family, text: string): PathFacts {
  const { bridgeInterface = '' } = (configuration['detectLocal'] ?? {}) as { bridgeInterface?: string };
  const pods = bridgeInterface || 'cni0';
  const own = interfaces.map(({ link, address, prefix }) => ({
    network: formatNetwork(parseNetwork(`${address}/${prefix}`) as Network),
    link,
    metric: 0,
  }));
  const uplink = interfaces[0]?.link ?? 'lo';
  const routes =
    family === 4
      ? [
          { network: '0.0.0.0/0', gateway: '192.168.50.1', link: uplink, metric: 0 },
          { network: '10.244.1.0/24', link: pods, metric: 0 },
        ]
      : [
          { network: '::/0', gateway: 'fd00:192:168:50::1', link: uplink, metric: 1024 },
          { network: 'fd00:10:244:1::/64', link: pods, metric: 256 },
        ];
  return {
    family,
    tables: { rules: parseSaved(text), policies: parsePolicies(text) },
    sets: new Map(),
    links: new Map([[pods, 'bridge']]),
    addresses: [
      { link: 'lo', address: '127.0.0.1', prefix: 8 },
      { link: 'lo', address: '::1', prefix: 128 },
      ...interfaces,
      { link: pods, address: '10.244.1.1', prefix: 24 },
      { link: pods, address: 'fd00:10:244:1::1', prefix: 64 },
    ],
    routes: [...own.filter(({ network }) => network.includes(':') === (family === 6)), ...routes],
    sockets: [],
    neighbours: [],
    settings: new Map([
      ['net/ipv4/ip_forward', '1'],
      ['net/ipv6/conf/all/forwarding', '1'],
      ['net/ipv4/conf/all/route_localnet', '1'],
      ['net/bridge/bridge-nf-call-iptables', '1'],
      ['net/bridge/bridge-nf-call-ip6tables', '1'],
    ]),
  };
}

/** The Service ports of the objects that a step recorded, as the node sees them, with the endpoints of both policies. */
export async function recordedPorts(step: string): Promise<readonly ServicePort[]> {
  const { objects } = await readManifest('objects.yaml', recordedObjects(step));
  const cache = new ServiceCache();
  for (const object of objects.values()) for (const _ of cache.apply({ type: 'set', object }));
  const node = nodeFacts('node-a', { node: cache.node('node-a') });
  return [...cache.serviceNames()]
    .flatMap((service) => cache.planInput(service, node)?.ports ?? [])
    .map((port) => ({
      ...port,
      ...categorizeEndpoints(port.endpoints, { cluster: true, local: true }, node),
    }));
}
