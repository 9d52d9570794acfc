// Packets that the recordings do not show: faults of the rules, rules of other programs, settings, and the default clients.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Explanation, PacketQuestion } from '../../../../../src/command/explain/explanation.js';
import { explainPacket } from '../../../../../src/command/explain/iptables/explainPacket.js';
import type { PathFacts } from '../../../../../src/command/explain/shared/facts.js';
import { IPTABLES_DEFAULTS } from '../../../../../src/proxy/modes/iptables/plan/options.js';
import { factsOf, recordedRules } from '../../../../support/oracle/iptablesNode.js';
import { type Scenario, scenarios } from '../../../../support/oracle/oracle.js';

const named = (name: string) => scenarios('iptables').find((each) => each.name === name) as Scenario;
const NODE_PORT = named('node-port-local');
const AFFINITY = named('session-affinity');
const RANGES = named('load-balancer-source-ranges');

/** The node of a recording. A change of the text of iptables-save must change it. */
function nodeOf(scenario: Scenario, change?: (text: string) => string): PathFacts {
  const recorded = recordedRules(scenario.folder, 4);
  const text = change ? change(recorded) : recorded;
  if (change) assert.notEqual(text, recorded);
  return factsOf(scenario, 4, text);
}

/** Service demo/npr:http of the recording: policy Local, two endpoints on another node. */
const REMOTE = { address: '10.96.20.3', port: 80, protocol: 'tcp' } as const;
/** Service demo/npl:http: policy Local, an endpoint on this node and one on another. */
const BOTH = { address: '10.96.20.2', port: 80, protocol: 'tcp' } as const;

function ask(facts: PathFacts, question: PacketQuestion): Explanation {
  return explainPacket(facts, question, IPTABLES_DEFAULTS);
}

const codes = ({ verdict, causes }: Explanation) => [verdict, ...causes.map(({ code }) => code)];
const words = ({ causes }: Explanation) => causes.map(({ text }) => text);
const without = (part: RegExp) => (text: string) => text.replace(part, '');

describe('a path', () => {
  it('has the rules that all endpoints share, and those of each endpoint', () => {
    const { steps, endpoints, virtualService } = ask(nodeOf(NODE_PORT), { ...BOTH, from: 'outside' });
    assert.deepEqual(virtualService, {
      name: 'KUBE-SVC-3H5FL2TLG27U7TCD',
      scheduler: 'random',
      persistence: 0,
    });
    assert.deepEqual(
      steps.filter(({ endpoint }) => endpoint === undefined).map(({ at, text }) => `${at}: ${text}`),
      [
        'client: 192.0.2.254 connects to 10.96.20.2:80/tcp',
        'nat/PREROUTING: continues in chain KUBE-SERVICES',
        'nat/KUBE-SERVICES: the destination 10.96.20.2 is in 10.96.20.2/32: cluster IP of demo/npl:http, continues in chain KUBE-SVC-3H5FL2TLG27U7TCD',
        'nat/KUBE-SVC-3H5FL2TLG27U7TCD: the source 192.0.2.254 is not in 10.244.0.0/16, the destination 10.96.20.2 is in 10.96.20.2/32: the packet must be masqueraded',
        'nat/KUBE-MARK-MASQ: the packet now has mark 0x4000',
        'nat/KUBE-SVC-3H5FL2TLG27U7TCD: selects one of 2 endpoints at random',
      ],
    );
    assert.deepEqual(
      steps.filter(({ endpoint }) => endpoint === '10.244.2.74:8080').map(({ at, text }) => `${at}: ${text}`),
      [
        'nat/KUBE-SVC-3H5FL2TLG27U7TCD: continues in chain KUBE-SEP-DR2ITVZG5X7GCOPZ',
        'nat/KUBE-SEP-DR2ITVZG5X7GCOPZ: replaces the destination by 10.244.2.74:8080',
        'route: the packet leaves on link eth0',
        'filter/FORWARD: continues in chain KUBE-FORWARD',
        'filter/KUBE-FORWARD: the packet has mark 0x4000: the packet is forwarded',
        'nat/POSTROUTING: continues in chain KUBE-POSTROUTING',
        'nat/KUBE-POSTROUTING: the packet now has mark 0x0',
        'nat/KUBE-POSTROUTING: masquerades the packet',
        'source: 10.244.2.74:8080 sees 10.0.2.15, masqueraded',
        'reply: the reply of 10.244.2.74:8080 returns to this node, which sends it to the client',
      ],
    );
    assert.deepEqual(
      endpoints.map(({ endpoint, share, weight }) => [endpoint, share, weight]),
      [
        ['10.244.1.73:8080', 0.5, undefined],
        ['10.244.2.74:8080', 0.5, undefined],
      ],
    );
  });

  it('an endpoint that connects to itself is masqueraded', () => {
    const { endpoints } = ask(nodeOf(NODE_PORT), { ...BOTH, from: '10.244.1.73' });
    assert.deepEqual(
      endpoints.map(({ endpoint, masqueraded }) => [endpoint, masqueraded]),
      [
        ['10.244.1.73:8080', true],
        ['10.244.2.74:8080', false],
      ],
    );
  });

  it('session affinity: a client without a former connection, and the timeout for later ones', () => {
    const facts = nodeOf(AFFINITY);
    const chain = [...facts.tables.rules].find(
      ([at, rules]) => at.startsWith('nat/KUBE-SVC-') && rules.some((rule) => rule.includes('--rcheck')),
    );
    const service = [...(facts.tables.rules.get('nat/KUBE-SERVICES') ?? [])].find((rule) =>
      rule.endsWith(chain?.[0].slice(4) as string),
    );
    const [, address = '', port] = /-d (\S+)\/32 .*--dport (\d+)/.exec(service ?? '') ?? [];
    const question = { address, port: Number(port), protocol: 'tcp', from: 'pod' } as const;
    const { virtualService, endpoints, notUnderstood } = ask(facts, question);
    assert.ok((virtualService?.persistence ?? 0) > 0);
    assert.ok(endpoints.length > 1);
    assert.deepEqual(notUnderstood, []);
  });

  it('a node port at a loopback address needs route_localnet', () => {
    const facts = nodeOf(NODE_PORT);
    const question = { address: '127.0.0.1', port: 30_090, protocol: 'tcp' } as const;
    const { client, endpoints } = ask(facts, question);
    assert.deepEqual([client.place, client.address], ['node', '127.0.0.1']);
    assert.deepEqual(
      endpoints.map(({ source, masqueraded }) => [source, masqueraded]),
      [
        ['10.244.1.1', true],
        ['10.0.2.15', true],
      ],
    );
    const settings = new Map([...facts.settings, ['net/ipv4/conf/all/route_localnet', '0']]);
    const off = ask({ ...facts, settings }, question);
    assert.deepEqual(codes(off), ['hangs', 'LocalnetOff', 'LocalnetOff']);
    assert.deepEqual(
      off.warnings.map(({ text }) => text),
      ['node ports do not work on loopback addresses: net.ipv4.conf.all.route_localnet = 0'],
    );
    assert.deepEqual(codes(ask(facts, { ...question, from: '192.168.50.100' })), ['hangs', 'Loopback']);
  });

  it('without IP forwarding, packets of other hosts are not forwarded', () => {
    const facts = nodeOf(NODE_PORT);
    const settings = new Map([...facts.settings, ['net/ipv4/ip_forward', '0']]);
    const { verdict, causes, warnings } = ask({ ...facts, settings }, { ...REMOTE, from: 'pod' });
    assert.deepEqual(
      [verdict, causes[0]?.code, warnings[0]?.code],
      ['hangs', 'ForwardingOff', 'ForwardingOff'],
    );
  });

  it('the node needs a route to a cluster IP', () => {
    const facts = nodeOf(NODE_PORT);
    const routes = facts.routes.filter(({ network }) => network !== '0.0.0.0/0');
    assert.deepEqual(codes(ask({ ...facts, routes }, { ...REMOTE, from: 'node' })), [
      'unreachable',
      'NoRoute',
    ]);
  });
});

describe('faults of the rules', () => {
  it('a jump of a built-in chain is missing', () => {
    const facts = nodeOf(NODE_PORT, without(/^-A PREROUTING .* -j KUBE-SERVICES\n/m));
    const found = ask(facts, { ...REMOTE, from: 'pod' });
    assert.deepEqual(codes(found), ['hangs', 'RulesMissing', 'RulesMissing']);
    assert.deepEqual(words(found), [
      'the rules select no endpoint for 10.96.20.3:80/tcp: the packet leaves this node to 192.168.50.1 on eth0',
      'chain nat/PREROUTING lacks the rule -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
    ]);
  });

  it('the last rule of a chain that selects an endpoint is missing', () => {
    const facts = nodeOf(NODE_PORT, without(/^-A KUBE-SVC-JZQF6BTRLAW5VHPW .* -j KUBE-SEP-INA4\S+\n/m));
    const found = ask(facts, { ...REMOTE, from: 'pod' });
    assert.deepEqual(codes(found), ['partly', 'RulesMissing', 'RulesMissing']);
    assert.equal(words(found)[0], 'the rules select no endpoint with probability 50 %');
    assert.deepEqual(
      found.endpoints.map(({ endpoint, share }) => [endpoint, share]),
      [['10.244.2.75:8080', 0.5]],
    );
  });

  it('all rules of a chain are missing, or of all chains', () => {
    const empty = ask(nodeOf(NODE_PORT, without(/^-A KUBE-SVC-JZQF6BTRLAW5VHPW .*\n/gm)), {
      ...REMOTE,
      from: 'pod',
    });
    assert.deepEqual(codes(empty), ['hangs', 'RulesMissing', 'RulesMissing']);
    assert.equal(words(empty)[1], 'chain nat/KUBE-SVC-JZQF6BTRLAW5VHPW has no rules');
    const flushed = ask(nodeOf(NODE_PORT, without(/^-A .*\n/gm)), { ...REMOTE, from: 'pod' });
    assert.deepEqual(codes(flushed).slice(0, 2), ['hangs', 'AddressNotBound']);
    assert.match(words(flushed).join('\n'), /\d+ chains of Services have no rules, for example nat\/KUBE-/);
  });

  it('the table nat does not exist', () => {
    const facts = nodeOf(NODE_PORT, (text) => text.slice(0, text.indexOf('*nat')));
    const found = ask(facts, { ...REMOTE, from: '10.244.1.9' });
    assert.deepEqual(codes(found).slice(0, 2), ['hangs', 'AddressNotBound']);
    assert.ok(words(found).includes('chain nat/KUBE-MARK-MASQ does not exist'));
  });

  it('a chain of an endpoint has no rule that replaces the destination', () => {
    const facts = nodeOf(NODE_PORT, without(/^-A KUBE-SEP-PMRVNHYEO3KNC7JF .*\n/gm));
    const found = ask(facts, { ...REMOTE, from: 'pod' });
    // The packet returns from the empty chain, and the next rule selects the other endpoint.
    assert.deepEqual(
      found.endpoints.map(({ endpoint, share }) => [endpoint, share]),
      [['10.244.2.76:8080', 1]],
    );
    assert.deepEqual(
      found.warnings.map(({ text }) => text),
      ['chain nat/KUBE-SEP-PMRVNHYEO3KNC7JF has no rules'],
    );
  });
});

describe('source ranges', () => {
  const FRONTEND =
    /^-A KUBE-SERVICES -d (\S+)\/32 .*"(\S+) loadbalancer IP".* --dport (\d+) -j (KUBE-FW-\S+)$/m;
  const [, address = '', name, port, chain] = FRONTEND.exec(recordedRules(RANGES.folder, 4)) ?? [];
  const range = new RegExp(`^-A ${chain} -s (\\S+)/\\d+ `, 'm');
  const [, inRange = ''] = range.exec(recordedRules(RANGES.folder, 4)) ?? [];
  const question = { address, port: Number(port), protocol: 'tcp' } as const;

  it('exclude a client', () => {
    assert.deepEqual(codes(ask(nodeOf(RANGES), { ...question, from: '233.252.0.1' })), [
      'hangs',
      'SourceRanges',
    ]);
  });

  it('contain a client for which the traffic policy leaves no endpoint', () => {
    const external = chain?.replace('-FW-', '-EXT-');
    const rule = `-A KUBE-EXTERNAL-SERVICES -d ${address}/32 -p tcp -m comment --comment "${name} has no local endpoints" -m tcp --dport ${port} -j DROP`;
    const facts = nodeOf(RANGES, (text) =>
      text
        .replace(new RegExp(`^-A ${external} .*\\n`, 'gm'), '')
        .replace(/^-A KUBE-PROXY-FIREWALL /m, `${rule}\n-A KUBE-PROXY-FIREWALL `),
    );
    const client = inRange.replace(/\d+$/, '77');
    const found = ask(facts, { ...question, from: client });
    assert.deepEqual(
      [found.verdict, found.causes[0]],
      [
        'hangs',
        {
          code: 'NoLocalEndpoint',
          text: `${name} has no local endpoints: filter/KUBE-PROXY-FIREWALL drops the packet`,
        },
      ],
    );
    assert.equal(ask(facts, { ...question, from: '233.252.0.1' }).causes[0]?.code, 'SourceRanges');
  });
});

describe('rules of other programs', () => {
  const before = (rule: string) => (text: string) => text.replace(/^-A FORWARD /m, `${rule}\n-A FORWARD `);

  it('drop the packet before those of the mode', () => {
    const rule = '-A FORWARD -d 10.244.2.75/32 -j DROP';
    const found = ask(nodeOf(NODE_PORT, before(rule)), { ...REMOTE, from: 'pod' });
    assert.deepEqual(codes(found), ['partly', 'Rule']);
    assert.deepEqual(words(found), [`the rule ${rule} of table filter drops the packet to 10.244.2.75:8080`]);
  });

  it('a policy drops packets that are not marked', () => {
    const facts = nodeOf(NODE_PORT, (text) =>
      text.replace(/(?<=[*]filter\n:INPUT .*\n):FORWARD ACCEPT/, ':FORWARD DROP'),
    );
    assert.deepEqual(codes(ask(facts, { ...REMOTE, from: 'pod' })), ['hangs', 'Rule', 'Rule']);
    assert.equal(ask(facts, { ...REMOTE, from: 'outside' }).verdict, 'forwarded');
  });

  it('a rule that is not understood is reported, also if it uses the match recent', () => {
    const rule =
      '-A FORWARD -m recent --rcheck --seconds 60 --name scanners --mask 255.255.255.255 --rsource -j DROP';
    const { verdict, notUnderstood } = ask(nodeOf(NODE_PORT, before(rule)), { ...REMOTE, from: 'pod' });
    assert.equal(verdict, 'forwarded');
    assert.deepEqual(notUnderstood, [{ at: 'filter/FORWARD', rule, part: '--rcheck' }]);
  });

  it('replace the destination too', () => {
    const rule =
      '-A PREROUTING -d 192.168.50.10/32 -p tcp -m tcp --dport 8443 -j DNAT --to-destination 10.244.1.99:443';
    const facts = nodeOf(NODE_PORT, (text) => text.replace(/^-A PREROUTING /m, `${rule}\n-A PREROUTING `));
    const question = { address: '192.168.50.10', port: 8443, protocol: 'tcp', from: 'outside' } as const;
    const { endpoints, virtualService, verdict } = ask(facts, question);
    assert.deepEqual([verdict, virtualService], ['forwarded', undefined]);
    assert.deepEqual(
      endpoints.map(({ endpoint, share }) => [endpoint, share]),
      [['10.244.1.99:443', 1]],
    );
  });
});

describe('an endpoint that was not asked', () => {
  it('is forwarded, unless no host of its link answers, or it is this node, where a process listens or none does', () => {
    const facts = nodeOf(NODE_PORT);
    const question = { ...REMOTE, from: 'node' } as const;
    assert.deepEqual(codes(ask(facts, question)), ['forwarded']);
    const gone = [{ link: 'eth0', address: '192.168.50.1', state: 'failed' }] as const;
    assert.deepEqual(codes(ask({ ...facts, neighbours: gone }, question)), [
      'unreachable',
      'NoNeighbour',
      'NoNeighbour',
    ]);
    const [, endpoint = ''] = /--to-destination (\S+):/.exec(recordedRules(NODE_PORT.folder, 4)) ?? [];
    const here = nodeOf(NODE_PORT, (text) => text.replaceAll(endpoint, '192.168.50.10'));
    const own = { ...BOTH, from: 'pod' } as const;
    assert.deepEqual(codes(ask(here, own)), ['partly', 'NoProcess']);
    const sockets = [{ protocol: 'tcp', address: '192.168.50.10', port: 8080 }] as const;
    assert.deepEqual(codes(ask({ ...here, sockets }, own)), ['forwarded']);
  });
});

describe('ports that no Service has', () => {
  const refused = (question: PacketQuestion, facts = nodeOf(NODE_PORT)) => codes(ask(facts, question));

  it('at a cluster IP, at the node, at an address of nobody', () => {
    assert.deepEqual(refused({ ...REMOTE, port: 9 }), ['hangs', 'PortNotServed']);
    assert.deepEqual(refused({ ...REMOTE, address: '192.168.50.10', port: 9 }), ['refused', 'PortNotServed']);
    assert.deepEqual(refused({ ...REMOTE, address: '10.96.99.99' }), ['unknown', 'AddressNotBound']);
    // The objects have a Service with the address.
    const known = refused({ ...REMOTE, address: '10.96.99.99', clusterIP: true });
    assert.deepEqual(known, ['hangs', 'AddressNotBound']);
  });

  it('a process of the node gets the packet', () => {
    const facts = nodeOf(NODE_PORT);
    const sockets = [{ protocol: 'tcp', address: '0.0.0.0', port: 22 }] as const;
    const question = { address: '192.168.50.10', port: 22, protocol: 'tcp' } as const;
    const { process, verdict } = ask({ ...facts, sockets }, question);
    assert.deepEqual([verdict, process], ['connects', { address: '0.0.0.0', port: 22 }]);
  });

  it('a node port on an address that the configuration excludes', () => {
    const tail = / -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS/;
    const address = '192.168.50.10';
    const question = { address, port: 30_090, protocol: 'tcp', from: 'outside' } as const;
    const other = nodeOf(NODE_PORT, (text) =>
      text
        .replace(tail, ' -j KUBE-NODEPORTS')
        .replace(/^-A KUBE-SERVICES -m comment/m, '-A KUBE-SERVICES -d 10.0.2.15/32 -m comment'),
    );
    assert.deepEqual(words(ask(other, question)), [
      'node port 30090/tcp is served on 10.0.2.15, not on 192.168.50.10',
    ]);
    const local = nodeOf(NODE_PORT, (text) =>
      text.replace(/^-A KUBE-SERVICES -m comment/m, '-A KUBE-SERVICES ! -d 127.0.0.0/8 -m comment'),
    );
    assert.deepEqual(words(ask(local, { ...question, address: '127.0.0.1', from: 'node' })), [
      'node port 30090/tcp is not served on 127.0.0.1',
    ]);
  });
});

describe('clients', () => {
  it('by default a pod for a cluster IP and for an address of no Service, the node for a loopback address, otherwise a host outside', () => {
    const facts = nodeOf(RANGES);
    const rule = (facts.tables.rules.get('nat/KUBE-SERVICES') ?? []).find((text) =>
      text.includes('loadbalancer IP'),
    );
    const [, address = '', port] = /-d (\S+)\/32 .*--dport (\d+)/.exec(rule ?? '') ?? [];
    const place = (question: PacketQuestion) => ask(facts, question).client.place;
    assert.equal(place({ address, port: Number(port), protocol: 'tcp' }), 'outside');
    assert.equal(ask(nodeOf(NODE_PORT), REMOTE).client.place, 'pod');
    assert.equal(ask(nodeOf(NODE_PORT), { ...REMOTE, address: '127.0.0.1' }).client.place, 'node');
    assert.equal(place({ address, port: 9, protocol: 'tcp' }), 'outside');
    assert.equal(place({ ...REMOTE, address: '192.168.50.10' }), 'outside');
    const missing = { ...REMOTE, address: '10.96.99.99' };
    assert.equal(place(missing), 'pod');
    const flushed = { ...facts, tables: { ...facts.tables, rules: new Map() } };
    assert.equal(ask({ ...flushed, routes: [] }, missing).client.place, 'node');
    // The rules of a frontend of the objects may be missing.
    assert.equal(place({ ...missing, clusterIP: true }), 'pod');
    assert.equal(place({ ...missing, clusterIP: false }), 'outside');
  });

  it('an endpoint of policy Local is on this node, even if no route shows it', () => {
    const facts = nodeOf(NODE_PORT);
    const routes = facts.routes.filter(({ network }) => network !== '10.244.1.0/24');
    const { client } = ask({ ...facts, routes }, { ...BOTH, from: 'pod' });
    assert.deepEqual(client, {
      address: client.address,
      place: 'pod',
      reason: 'an endpoint on this node, which a chain KUBE-SVL- contains',
    });
  });
});
