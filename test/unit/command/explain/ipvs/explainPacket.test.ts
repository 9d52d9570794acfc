// Packets that the tests with real packets do not send: each cause, unusual virtual services, and the default clients.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Explanation, PacketQuestion } from '../../../../../src/command/explain/explanation.js';
import { explainPacket } from '../../../../../src/command/explain/ipvs/explainPacket.js';
import type { ExplainedServer, ExplainFacts } from '../../../../../src/command/explain/ipvs/facts.js';
import type { SetEntry, SetState } from '../../../../../src/kernel/ipset/types.js';
import { parsePolicies, parseSaved } from '../../../../../src/kernel/iptables/saved.js';
import type { VirtualService } from '../../../../../src/kernel/ipvs/types.js';
import type { NeighbourState } from '../../../../../src/kernel/rtnetlink/types.js';
import { IPVS_DEFAULTS } from '../../../../../src/proxy/modes/ipvs/index.js';
import { chains, jumps } from '../../../../../src/proxy/modes/ipvs/plan/rules.js';
import { setOf } from '../../../../../src/proxy/modes/ipvs/plan/sets.js';

const VIP = '10.96.0.10';
const NODE_IP = '192.168.50.10';
const OPTIONS = {
  ...IPVS_DEFAULTS,
  kernelRelease: '6.1.0',
  localDetector: { by: 'network', networks: { 4: '10.244.0.0/16' } },
} as const;

function server(address: string, changes: Partial<ExplainedServer> = {}): ExplainedServer {
  return {
    address,
    port: 8080,
    weight: 1,
    forwarding: 'masquerade',
    upperThreshold: 0,
    lowerThreshold: 0,
    activeConnections: 0,
    inactiveConnections: 0,
    ...changes,
  };
}

const SETTINGS = { scheduler: 'rr', schedulerFlags: [], onePacket: false };
const service = (address: string, port: number): VirtualService => ({
  address,
  port,
  protocol: 'tcp',
  ...SETTINGS,
});

const ENTRIES: Readonly<Record<string, readonly SetEntry[]>> = {
  'KUBE-CLUSTER-IP': [{ address: VIP, protocol: 'tcp', port: 80 }],
  'KUBE-LOOP-BACK': [{ address: '10.244.1.11', protocol: 'tcp', port: 8080, address2: '10.244.1.11' }],
  'KUBE-IPVS-IPS': [{ address: VIP }],
};

const SETS: readonly SetState[] = [
  'KUBE-CLUSTER-IP',
  'KUBE-LOOP-BACK',
  'KUBE-IPVS-IPS',
  'KUBE-LOAD-BALANCER',
  'KUBE-EXTERNAL-IP',
  'KUBE-EXTERNAL-IP-LOCAL',
  'KUBE-HEALTH-CHECK-NODE-PORT',
].map((role) => {
  const { name, type } = setOf(role as 'KUBE-CLUSTER-IP', 4);
  const entries = ENTRIES[role] ?? [];
  return { set: { name, type, revision: 1, references: 1, extended: false }, entries } as SetState;
});

/** The rules that ipvs mode programs for these sets. */
function rulesText(): string {
  const has = (role: string) => ENTRIES[role] !== undefined;
  const all = chains(
    4,
    { has, nodeDrops: [], shortcuts: [], receivesTunnels: false, podNetwork: undefined },
    OPTIONS,
  );
  const jumping = jumps(4).toReversed();
  return (['filter', 'nat'] as const)
    .map((table) => {
      const base = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];
      const own = all.filter((chain) => chain.table === table);
      return [
        `*${table}`,
        ...base.map((name) => `:${name} ACCEPT [0:0]`),
        ...own.map(({ name }) => `:${name} - [0:0]`),
        ...jumping.filter((jump) => jump.table === table).map(({ chain, text }) => `-A ${chain} ${text}`),
        ...own.flatMap(({ name, rules }) => rules.map((rule) => `-A ${name} ${rule}`)),
        'COMMIT\n',
      ].join('\n');
    })
    .join('');
}

const RULES = rulesText();

/** A node with one Service of one cluster IP and one local endpoint. */
function facts(changes: Partial<ExplainFacts> = {}, text = RULES): ExplainFacts {
  return {
    family: 4,
    tables: { rules: parseSaved(text), policies: parsePolicies(text) },
    sets: new Map(SETS.map((set) => [set.set.name, set])),
    services: [service(VIP, 80)],
    realServers: new Map([[`TCP ${VIP}:80`, [server('10.244.1.11')]]]),
    links: new Map([
      ['cni0', 'bridge'],
      ['kube-ipvs0', 'dummy'],
    ]),
    addresses: [
      { link: 'lo', address: '127.0.0.1', prefix: 8 },
      { link: 'eth0', address: NODE_IP, prefix: 24 },
      { link: 'cni0', address: '10.244.1.1', prefix: 24 },
      { link: 'kube-ipvs0', address: VIP, prefix: 32 },
    ],
    routes: [
      { network: '0.0.0.0/0', gateway: '192.168.50.1', link: 'eth0', metric: 0 },
      { network: '192.168.50.0/24', link: 'eth0', metric: 0 },
      { network: '10.244.1.0/24', link: 'cni0', metric: 0 },
      { network: '10.244.2.0/24', gateway: '192.168.50.11', link: 'eth0', metric: 0 },
    ],
    sockets: [],
    neighbours: [],
    settings: new Map([
      ['net/ipv4/vs/conntrack', '1'],
      ['net/ipv4/ip_forward', '1'],
      ['net/bridge/bridge-nf-call-iptables', '1'],
    ]),
    ...changes,
  };
}

function ask(from: string | undefined, state = facts(), to: Partial<PacketQuestion> = {}): Explanation {
  const question = { address: VIP, port: 80, protocol: 'tcp', ...to } as const;
  return explainPacket(state, from === undefined ? question : { ...question, from }, OPTIONS);
}

const codes = ({ verdict, causes }: Explanation) => [verdict, ...causes.map(({ code }) => code)];
const withServers = (...servers: ExplainedServer[]) =>
  facts({ realServers: new Map([[`TCP ${VIP}:80`, servers]]) });

describe('clients', () => {
  it('by default a pod for a cluster IP and for an address of no Service, the node for a loopback address, otherwise a host outside', () => {
    assert.deepEqual(ask(undefined).client, {
      address: '10.244.1.254',
      place: 'pod',
      reason: 'by default, an unused address of the pods on this node, 10.244.1.0/24 dev cni0',
    });
    assert.equal(ask(undefined, facts(), { address: '127.0.0.1' }).client.place, 'node');
    assert.deepEqual(
      ask(undefined, facts(), { address: NODE_IP, port: 30_001 }).client.address,
      '192.0.2.254',
    );
    const place = (to: Partial<PacketQuestion>, state = facts()) => ask(undefined, state, to).client.place;
    assert.equal(place({ address: '10.96.99.99' }), 'pod');
    assert.equal(place({ address: '10.96.99.99', clusterIP: false }), 'outside');
    assert.equal(place({ address: '10.96.99.99' }, facts({ routes: [], sets: new Map() })), 'node');
    assert.equal(place({ port: 9 }), 'pod');
  });

  it('the node connects to its own addresses with the same address, and to others with that of its link', () => {
    assert.equal(ask('node').client.address, VIP);
    assert.equal(ask('node', facts(), { address: '203.0.113.9' }).client.address, NODE_IP);
  });

  it('an address has the place that routes and rules show', () => {
    const place = (address: string, state = facts()) => ask(address, state).client.place;
    assert.equal(place(NODE_IP), 'node');
    assert.equal(place('10.244.1.77'), 'pod');
    assert.equal(place('10.244.2.77'), 'other pod');
    assert.equal(place('192.168.50.100'), 'outside');
    // Without a pod network in rules and configuration, pods are on links other than the uplink.
    const flushed = explainPacket(
      facts({}, '*nat\nCOMMIT\n'),
      { address: VIP, port: 80, protocol: 'tcp', from: '10.244.1.77' },
      { ...OPTIONS, localDetector: IPVS_DEFAULTS.localDetector },
    );
    assert.equal(flushed.client.place, 'pod');
  });

  it('a place without an address on this node is an error that names the option', () => {
    const alone = facts({ routes: [], sets: new Map() });
    assert.throws(() => ask('pod', alone), /no network of pods on this node is known: .* --from$/);
    assert.throws(() => ask('outside', alone), /no route leads outside the cluster: .* --from$/);
  });
});

describe('verdicts and causes', () => {
  it('the packets of a pod are forwarded', () => {
    const { verdict, masquerade, endpoints, warnings } = ask('10.244.2.77');
    assert.deepEqual([verdict, masquerade, warnings], ['forwarded', 'no', []]);
    assert.deepEqual(endpoints, [
      {
        endpoint: '10.244.1.11:8080',
        weight: 1,
        selectable: true,
        onThisNode: true,
        masqueraded: false,
        source: '10.244.2.77',
        reply: 'returns',
        result: 'forwarded',
      },
    ]);
  });

  it('weights and thresholds', () => {
    const idle = server('10.244.2.11', { weight: 0 });
    const full = server('10.244.2.12', { upperThreshold: 2, activeConnections: 1, inactiveConnections: 1 });
    assert.deepEqual(codes(ask('pod', withServers(idle, full))), ['refused', 'NoCapacity']);
    const { endpoints, verdict } = ask('pod', withServers(idle, server('10.244.1.11')));
    assert.equal(verdict, 'forwarded');
    assert.deepEqual(
      endpoints.map(({ selectable }) => selectable),
      [true, false],
    );
    assert.deepEqual(codes(ask('pod', withServers())), ['refused', 'NoRealServer']);
  });

  it('a real server on the node itself sees remote clients, whose packets do not pass POSTROUTING', () => {
    const [endpoint] = ask('192.168.50.100', withServers(server(NODE_IP))).endpoints;
    assert.deepEqual([endpoint?.source, endpoint?.masqueraded], ['192.168.50.100', false]);
  });

  it('a real server on the node itself connects if a process listens', () => {
    const state = withServers(server(NODE_IP));
    const sockets = [{ protocol: 'tcp', address: '0.0.0.0', port: 8080 }] as const;
    for (const from of ['192.168.50.100', 'pod', 'node']) {
      assert.deepEqual(codes(ask(from, state)), ['refused', 'NoProcess'], from);
      assert.deepEqual(codes(ask(from, { ...state, sockets })), ['connects'], from);
      const other = [{ ...sockets[0], port: 8081 }];
      assert.deepEqual(codes(ask(from, { ...state, sockets: other })), ['refused', 'NoProcess'], from);
    }
    const mixed = withServers(server(NODE_IP), server('10.244.1.11'));
    assert.deepEqual(codes(ask('pod', mixed)), ['partly', 'NoProcess']);
    assert.deepEqual(codes(ask('pod', { ...mixed, sockets })), ['forwarded']);
  });

  it('a pod that no link answers for, and a next hop that is down', () => {
    const at = (link: string, address: string, state: NeighbourState) =>
      facts({
        realServers: new Map([[`TCP ${VIP}:80`, [server('10.244.1.11'), server('10.244.2.11')]]]),
        neighbours: [{ link, address, state }],
      });
    for (const state of ['failed', 'incomplete'] as const) {
      const pod = ask('node', at('cni0', '10.244.1.11', state));
      assert.deepEqual(
        pod.endpoints.map(({ endpoint, result }) => [endpoint, result]),
        [
          ['10.244.1.11:8080', 'unreachable'],
          ['10.244.2.11:8080', 'forwarded'],
        ],
      );
      assert.deepEqual(codes(pod), ['partly', 'NoNeighbour']);
      assert.deepEqual(
        pod.causes.map(({ text }) => text),
        [
          `no host on link cni0 answered for 10.244.1.11 when the kernel last asked (neighbour ${state.toUpperCase()})`,
        ],
      );
    }
    const delivery = ask('node', at('eth0', '192.168.50.11', 'failed'));
    assert.deepEqual(
      delivery.causes.map(({ text }) => text),
      [
        'no host on link eth0 answered for 192.168.50.11, the next hop to 10.244.2.11:8080, when the kernel last asked (neighbour FAILED)',
      ],
    );
    for (const state of ['reachable', 'stale', 'noarp'] as const) {
      assert.deepEqual(codes(ask('node', at('cni0', '10.244.1.11', state))), ['forwarded']);
    }
    // The same address on another link is another neighbour.
    assert.deepEqual(codes(ask('node', at('eth0', '10.244.1.11', 'failed'))), ['forwarded']);
  });

  it('no route to the endpoint, or to the client', () => {
    const routes = facts().routes.filter(({ network }) => network !== '0.0.0.0/0');
    const [away] = [server('10.99.0.1')];
    const state = { ...withServers(away as ExplainedServer), routes };
    assert.deepEqual(codes(ask('10.244.1.77', state)), ['hangs', 'EndpointUnreachable']);
    assert.deepEqual(codes(ask('203.0.113.1', facts({ routes }))), ['hangs', 'NoRoute']);
  });

  const tunnelled = server('10.244.2.11', {
    ...{ forwarding: 'tunnel', encapsulation: { type: 'gre', checksum: 'none' } },
  });

  it('through a tunnel: the other node replies to a client outside, and a reply to one of this node is lost', () => {
    const state = withServers(tunnelled);
    const { verdict, endpoints, steps } = ask('198.51.100.7', state);
    assert.deepEqual(
      [verdict, endpoints[0]?.reply, endpoints[0]?.source],
      ['forwarded', 'bypasses', '198.51.100.7'],
    );
    assert.ok(steps.some(({ text }) => text.includes('in a tunnel (gre)')));
    assert.deepEqual(codes(ask('pod', state)), ['hangs', 'ReplyBypasses']);
    const { routes } = facts();
    const without = routes.filter(({ network }) => network === '192.168.50.0/24');
    assert.deepEqual(codes(ask('192.168.50.7', { ...state, routes: without })), [
      'hangs',
      'EndpointUnreachable',
    ]);
  });

  it('clients of the cluster are led from an address with tunnels to the cluster IP', () => {
    const address = '203.0.113.1';
    const options = `-s 10.244.0.0/16 -d ${address}/32 -p tcp -m tcp --dport 80`;
    const rule = `-A KUBE-SERVICES ${options} -j DNAT --to-destination ${VIP}:80`;
    const text = RULES.replace(/^-A KUBE-SERVICES /m, `${rule}\n-A KUBE-SERVICES `);
    const changes = {
      addresses: [...facts().addresses, { link: 'kube-ipvs0', address, prefix: 32 }],
      services: [service(VIP, 80), service(address, 80)],
      realServers: new Map([
        [`TCP ${VIP}:80`, [server('10.244.1.11')]],
        [`TCP ${address}:80`, [tunnelled]],
      ]),
    };
    const { verdict, virtualService, notUnderstood } = ask('pod', facts(changes, text), { address });
    assert.deepEqual([verdict, virtualService?.name, notUnderstood], ['forwarded', `TCP ${VIP}:80`, []]);
  });

  it('a forwarding method that this project does not set is unknown', () => {
    const { verdict } = ask('pod', withServers(server('10.244.1.11', { forwarding: 'route' })));
    assert.equal(verdict, 'unknown');
  });

  it('a virtual service of a mark is looked up before that of the address, and that of all ports last', () => {
    const marked: VirtualService = { firewallMark: 0x4000, family: 4, ...SETTINGS };
    const realServers = new Map([
      ['FWM 16384', [server('10.244.1.12')]],
      [`TCP ${VIP}:80`, [server('10.244.1.11')]],
      [`TCP ${VIP}:0`, [server('10.244.1.13')]],
    ]);
    const state = facts({ services: [service(VIP, 0), service(VIP, 80), marked], realServers });
    assert.equal(ask('192.168.50.100', state).virtualService?.name, 'FWM 16384');
    assert.equal(ask('10.244.1.77', state).virtualService?.name, `TCP ${VIP}:80`);
    const persistent = { ...service(VIP, 0), persistence: { timeout: 60, netmask: 32 } };
    const all = facts({ services: [persistent], realServers });
    assert.deepEqual(ask('10.244.1.77', all).virtualService, {
      name: `TCP ${VIP}:0`,
      scheduler: 'rr',
      persistence: 60,
    });
  });

  it('a process of the node, a node port on other addresses, and nothing at all', () => {
    const at = { address: NODE_IP, port: 30_001 };
    const listening = facts({ sockets: [{ protocol: 'tcp', address: '::', port: 30_001 }] });
    assert.deepEqual(ask('outside', listening, at).process, { address: '::', port: 30_001 });
    assert.equal(ask('outside', listening, at).verdict, 'connects');
    assert.deepEqual(codes(ask('outside', listening, { ...at, protocol: 'udp' })), [
      'refused',
      'NoVirtualService',
    ]);
    const elsewhere = facts({ services: [service('10.244.1.1', 30_001)] });
    assert.deepEqual(codes(ask('outside', elsewhere, at)), ['refused', 'NodePortAddress']);
    assert.deepEqual(codes(ask('outside', facts(), { ...at, protocol: 'sctp' })), [
      'unknown',
      'NoVirtualService',
    ]);
    assert.deepEqual(codes(ask('outside', facts(), { address: '127.0.0.1' })), ['hangs', 'Loopback']);
    assert.deepEqual(codes(ask('node', facts(), { address: VIP, port: 9 })), ['refused', 'PortNotServed']);
  });

  it('a rule that is not understood is reported, and limits the verdict', () => {
    const text = RULES.replace('-A INPUT', '-A INPUT -p tcp -m recent --update --name x -j DROP\n-A INPUT');
    const { verdict, notUnderstood } = ask('pod', facts({}, text));
    assert.equal(verdict, 'forwarded');
    assert.deepEqual(notUnderstood, [
      {
        at: 'filter/INPUT',
        rule: '-A INPUT -p tcp -m recent --update --name x -j DROP',
        part: '--update --name x',
      },
    ]);
  });

  it('missing rules and wrong settings are warnings, also if the packet does not depend on them', () => {
    const text = RULES.replace(/^-A KUBE-IPVS-FILTER .*\n/gm, '').replace(
      /^-A FORWARD .*KUBE-FORWARD\n/m,
      '',
    );
    const { verdict, warnings } = ask(
      '10.244.2.77',
      facts({ settings: new Map([['net/ipv4/ip_forward', '1']]) }, text),
    );
    assert.equal(verdict, 'forwarded');
    assert.deepEqual(
      warnings.map(({ text: words }) => words),
      [
        'chain filter/FORWARD lacks the rule -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
        'chain filter/KUBE-IPVS-FILTER has 0 of 6 rules',
        'IPVS masquerades nothing: net.ipv4.vs.conntrack does not exist',
      ],
    );
  });
});
