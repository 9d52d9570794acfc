// Histories of a few objects, as clusters had them, in every mode: after each step, the kernel has what a node that starts with the
// objects of that step programs, and the endpoints that get traffic are the ones named.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Family } from '../../../../src/kernel/net/address.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import type { KubernetesObject } from '../../../../src/proxy/objects/types.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { HOST, NODE } from '../../../support/clusters/manifests.js';
import {
  FakeIptablesNode,
  FakeNftablesNode,
  FakeNode,
  FakeTablesNode,
  outputOf,
} from '../../../support/oracle/testNode.js';

const NODES = {
  ipvs: (host: Host) => new FakeNode(host),
  'ipvs, rules of nf_tables': (host: Host) => new FakeTablesNode(host),
  iptables: (host: Host) => new FakeIptablesNode(host),
  nftables: (host: Host) => new FakeNftablesNode(host),
  'nftables, layout scalable': (host: Host) => new FakeNftablesNode(host, new FakeKernel(), 'scalable'),
};
type Host = typeof HOST & { readonly families?: readonly Family[] };
type AnyNode = ReturnType<(typeof NODES)[keyof typeof NODES]>;

/** A step: all objects of the cluster from then on. */
interface Step {
  readonly objects: string;
  /** All endpoints that get traffic, `address:port`. */
  readonly endpoints: readonly string[];
  /** Texts that the state has, and texts that it has not. */
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  /** Rules that the objects break. */
  readonly problems?: readonly RegExp[];
}

const service = (name: string, spec: string, status = '{}') => `
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: ${name}, creationTimestamp: 2026-01-05T08:00:00Z, uid: u-${name}}
spec: {ipFamilies: [IPv4], ${spec}}
status: ${status}
---
`;
const clusterIP = (address: string) => `clusterIP: ${address}, clusterIPs: [${address}]`;
const http = (more = '') => `ports: [{name: http, protocol: TCP, port: 80, targetPort: 8080${more}}]`;
const ingress = (...addresses: string[]) =>
  `{loadBalancer: {ingress: [${addresses.map((ip) => `{ip: ${ip}, ipMode: VIP}`).join(', ')}]}}`;

/** An EndpointSlice. `endpoints`: an address and its conditions that differ from the defaults. */
const slice = (name: string, labels: string, ports: string, ...endpoints: string[]) => {
  const items = endpoints.map((text) => {
    const [address, conditions = ''] = text.split(' - ');
    return `{addresses: ["${address}"], nodeName: node-a, conditions: {${conditions}}}`;
  });
  return `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: ${name}, labels: {${labels}}}
addressType: ${endpoints[0]?.includes(':') && !endpoints[0].includes('.') ? 'IPv6' : 'IPv4'}
ports: [${ports}]
endpoints: [${items.join(', ')}]
---
`;
};
const of = (name: string) => `kubernetes.io/service-name: ${name}`;
const HTTP = '{name: http, protocol: TCP, port: 8080}';

const app = (name: string, address: string) =>
  service(name, `type: ClusterIP, ${clusterIP(address)}, ${http()}`);
const APPS = app('app', '10.96.0.90') + app('app2', '10.96.0.91');
const IMPORTED = 'multicluster.kubernetes.io/service-name: web';
const LOOPBACK = /status\.loadBalancer\.ingress\[0\]\.ip: .* not a loopback address, found "127\.0\.0\.1"/;

const GHOST = 'ready: false, serving: false, terminating: true';
const UNREADY = 'ready: false, serving: false';

const IPV4_ONLY = 'addresses and source ranges of the other family, on a node without IPv6';

const HISTORIES: Readonly<Record<string, readonly Step[]>> = {
  'the port of a slice loses its number': [
    {
      objects:
        app('app', '10.96.0.90') +
        slice('app-1', of('app'), HTTP, '10.244.1.11') +
        slice('app-2', of('app'), '{name: http, protocol: TCP, port: 8081}', '10.244.1.12'),
      endpoints: ['10.244.1.11:8080', '10.244.1.12:8081'],
    },
    {
      objects:
        app('app', '10.96.0.90') +
        slice('app-1', of('app'), HTTP, '10.244.1.11') +
        slice('app-2', of('app'), '{name: http, protocol: TCP}', '10.244.1.12'),
      endpoints: ['10.244.1.11:8080'],
    },
  ],
  'a slice leaves its Service, returns, and moves to another one': [
    { objects: APPS + slice('app-1', of('app'), HTTP, '10.244.1.11'), endpoints: ['10.244.1.11:8080'] },
    { objects: APPS + slice('app-1', 'x: y', HTTP, '10.244.1.11'), endpoints: [] },
    { objects: APPS + slice('app-1', of('app'), HTTP, '10.244.1.11'), endpoints: ['10.244.1.11:8080'] },
    { objects: APPS + slice('app-1', of('app2'), HTTP, '10.244.1.11'), endpoints: ['10.244.1.11:8080'] },
  ],
  'slices of the multi-cluster API': [
    {
      objects:
        app('web', '10.96.0.50') +
        slice('web-1', of('web'), HTTP, '10.244.1.11') +
        slice('web-imported-1', IMPORTED, HTTP, '10.251.1.11') +
        slice('web-imported-2', IMPORTED, HTTP, '10.252.1.11'),
      endpoints: ['10.244.1.11:8080'],
      lacks: ['10.251.1.11', '10.252.1.11'],
    },
  ],
  'a load balancer with a loopback address comes and goes': [
    { objects: app('ok', '10.96.0.60'), endpoints: [] },
    {
      objects:
        app('ok', '10.96.0.60') +
        service(
          'balanced',
          `type: LoadBalancer, ${clusterIP('10.96.0.50')}, ${http(', nodePort: 32238')}`,
          ingress('127.0.0.1'),
        ) +
        slice('balanced-1', of('balanced'), HTTP, '10.244.1.11'),
      endpoints: ['10.244.1.11:8080'],
      has: ['10.96.0.50', '32238'],
      problems: [LOOPBACK],
    },
    { objects: app('ok', '10.96.0.60'), endpoints: [] },
  ],
  'the type of a Service changes': [
    {
      objects:
        service('app', `type: ExternalName, externalName: www.example.com, selector: {app: x}, ${http()}`) +
        slice('app-1', `${of('app')}, service.kubernetes.io/headless: ""`, HTTP, '10.244.1.11'),
      endpoints: [],
    },
    {
      objects:
        app('app', '10.96.0.60') +
        slice('app-1', `${of('app')}, service.kubernetes.io/headless: ""`, HTTP, '10.244.1.11'),
      endpoints: [],
      has: ['10.96.0.60'],
    },
    {
      objects: app('app', '10.96.0.60') + slice('app-1', of('app'), HTTP, '10.244.1.11'),
      endpoints: ['10.244.1.11:8080'],
    },
    {
      objects:
        service(
          'app',
          `type: LoadBalancer, ${clusterIP('10.96.0.60')}, ${http(', nodePort: 30080')}, externalIPs: [203.0.113.60], ` +
            'externalTrafficPolicy: Local, healthCheckNodePort: 32060',
          ingress('203.0.113.61'),
        ) + slice('app-1', of('app'), HTTP, '10.244.1.11'),
      endpoints: ['10.244.1.11:8080'],
      has: ['30080', '203.0.113.60', '203.0.113.61'],
    },
    {
      objects:
        service('app', `type: ExternalName, externalName: www.example.com, ${http()}`) +
        slice('app-1', of('app'), HTTP, '10.244.1.11'),
      endpoints: [],
      lacks: ['10.96.0.60', '30080', '203.0.113.6'],
    },
    {
      objects:
        service('app', `type: ClusterIP, ${clusterIP('None')}, ${http()}`) +
        slice('app-1', `${of('app')}, service.kubernetes.io/headless: ""`, HTTP, '10.244.1.11'),
      endpoints: [],
    },
    {
      objects: app('app', '10.96.0.61') + slice('app-1', of('app'), HTTP, '10.244.1.11'),
      endpoints: ['10.244.1.11:8080'],
      has: ['10.96.0.61'],
      lacks: ['10.96.0.60'],
    },
  ],
  'Services exchange cluster IPs, node ports, names of ports and protocols': exchanges(),
  'two slices have the same endpoint, in different conditions': duplicates(),
  'addresses and source ranges of the other family': families(),
  [IPV4_ONLY]: families().map(withoutIPv6),
};

/** What a node without IPv6 has of a step. */
function withoutIPv6({ objects, endpoints, has = [], lacks = [] }: Step): Step {
  const isIPv4 = (text: string) => !/:.*:/.test(text);
  const others = has.filter((text) => !isIPv4(text));
  return {
    objects,
    endpoints: endpoints.filter(isIPv4),
    has: has.filter(isIPv4),
    lacks: [...lacks, ...others],
  };
}

function duplicates(): Step[] {
  const both = (address: string, first: string, second: string): Step => ({
    objects:
      app('web', '10.96.0.50') +
      slice('web-a', of('web'), HTTP, `${address} - ${first}`) +
      slice('web-b', of('web'), HTTP, `${address} - ${second}`),
    endpoints: [`${address}:8080`],
  });
  return [
    both('10.244.1.11', GHOST, 'ready: true'),
    both('10.244.1.11', 'ready: true', GHOST),
    both('10.244.2.11', GHOST, 'ready: true'),
    both('10.244.2.11', 'ready: true', 'ready: false, serving: true, terminating: true'),
    both('10.244.2.11', UNREADY, 'ready: true'),
    both('10.244.2.11', 'ready: true', UNREADY),
    {
      objects: app('web', '10.96.0.50') + slice('web-c', of('web'), HTTP, '10.244.2.11'),
      endpoints: ['10.244.2.11:8080'],
    },
  ];
}

function exchanges(): Step[] {
  const nodePort = (name: string, address: string, ports: string, more = '') =>
    service(name, `type: NodePort, ${clusterIP(address)}, ports: [${ports}]${more}`);
  const port = (name: string, number: number, nodePort: number, protocol = 'TCP') =>
    `{name: "${name}", protocol: ${protocol}, port: ${number}, nodePort: ${nodePort}}`;
  const affinity = (seconds: number) =>
    `, sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: ${seconds}}}`;
  const named = (name: string, number = 8080, protocol = 'TCP') =>
    `{name: "${name}", protocol: ${protocol}, port: ${number}}`;
  const twoPorts = slice('a-1', of('a'), `${named('x', 8081)}, ${named('y', 8082)}`, '10.244.1.11');
  const all = ['10.244.1.11:8080', '10.244.1.11:8081', '10.244.1.11:8082', '10.244.1.12:8080'];
  return [
    {
      objects:
        nodePort('old', '10.96.0.70', port('http', 80, 30070)) +
        slice('old-1', of('old'), HTTP, '10.244.1.11') +
        nodePort('a', '10.96.0.71', `${port('x', 80, 30071)}, ${port('y', 81, 30072)}`, affinity(100)) +
        twoPorts +
        nodePort('b', '10.96.0.72', port('z', 80, 30073)) +
        slice('b-1', of('b'), named('z'), '10.244.1.12'),
      endpoints: all,
    },
    {
      objects:
        nodePort('new', '10.96.0.70', port('web', 80, 30070)) +
        slice('new-1', of('new'), named('web'), '10.244.1.12') +
        nodePort('a', '10.96.0.71', `${port('y', 80, 30073)}, ${port('x', 81, 30071)}`, affinity(200)) +
        twoPorts +
        nodePort('b', '10.96.0.72', port('z', 80, 30072)) +
        slice('b-1', of('b'), named('z'), '10.244.1.12'),
      endpoints: all.slice(1),
    },
    {
      objects:
        nodePort('new', '10.96.0.72', port('web', 80, 30072)) +
        slice('new-1', of('new'), named('web'), '10.244.1.12') +
        nodePort('b', '10.96.0.70', port('z', 80, 30070)) +
        slice('b-1', of('b'), named('z'), '10.244.1.11') +
        nodePort('a', '10.96.0.71', port('', 80, 30071)) +
        slice('a-1', of('a'), named('', 8081), '10.244.1.11'),
      endpoints: ['10.244.1.11:8080', '10.244.1.11:8081', '10.244.1.12:8080'],
    },
    {
      objects:
        nodePort('a', '10.96.0.71', port('', 80, 30071, 'UDP')) +
        slice('a-1', of('a'), named('', 8081, 'UDP'), '10.244.1.11') +
        service('b', `type: ClusterIP, ${clusterIP('10.96.0.70')}, ports: [{name: z, port: 30071}]`) +
        slice('b-1', of('b'), named('z'), '10.244.1.11'),
      endpoints: ['10.244.1.11:8080', '10.244.1.11:8081'],
      lacks: ['10.96.0.72', '30070', '30072'],
    },
  ];
}

function families(): Step[] {
  const balanced = (name: string, spec: string, ...addresses: string[]) =>
    service(name, `type: LoadBalancer, ${spec}`, ingress(...addresses));
  const dual = (first: string, second: string, ranges: string) =>
    balanced(
      'dual',
      `clusterIP: "${first}", clusterIPs: ["${first}"${second && `, "${second}"`}], ${http(', nodePort: 30085')}, ` +
        `loadBalancerSourceRanges: [${ranges}]`,
      '203.0.113.85',
      '"2001:db8:113::85"',
    ).replace(
      'ipFamilies: [IPv4]',
      `ipFamilies: [${[first, second].filter(Boolean).map(familyName).join(', ')}]`,
    );
  const slices = (name: string) =>
    slice(`${name}-4`, of(name), HTTP, '10.244.1.11') +
    slice(`${name}-6`, of(name), HTTP, 'fd00:10:244:1::11');
  const six = '"fd00:10:96::81"';
  return [
    {
      objects:
        balanced(
          'v4',
          `${clusterIP('10.96.0.80')}, externalIPs: ["2001:db8:113::9", 203.0.113.80], ` +
            `loadBalancerSourceRanges: ["4700::/32"], ${http(', nodePort: 30080')}`,
          '203.0.113.81',
          '"2001:db8:113::8"',
        ) +
        slices('v4') +
        balanced(
          'v4b',
          `${clusterIP('10.96.0.82')}, loadBalancerSourceRanges: [" 198.51.100.0/24 ", "", "4700::/32", "\\t192.0.2.7/24"], ` +
            http(', nodePort: 30082'),
          '203.0.113.82',
        ) +
        slice('v4b-1', of('v4b'), HTTP, '10.244.1.11') +
        balanced(
          'v6',
          `${clusterIP(six)}, externalIPs: [203.0.113.83], ${http(', nodePort: 30083')}`,
          '203.0.113.84',
        ).replace('[IPv4]', '[IPv6]') +
        slices('v6') +
        dual('10.96.0.85', 'fd00:10:96::85', '198.51.100.0/24, "fd00:1::/64", 10.0.0.0/8') +
        slices('dual'),
      endpoints: ['10.244.1.11:8080', 'fd00:10:244:1::11:8080'],
      has: [
        '203.0.113.80',
        '203.0.113.81',
        '198.51.100.0/24',
        '192.0.2.0/24',
        'fd00:1::/64',
        '2001:db8:113::85',
      ],
      lacks: ['2001:db8:113::9', '2001:db8:113::8/', '203.0.113.83', '203.0.113.84', '4700::'],
    },
    {
      objects: dual('10.96.0.85', '', '"fd00:1::/64"') + slices('dual'),
      endpoints: ['10.244.1.11:8080'],
      has: ['203.0.113.85'],
      lacks: ['2001:db8:113::85', 'fd00:10:96::85', 'fd00:1::/64'],
    },
    {
      objects: dual('fd00:10:96::85', '10.96.0.85', '0.0.0.0/0') + slices('dual'),
      endpoints: ['10.244.1.11:8080', 'fd00:10:244:1::11:8080'],
      has: ['203.0.113.85', '2001:db8:113::85', 'fd00:10:96::85'],
    },
  ];
}

function familyName(address: string): string {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/** The state of a node's kernel as sorted lines, without real servers that drain and settings, which no step changes. */
function stateOf({ kernel }: AnyNode): string[] {
  const { sysctl: _, ...tools } = outputOf(kernel);
  const elements = kernel.nftables.dump().replaceAll(/elements = \{ |, |,\s+| \}/g, '\n');
  const lines = [...Object.values(tools), elements].flatMap((text) => text.split('\n'));
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/ -w 0$/.test(line))
    .sort();
}

/** The endpoints in a state: `address:port` of the networks of pods. */
function endpointsIn(state: readonly string[]): string[] {
  const found = state
    .join('\n')
    .matchAll(/\[?(10\.244\.\d+\.\d+|fd00:10:244:[0-9a-f:]+)\]?(?: \. |:)(\d{4,5})\b(?!\.)/g);
  return [...new Set([...found].map(([, address, port]) => `${address}:${port}`))].sort();
}

async function take(node: AnyNode, objects: ReadonlyMap<string, KubernetesObject>): Promise<void> {
  node.set(objects);
  const { failures } = await node.sync();
  assert.deepEqual(failures, []);
}

for (const [history, steps] of Object.entries(HISTORIES))
  describe(history, () => {
    for (const [mode, make] of Object.entries(NODES))
      it(`in ${mode} mode`, async () => {
        const open = () => make(history === IPV4_ONLY ? { ...HOST, families: [4] } : HOST);
        const node = open();
        let former: ReadonlyMap<string, KubernetesObject> | undefined;
        for (const [
          index,
          { objects: text, endpoints, has = [], lacks = [], problems = [] },
        ] of steps.entries()) {
          const manifest = await readManifest('objects.yaml', NODE + text, former);
          const told = manifest.problems.map(
            ({ object, field, rule, value }) =>
              `${object}: ${field}: ${rule}, found ${JSON.stringify(value)}`,
          );
          assert.equal(told.length, problems.length, told.join('\n'));
          for (const [i, pattern] of problems.entries()) assert.match(told[i] as string, pattern);
          former = manifest.objects;
          await take(node, former);
          const fresh = open();
          await take(fresh, (await readManifest('objects.yaml', NODE + text)).objects);
          const state = stateOf(node);
          assert.deepEqual(state, stateOf(fresh), `step ${index}`);
          assert.deepEqual(endpointsIn(state), [...endpoints].sort(), `step ${index}`);
          for (const part of has) assert.ok(state.join('\n').includes(part), `step ${index} lacks ${part}`);
          for (const part of [...lacks, '127.0.0.1'])
            assert.ok(!withoutFixed(state).includes(part), `step ${index} has ${part}`);
        }
      });
  });

/** The state without rules and addresses that no Service adds. */
function withoutFixed(state: readonly string[]): string {
  return state.filter((line) => !/127\.0\.0\.0\/8/.test(line)).join('\n');
}
