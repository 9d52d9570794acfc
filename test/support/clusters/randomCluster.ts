// Random clusters and random changes, from a seed.
import { parseSaved } from '../../../src/kernel/iptables/index.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { identityOf } from '../../../src/proxy/source/manifestFile.js';
import type { ToolOutput } from '../oracle/oracle.js';
import { randomFrom } from '../random.js';

export { randomFrom };

/** The node of a random cluster. It has some of the cluster's external IPs. */
export const RANDOM_HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16,fd00:244::/64' },
  interfaces: [
    { link: 'eth0', address: '192.168.50.10', prefix: 24 },
    { link: 'eth0', address: 'fd00:192::10', prefix: 64 },
  ],
};

/** A cluster with random changes. It has few names, addresses and ports, so that Services conflict often. */
export class RandomCluster {
  /** Objects by identity, as reported by a source. */
  readonly objects = new Map<string, KubernetesObject>();
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** Changes some objects. */
  change(): void {
    const count = 1 + this.#below(8);
    for (let i = 0; i < count; i++) {
      const kind = this.#random();
      if (kind < 0.03) this.#set(this.#node());
      else if (kind < 0.4) this.#toggle(this.#service());
      else this.#toggle(this.#slice());
    }
  }

  /** Changes are more frequent than deletions. */
  #toggle(raw: object): void {
    const { object } = decodeObject(raw);
    if (object && this.objects.has(identityOf(object)) && this.#chance(0.3)) {
      this.objects.delete(identityOf(object));
    } else {
      this.#set(raw);
    }
  }

  #set(raw: object): void {
    const { object } = decodeObject(raw);
    if (object) this.objects.set(identityOf(object), object);
  }

  #node(): object {
    const labels = this.#chance(0.7)
      ? { 'topology.kubernetes.io/zone': this.#pick(['zone-a', 'zone-b']) }
      : {};
    const addresses = [{ type: 'InternalIP', address: this.#pick(['192.168.50.10', '192.168.50.99']) }];
    return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a', labels }, status: { addresses } };
  }

  #service(): object {
    const number = this.#below(6);
    const six = this.#chance(0.3);
    const both = this.#chance(0.3);
    const clusterIPs = both
      ? [`10.96.0.${number}`, `fd00:96::${number}`]
      : [six ? `fd00:96::${number}` : `10.96.0.${number}`];
    const type = this.#pick(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']);
    const policy = () => this.#pick(['Cluster', 'Local']);
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        namespace: 'demo',
        name: `s${number}`,
        creationTimestamp: `2026-01-0${1 + this.#below(3)}T00:00:00Z`,
        labels: this.#chance(0.05) ? { 'service.kubernetes.io/service-proxy-name': 'other' } : {},
      },
      spec: {
        type,
        clusterIP: this.#chance(0.05) ? 'None' : clusterIPs[0],
        clusterIPs,
        ipFamilies: clusterIPs.map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4')),
        ports: this.#some(3, (i) => ({
          name: `p${i}`,
          port: 80 + i,
          protocol: this.#pick(['TCP', 'UDP', 'SCTP']),
          nodePort: type === 'NodePort' || type === 'LoadBalancer' ? 30_080 + this.#below(4) : 0,
        })),
        externalIPs: this.#some(2, () =>
          this.#pick(['192.0.2.1', '192.0.2.2', '2001:db8::1', '192.168.50.10']),
        ),
        externalTrafficPolicy: policy(),
        internalTrafficPolicy: policy(),
        sessionAffinity: this.#pick(['None', 'None', 'ClientIP']),
        healthCheckNodePort: 32_000 + number,
        loadBalancerSourceRanges: this.#some(2, () =>
          this.#pick(['198.18.0.0/15', '192.168.50.0/24', '2001:db8::/32', '203.0.113.7/32', '0.0.0.0/0']),
        ),
      },
      status: {
        loadBalancer: {
          ingress: this.#some(2, () => ({
            ip: this.#pick(['203.0.113.1', '203.0.113.2', '2001:db8::2', '192.0.2.1']),
            ipMode: this.#pick(['VIP', 'VIP', 'Proxy']),
          })),
        },
      },
    };
  }

  #slice(): object {
    const service = this.#below(6);
    const six = this.#chance(0.3);
    const names = this.#some(3, (i) => `p${i}`);
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'demo',
        name: `s${service}-${this.#below(3)}`,
        labels: { 'kubernetes.io/service-name': `s${service}` },
      },
      addressType: six ? 'IPv6' : 'IPv4',
      ports: names.map((name) => ({ name, port: 8080, protocol: this.#pick(['TCP', 'UDP', 'SCTP']) })),
      endpoints: this.#some(4, () => this.#endpoint(six)),
    };
  }

  #endpoint(six: boolean): object {
    const ready = this.#chance(0.7);
    const hints = {
      forZones: this.#some(1, () => ({ name: this.#pick(['zone-a', 'zone-b']) })),
      forNodes: this.#chance(0.1) ? [{ name: this.#pick(['node-a', 'node-b']) }] : [],
    };
    return {
      addresses: [six ? `fd00:244::${1 + this.#below(5)}` : `10.244.0.${1 + this.#below(5)}`],
      conditions: { ready, serving: ready || this.#chance(0.5), terminating: !ready && this.#chance(0.5) },
      nodeName: this.#pick(['node-a', 'node-b', '']),
      ...(this.#chance(0.3) ? { hints } : {}),
    };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  /** Up to `most` values. */
  #some<T>(most: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.#below(most + 1) }, (_, i) => make(i));
  }
}

/**
 * The state for comparisons. The order of virtual services, of entries, of chains, and of the rules of Services in a shared
 * chain depends on history and is irrelevant.
 */
export function comparable({ ipvsadm, ipset, address, iptables, ip6tables }: ToolOutput) {
  const lines = (text: string) => text.split('\n').sort();
  return {
    ipvsadm: lines(ipvsadm),
    ipset: lines(ipset.replaceAll(/ (hashsize|bucketsize|initval) \w+/g, '')),
    // Without the index and hardware address of kube-ipvs0, which the kernel chooses.
    address: lines(address).filter((line) => !/^\d+: |^ +link\//.test(line)),
    iptables: comparableRules(iptables),
    ip6tables: comparableRules(ip6tables),
  };
}

/** Each chain with its rules, as lines. In shared chains of iptables mode, the rules are sorted, except for the tail. */
function comparableRules(text: string): string[] {
  const shared = text.includes(':KUBE-EXTERNAL-SERVICES')
    ? /\/KUBE-(SERVICES|EXTERNAL-SERVICES|NODEPORTS|PROXY-FIREWALL)$/
    : undefined;
  return [...parseSaved(text)]
    .map(([chain, rules]) => {
      const isTail = (rule: string) => rule.includes('this must be the last rule');
      const tail = rules.slice(rules.findLastIndex((rule) => !isTail(rule)) + 1);
      const sorted = shared?.test(chain) ? [...rules.slice(0, rules.length - tail.length)].sort() : undefined;
      return [chain, ...(sorted ? [...sorted, ...tail.sort()] : rules)].join('\n  ');
    })
    .sort();
}
