// The rules of single Services, and of options, as iptables-save printed those of kube-proxy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import { identityOf } from '../../../../../src/proxy/source/manifestFile.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16,fd00:10:244::/48' },
  interfaces: [
    { link: 'eth0', address: '192.168.10.5', prefix: 24 },
    { link: 'cni0', address: '10.244.1.1', prefix: 24 },
  ],
};

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
  status: { addresses: [{ type: 'InternalIP', address: '192.168.10.5' }] },
};

interface Case {
  /** Fields of the Service's spec. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Load-balancer IP. */
  readonly ingress?: string;
  /** Endpoints: those in 10.244.1.0/24 are on this node. */
  readonly endpoints: readonly (string | Readonly<Record<string, unknown>>)[];
  readonly port?: { readonly name: string; readonly port: number };
}

function objectsOf(name: string, { spec, ingress, endpoints, port }: Case): Map<string, KubernetesObject> {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name },
    spec: { ports: [{ port: 80 }], ...spec },
    status: { loadBalancer: { ingress: ingress === undefined ? [] : [{ ip: ingress }] } },
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [port ?? { name: '', port: 80 }],
    endpoints: endpoints.map((given) => {
      const endpoint = typeof given === 'string' ? { addresses: [given] } : given;
      const [address = ''] = endpoint['addresses'] as string[];
      return { nodeName: address.startsWith('10.244.1.') ? 'node-a' : 'node-b', ...endpoint };
    }),
  };
  const decoded = [NODE, service, slice].map((raw) => decodeObject(raw).object as KubernetesObject);
  return new Map(decoded.map((object) => [identityOf(object), object]));
}

/** A node with one Service. */
async function nodeWith(name: string, one: Case, configuration: object = {}): Promise<FakeIptablesNode> {
  const node = new FakeIptablesNode({ ...HOST, configuration: { ...HOST.configuration, ...configuration } });
  node.set(objectsOf(name, one));
  assert.deepEqual((await node.sync()).failures, []);
  return node;
}

const OWN = /^-A KUBE-(MARK-MASQ|POSTROUTING|FORWARD|FIREWALL) |this must be the last rule|--nfacct-name/;

/** The rules of the Service, sorted. */
function rulesOf(node: FakeIptablesNode): string[] {
  const lines = node.kernel.iptables.dump(4).split('\n');
  return lines.filter((line) => line.startsWith('-A KUBE-') && !OWN.test(line)).sort();
}

async function expectRules(name: string, one: Case, expected: string): Promise<void> {
  const wanted = expected.trim().split(/\n\s*/).sort();
  assert.deepEqual(rulesOf(await nodeWith(name, one)), wanted);
}

const EXTERNAL = { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30086 }] };

describe('the rules of a Service', () => {
  it('without endpoints: refused everywhere', () =>
    expectRules(
      'noep',
      {
        spec: {
          ...EXTERNAL,
          clusterIP: '10.96.80.1',
          externalIPs: ['203.0.113.50'],
          ports: [{ port: 80, nodePort: 30085 }],
        },
        ingress: '203.0.113.51',
        endpoints: [],
      },
      `-A KUBE-EXTERNAL-SERVICES -d 203.0.113.50/32 -p tcp -m comment --comment "default/noep has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable
       -A KUBE-EXTERNAL-SERVICES -d 203.0.113.51/32 -p tcp -m comment --comment "default/noep has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable
       -A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "default/noep has no endpoints" -m addrtype --dst-type LOCAL -m tcp --dport 30085 -j REJECT --reject-with icmp-port-unreachable
       -A KUBE-SERVICES -d 10.96.80.1/32 -p tcp -m comment --comment "default/noep has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable`,
    ));

  it('with policy Local and endpoints on other nodes only: dropped, except for traffic of this node', () =>
    expectRules(
      'nolocal',
      {
        spec: {
          ...EXTERNAL,
          clusterIP: '10.96.80.2',
          externalTrafficPolicy: 'Local',
          healthCheckNodePort: 32003,
          externalIPs: ['203.0.113.52'],
        },
        ingress: '203.0.113.53',
        endpoints: ['10.244.2.80'],
      },
      `-A KUBE-EXTERNAL-SERVICES -d 203.0.113.52/32 -p tcp -m comment --comment "default/nolocal has no local endpoints" -m tcp --dport 80 -j DROP
       -A KUBE-EXTERNAL-SERVICES -d 203.0.113.53/32 -p tcp -m comment --comment "default/nolocal has no local endpoints" -m tcp --dport 80 -j DROP
       -A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "default/nolocal has no local endpoints" -m addrtype --dst-type LOCAL -m tcp --dport 30086 -j DROP
       -A KUBE-NODEPORTS -p tcp -m comment --comment "default/nolocal health check node port" -m tcp --dport 32003 -j ACCEPT
       -A KUBE-EXT-FLO43DYR2GV4AWHL -s 10.244.0.0/16 -m comment --comment "pod traffic for default/nolocal external destinations" -j KUBE-SVC-FLO43DYR2GV4AWHL
       -A KUBE-EXT-FLO43DYR2GV4AWHL -m comment --comment "masquerade LOCAL traffic for default/nolocal external destinations" -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ
       -A KUBE-EXT-FLO43DYR2GV4AWHL -m comment --comment "route LOCAL traffic for default/nolocal external destinations" -m addrtype --src-type LOCAL -j KUBE-SVC-FLO43DYR2GV4AWHL
       -A KUBE-NODEPORTS -p tcp -m comment --comment "default/nolocal" -m tcp --dport 30086 -j KUBE-EXT-FLO43DYR2GV4AWHL
       -A KUBE-SEP-DM6DUBTVXRRVNYAQ -s 10.244.2.80/32 -m comment --comment "default/nolocal" -j KUBE-MARK-MASQ
       -A KUBE-SEP-DM6DUBTVXRRVNYAQ -p tcp -m comment --comment "default/nolocal" -m tcp -j DNAT --to-destination 10.244.2.80:80
       -A KUBE-SERVICES -d 10.96.80.2/32 -p tcp -m comment --comment "default/nolocal cluster IP" -m tcp --dport 80 -j KUBE-SVC-FLO43DYR2GV4AWHL
       -A KUBE-SERVICES -d 203.0.113.52/32 -p tcp -m comment --comment "default/nolocal external IP" -m tcp --dport 80 -j KUBE-EXT-FLO43DYR2GV4AWHL
       -A KUBE-SERVICES -d 203.0.113.53/32 -p tcp -m comment --comment "default/nolocal loadbalancer IP" -m tcp --dport 80 -j KUBE-EXT-FLO43DYR2GV4AWHL
       -A KUBE-SVC-FLO43DYR2GV4AWHL ! -s 10.244.0.0/16 -d 10.96.80.2/32 -p tcp -m comment --comment "default/nolocal cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ
       -A KUBE-SVC-FLO43DYR2GV4AWHL -m comment --comment "default/nolocal -> 10.244.2.80:80" -j KUBE-SEP-DM6DUBTVXRRVNYAQ`,
    ));

  it('with internal policy Local and an endpoint on this node', () =>
    expectRules(
      'itp',
      {
        spec: { clusterIP: '10.96.50.1', internalTrafficPolicy: 'Local' },
        endpoints: ['10.244.1.50', '10.244.2.50'],
      },
      `-A KUBE-SEP-CCMDPLTF4M2BJHSK -s 10.244.1.50/32 -m comment --comment "default/itp" -j KUBE-MARK-MASQ
       -A KUBE-SEP-CCMDPLTF4M2BJHSK -p tcp -m comment --comment "default/itp" -m tcp -j DNAT --to-destination 10.244.1.50:80
       -A KUBE-SERVICES -d 10.96.50.1/32 -p tcp -m comment --comment "default/itp cluster IP" -m tcp --dport 80 -j KUBE-SVL-SQZ6YVT2FGD2HOFE
       -A KUBE-SVL-SQZ6YVT2FGD2HOFE ! -s 10.244.0.0/16 -d 10.96.50.1/32 -p tcp -m comment --comment "default/itp cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ
       -A KUBE-SVL-SQZ6YVT2FGD2HOFE -m comment --comment "default/itp -> 10.244.1.50:80" -j KUBE-SEP-CCMDPLTF4M2BJHSK`,
    ));

  it('with internal policy Local and endpoints on other nodes only: dropped', () =>
    expectRules(
      'itpno',
      { spec: { clusterIP: '10.96.50.2', internalTrafficPolicy: 'Local' }, endpoints: ['10.244.2.50'] },
      '-A KUBE-SERVICES -d 10.96.50.2/32 -p tcp -m comment --comment "default/itpno has no local endpoints" -m tcp --dport 80 -j DROP',
    ));

  it('with source ranges, of which one has the node IP', () =>
    expectRules(
      'lbc',
      {
        spec: {
          ...EXTERNAL,
          clusterIP: '10.96.20.2',
          ports: [{ name: 'a', port: 80, nodePort: 30081 }],
          loadBalancerSourceRanges: ['192.168.10.0/24', '198.18.0.0/15'],
        },
        ingress: '203.0.113.21',
        endpoints: ['10.244.1.31', '10.244.2.31'],
        port: { name: 'a', port: 80 },
      },
      `-A KUBE-PROXY-FIREWALL -d 203.0.113.21/32 -p tcp -m comment --comment "default/lbc:a traffic not accepted by KUBE-FW-TKNW2CVB6JBBSGIW" -m tcp --dport 80 -j DROP
       -A KUBE-EXT-TKNW2CVB6JBBSGIW -m comment --comment "masquerade traffic for default/lbc:a external destinations" -j KUBE-MARK-MASQ
       -A KUBE-EXT-TKNW2CVB6JBBSGIW -j KUBE-SVC-TKNW2CVB6JBBSGIW
       -A KUBE-FW-TKNW2CVB6JBBSGIW -s 192.168.10.0/24 -m comment --comment "default/lbc:a loadbalancer IP" -j KUBE-EXT-TKNW2CVB6JBBSGIW
       -A KUBE-FW-TKNW2CVB6JBBSGIW -s 198.18.0.0/15 -m comment --comment "default/lbc:a loadbalancer IP" -j KUBE-EXT-TKNW2CVB6JBBSGIW
       -A KUBE-FW-TKNW2CVB6JBBSGIW -s 203.0.113.21/32 -m comment --comment "default/lbc:a loadbalancer IP" -j KUBE-EXT-TKNW2CVB6JBBSGIW
       -A KUBE-FW-TKNW2CVB6JBBSGIW -m comment --comment "other traffic to default/lbc:a will be dropped by KUBE-PROXY-FIREWALL"
       -A KUBE-NODEPORTS -p tcp -m comment --comment "default/lbc:a" -m tcp --dport 30081 -j KUBE-EXT-TKNW2CVB6JBBSGIW
       -A KUBE-SEP-DFLDBMKTXGXHM45K -p tcp -m comment --comment "default/lbc:a" -m tcp -j DNAT --to-destination 10.244.2.31:80
       -A KUBE-SEP-DFLDBMKTXGXHM45K -s 10.244.2.31/32 -m comment --comment "default/lbc:a" -j KUBE-MARK-MASQ
       -A KUBE-SEP-Q7CSTXCGYHR7JD5C -p tcp -m comment --comment "default/lbc:a" -m tcp -j DNAT --to-destination 10.244.1.31:80
       -A KUBE-SEP-Q7CSTXCGYHR7JD5C -s 10.244.1.31/32 -m comment --comment "default/lbc:a" -j KUBE-MARK-MASQ
       -A KUBE-SERVICES -d 10.96.20.2/32 -p tcp -m comment --comment "default/lbc:a cluster IP" -m tcp --dport 80 -j KUBE-SVC-TKNW2CVB6JBBSGIW
       -A KUBE-SERVICES -d 203.0.113.21/32 -p tcp -m comment --comment "default/lbc:a loadbalancer IP" -m tcp --dport 80 -j KUBE-FW-TKNW2CVB6JBBSGIW
       -A KUBE-SVC-TKNW2CVB6JBBSGIW ! -s 10.244.0.0/16 -d 10.96.20.2/32 -p tcp -m comment --comment "default/lbc:a cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ
       -A KUBE-SVC-TKNW2CVB6JBBSGIW -m comment --comment "default/lbc:a -> 10.244.1.31:80" -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-Q7CSTXCGYHR7JD5C
       -A KUBE-SVC-TKNW2CVB6JBBSGIW -m comment --comment "default/lbc:a -> 10.244.2.31:80" -j KUBE-SEP-DFLDBMKTXGXHM45K`,
    ));
});

const FIVE: Case = {
  spec: { clusterIP: '10.96.70.1' },
  endpoints: ['10.244.2.91', '10.244.2.92', '10.244.2.93', '10.244.2.94', '10.244.2.95'],
};

describe('the endpoints of a Service', () => {
  const balanced = async (name: string, one: Case) =>
    rulesOf(await nodeWith(name, one)).filter((rule) => rule.includes(' -> '));

  it('five, with the probabilities that the kernel rounds', async () => {
    const endpoint = (n: number, chance: string, chain: string) =>
      `-A KUBE-SVC-XBTWWDH2BPQTTIMU -m comment --comment "default/five -> 10.244.2.9${n}:80" ` +
      `${chance && `-m statistic --mode random --probability ${chance} `}-j KUBE-SEP-${chain}`;
    assert.deepEqual(await balanced('five', FIVE), [
      endpoint(1, '0.20000000019', '2R3Y5G2RLGNGBAZI'),
      endpoint(2, '0.25000000000', '6GML3BLENLLPO2R4'),
      endpoint(3, '0.33333333349', 'F2DZILRQND3JVYES'),
      endpoint(4, '0.50000000000', 'HC7RZTXKDLWDPKAV'),
      endpoint(5, '', 'STOBM47E7FPYOQLW'),
    ]);
  });

  it('in the order of their text, not of their numbers', async () => {
    const { kernel } = await nodeWith('order', {
      spec: { clusterIP: '10.96.70.2' },
      endpoints: ['10.244.2.9', '10.244.2.10'],
    });
    const order = [...kernel.iptables.dump(4).matchAll(/"default\/order -> (\S+)"/g)].map(([, text]) => text);
    assert.deepEqual(order, ['10.244.2.10:80', '10.244.2.9:80']);
  });

  it('serving and terminating ones, if none is ready', async () => {
    const conditions = (serving: boolean) => ({ conditions: { ready: false, serving, terminating: true } });
    const rules = await balanced('term', {
      spec: { clusterIP: '10.96.80.3' },
      endpoints: [
        { addresses: ['10.244.2.81'], ...conditions(true) },
        { addresses: ['10.244.2.82'], ...conditions(false) },
      ],
    });
    assert.deepEqual(rules, [
      '-A KUBE-SVC-Y2ELQZTLJW773NML -m comment --comment "default/term -> 10.244.2.81:80" -j KUBE-SEP-MUCVTAZG7GNLCIKI',
    ]);
  });

  it('those hinted for the zone of this node', async () => {
    const hints = (zone: string) => ({ hints: { forZones: [{ name: zone }] } });
    const rules = await balanced('topo', {
      spec: { clusterIP: '10.96.80.4' },
      endpoints: [
        { addresses: ['10.244.1.83'], ...hints('zone-a') },
        { addresses: ['10.244.2.83'], ...hints('zone-b') },
      ],
    });
    assert.deepEqual(rules, [
      '-A KUBE-SVC-6L3C7EPTLBNPFKIJ -m comment --comment "default/topo -> 10.244.1.83:80" -j KUBE-SEP-BRKGKXX3LOVGTD24',
    ]);
  });
});

const LOCAL: Case = {
  spec: {
    ...EXTERNAL,
    clusterIP: '10.96.20.4',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 32004,
  },
  endpoints: ['10.244.1.40'],
};

describe('options', () => {
  const linesWith = async (text: RegExp, configuration: object) =>
    (await nodeWith('opt', LOCAL, configuration)).kernel.iptables
      .dump(4)
      .split('\n')
      .filter((line) => text.test(line))
      .map((line) => line.replace(/^-A \S+ /, '').replace(/ -j KUBE-SVC-.*/, ' -j SVC'));
  const clusterIP = '-d 10.96.20.4/32';
  const dialled = '-p tcp -m comment --comment "default/opt cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ';
  const pods = '-m comment --comment "pod traffic for default/opt external destinations" -j SVC';

  const detectors = {
    'a bridge': {
      configuration: { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'cni0' } },
      rules: [`-i cni0 ${pods}`, `${clusterIP} ! -i cni0 ${dialled}`],
    },
    'a prefix of interfaces': {
      configuration: { detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'veth' } },
      rules: [`-i veth+ ${pods}`, `${clusterIP} ! -i veth+ ${dialled}`],
    },
    'no network': { configuration: { clusterCIDR: '' }, rules: [] },
    'all addresses': { configuration: { clusterCIDR: '0.0.0.0/0' }, rules: [pods] },
    'all traffic to masquerade': {
      configuration: { iptables: { masqueradeAll: true } },
      rules: [`-s 10.244.0.0/16 ${pods}`, `${clusterIP} ${dialled}`],
    },
  };
  for (const [name, { configuration, rules }] of Object.entries(detectors)) {
    it(`local traffic: ${name}`, async () => {
      const found = await linesWith(/pod traffic for|cluster IP".* -j KUBE-MARK-MASQ/, configuration);
      assert.deepEqual(found.sort(), [...rules].sort());
    });
  }

  const TAIL =
    '-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"';
  const nodePorts = {
    'all addresses': {
      configuration: {},
      tail: [`${TAIL} -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`],
      loopback: true,
    },
    'no loopback addresses': {
      configuration: { iptables: { localhostNodePorts: false } },
      tail: [`! -d 127.0.0.0/8 ${TAIL} -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`],
      loopback: false,
    },
    'networks with loopback': {
      configuration: { nodePortAddresses: ['192.168.10.0/24', '127.0.0.0/8'] },
      tail: [`-d 127.0.0.1/32 ${TAIL} -j KUBE-NODEPORTS`, `-d 192.168.10.5/32 ${TAIL} -j KUBE-NODEPORTS`],
      loopback: true,
    },
    'networks without loopback': {
      configuration: { nodePortAddresses: ['192.168.10.0/24', '172.16.0.0/12'] },
      tail: [`-d 192.168.10.5/32 ${TAIL} -j KUBE-NODEPORTS`],
      loopback: false,
    },
    'the addresses of the node': {
      configuration: { nodePortAddresses: ['primary'] },
      tail: [`-d 192.168.10.5/32 ${TAIL} -j KUBE-NODEPORTS`],
      loopback: false,
    },
    'networks without an address here': {
      configuration: { nodePortAddresses: ['172.16.0.0/12'] },
      tail: [],
      loopback: false,
    },
  };
  for (const [name, { configuration, tail, loopback }] of Object.entries(nodePorts)) {
    it(`node ports on ${name}`, async () => {
      assert.deepEqual((await linesWith(/this must be the last rule/, configuration)).sort(), tail);
      const node = await nodeWith('opt', LOCAL, configuration);
      const text = node.kernel.iptables.dump(4);
      assert.equal(text.includes('block incoming localnet connections'), loopback);
      assert.equal(text.includes('localhost_nps_accepted_pkts'), loopback);
      assert.equal(node.kernel.sysctl.values.get('net/ipv4/conf/all/route_localnet'), loopback ? '1' : '0');
      // The counting rule precedes the other one.
      const ports = text
        .split('\n')
        .filter((line) => line.startsWith('-A KUBE-NODEPORTS') && /30086/.test(line));
      assert.deepEqual(
        ports.map((line) => line.includes('-d 127.')),
        loopback ? [true, false] : [false],
      );
    });
  }
});
