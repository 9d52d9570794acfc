// The evaluation of rules: conditions, targets, chains, sets; rules that are not understood are reported.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Packet, RuleContext } from '../../../../src/command/explain/packet/packet.js';
import { readRule } from '../../../../src/command/explain/packet/ruleText.js';
import { testSet } from '../../../../src/command/explain/packet/setMatch.js';
import { Topology } from '../../../../src/command/explain/packet/topology.js';
import { branches, walk } from '../../../../src/command/explain/packet/walk.js';
import type { SetEntry, SetState } from '../../../../src/kernel/ipset/types.js';
import { parsePolicies, parseSaved } from '../../../../src/kernel/iptables/saved.js';

const PACKET: Packet = {
  family: 4,
  protocol: 'tcp',
  source: '10.244.1.9',
  sourcePort: 50_000,
  destination: '10.96.0.10',
  port: 80,
  mark: 0,
  state: 'NEW',
  input: 'cni0',
  fromBridgePort: false,
};

function setOf(name: string, type: SetState['set']['type'], ...entries: SetEntry[]): SetState {
  return { set: { name, type, revision: 1, references: 1, extended: false }, entries } as object as SetState;
}

const SETS = [
  setOf('WEB', 'hash:ip,port', { address: '10.96.0.10', protocol: 'tcp', port: 80 }),
  setOf('PORTS', 'bitmap:port', { port: 80 }),
  setOf('RANGES', 'hash:ip,port,net', {
    address: '10.96.0.10',
    protocol: 'tcp',
    port: 80,
    address2: '10.244.0.0',
    prefix2: 16,
  }),
  setOf('MACS', 'hash:mac', { mac: '01:23:45:67:89:ab' }),
];

const NODE: RuleContext = {
  sets: new Map(SETS.map((set) => [set.set.name, set])),
  isLocal: (address) => address === '10.96.0.10',
  isRecent: (list) => list === 'KNOWN' || undefined,
};

const UPDATE = '--update --name KNOWN --mask 255.255.255.255 --rsource';

function follow(rules: readonly string[], packet = PACKET, policy = 'ACCEPT') {
  const chains = ['INPUT', 'A', 'B'].map((name) => `:${name} ${name === 'INPUT' ? policy : '-'} [0:0]`);
  const text = ['*filter', ...chains, ...rules, 'COMMIT', ''].join('\n');
  return walk({ rules: parseSaved(text), policies: parsePolicies(text) }, 'filter/INPUT', packet, NODE);
}

/** The outcome of the packet if the only rule drops what it matches. */
const matches = (conditions: string, packet = PACKET) => {
  const { decision, unknown } = follow([`-A INPUT ${conditions} -j DROP`], packet);
  return unknown.length > 0 ? unknown[0]?.part : decision.verdict === 'drop';
};

describe('conditions', () => {
  for (const [conditions, expected] of [
    ['-s 10.244.0.0/16', true],
    ['! -s 10.244.0.0/16', false],
    ['-d 10.96.0.10/32', true],
    ['-d 10.96.0.11', false],
    ['-s fd00::/8', false],
    ['-p tcp', true],
    ['-p udp', false],
    ['-p 6', true],
    ['-p gre', false],
    ['-i cni+', true],
    ['! -i cni0', false],
    ['-o eth0', false],
    ['-p tcp -m tcp --dport 80', true],
    ['-p tcp -m tcp --dport 81:90', false],
    ['-p tcp -m tcp --sport 1024:65535', true],
    ['-p tcp -m multiport --dports 22,79:81', true],
    ['-p tcp -m multiport ! --dports 22,79:81', false],
    ['-m mark --mark 0x4000/0x4000', false],
    ['-m mark ! --mark 0x4000/0x4000', true],
    ['-m conntrack --ctstate RELATED,ESTABLISHED', false],
    ['-m conntrack --ctstate NEW', true],
    ['-m addrtype --dst-type LOCAL', true],
    ['-m addrtype ! --src-type LOCAL', true],
    ['-m physdev ! --physdev-is-in', true],
    ['-m ipvs --vproto 6 --vaddr 10.96.0.10 --vport 80', false],
    ['-m comment --comment "in quotes: -j DROP \\" ! -s"', true],
    ['-m set --match-set WEB dst,dst', true],
    ['-m set ! --match-set WEB dst,dst', false],
    ['-m set --match-set WEB src,dst', false],
    ['-m set --match-set PORTS dst', true],
    ['-m set --match-set PORTS src', false],
    ['-m set --match-set RANGES dst,dst,src', true],
    ['-m set --match-set MACS src', '--match-set MACS src'],
    ['-m set --match-set MISSING src', '--match-set MISSING src'],
    ['-m limit --limit 5/min', '--limit 5/min'],
    ['-m addrtype --dst-type BROADCAST', '--dst-type BROADCAST'],
    ['-p udp -m limit --limit 5/min', false],
    ['-p tcp -m tcp --dport 80 -m nfacct --nfacct-name  counter', true],
    ['-m recent --set --name A --mask 255.255.255.255 --rsource', true],
    ['-m recent --rcheck --seconds 60 --reap --name KNOWN --mask 255.255.255.255 --rsource', true],
    ['-m recent --rcheck --seconds 60 --reap --name OTHER --mask 255.255.255.255 --rsource', '--rcheck'],
    ['-m recent --update --name KNOWN --mask 255.255.255.255 --rsource', UPDATE],
    ['-m statistic --mode random --probability 0.50000000000', '--probability 0.50000000000'],
    ['-m statistic --mode nth --every 3 --packet 0', '--mode nth --every 3 --packet 0'],
    ['-m conntrack --ctstate DNAT', false],
  ] as const) {
    it(`${conditions}: ${expected}`, () => assert.equal(matches(conditions), expected));
  }

  it('the status DNAT of the connection', () => {
    const packet: Packet = { ...PACKET, translated: true };
    assert.equal(matches('-m conntrack --ctstate RELATED,DNAT', packet), true);
    assert.equal(matches('-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT', packet), false);
  });

  it('the virtual service of the packet', () => {
    const packet: Packet = { ...PACKET, via: { address: '10.96.0.10', port: 80, protocol: 'tcp' } };
    assert.equal(matches('-m ipvs --vproto 6 --vaddr 10.96.0.10 --vport 80', packet), true);
    assert.equal(matches('-m ipvs --vproto 17 --vaddr 10.96.0.10 --vport 80', packet), false);
    assert.equal(matches('-m ipvs --vproto 6 --vaddr 10.96.0.10 --vport 81', packet), false);
  });
});

describe('chains', () => {
  it('return to the caller, and end with the policy', () => {
    const rules = [
      '-A INPUT -j A',
      '-A A -j B',
      '-A B -j RETURN',
      '-A B -j ACCEPT',
      '-A A -s 10.244.1.9/32 -j RETURN',
    ];
    const { decision, matched } = follow(rules, PACKET, 'DROP');
    assert.deepEqual(decision, { verdict: 'drop', at: 'filter/INPUT' });
    assert.deepEqual(
      matched.map(({ at, reasons, effect }) => `${at}: ${reasons} ${effect}`),
      [
        'filter/INPUT:  continues in chain A',
        'filter/A:  continues in chain B',
        'filter/B:  leaves the chain',
        'filter/A: the source 10.244.1.9 is in 10.244.1.9/32 leaves the chain',
      ],
    );
  });

  it('a chain without a rule that matches is not a step', () => {
    const rules = ['-A INPUT -j A', '-A A -j B', '-A B -p udp -j DROP', '-A INPUT -p tcp -j ACCEPT'];
    assert.deepEqual(
      follow(rules).matched.map(({ rule }) => rule),
      ['-A INPUT -p tcp -j ACCEPT'],
    );
  });

  it('a goto does not return to its own chain', () => {
    assert.equal(follow(['-A INPUT -j A', '-A A -g B', '-A A -j DROP']).decision.verdict, 'accept');
    assert.equal(follow(['-A INPUT -j A', '-A A -j B', '-A A -j DROP']).decision.verdict, 'drop');
  });

  it('set and clear marks, which later rules see', () => {
    const set = '-A INPUT -j MARK --set-xmark 0x4000/0x4000';
    assert.equal(follow([set]).packet.mark, 0x4000);
    assert.equal(follow([set, '-A INPUT -j MARK --set-xmark 0x4000/0x0']).packet.mark, 0);
    assert.equal(follow([set, '-A INPUT -m mark --mark 0x4000/0x4000 -j DROP']).decision.verdict, 'drop');
    assert.equal(
      follow(['-A INPUT -j MARK --set-xmark 0x0/0xffffffff'], { ...PACKET, mark: 7 }).packet.mark,
      0,
    );
  });

  it('reject with a message, and replace the source', () => {
    const { decision, matched } = follow(['-A INPUT -j REJECT --reject-with tcp-reset']);
    assert.deepEqual([decision.verdict, matched[0]?.effect], ['reject', 'rejects the packet with tcp-reset']);
    assert.equal(follow(['-A INPUT -j MASQUERADE --random-fully']).source, 'link');
    assert.equal(follow(['-A INPUT -j SNAT --to-source 192.0.2.7:1024-2048']).source, '192.0.2.7');
    assert.equal(follow(['-A INPUT -j SNAT --to-source [fd00::7]:1024']).source, 'fd00::7');
    assert.equal(follow(['-A INPUT -j SNAT --to-source fd00::7']).source, 'fd00::7');
  });

  it('report a target that is not understood, and one without effect is none', () => {
    const { unknown, decision } = follow([
      '-A INPUT -j DNAT --to-destination 10.0.0.1',
      '-A INPUT -j LOG',
      '-A INPUT -j DROP',
    ]);
    assert.deepEqual(unknown, [
      { at: 'filter/INPUT', rule: '-A INPUT -j DNAT --to-destination 10.0.0.1', part: '-j DNAT' },
    ]);
    assert.equal(decision.verdict, 'drop');
  });

  it('a chain that calls itself has an end', () => {
    assert.equal(follow(['-A INPUT -j A', '-A A -j A']).decision.verdict, 'accept');
  });
});

it('a rule in its parts', () => {
  const rule = readRule(
    '! -s 10.0.0.0/8 -p tcp -m comment --comment "a b" -m tcp --dport 1:2 -j MARK --set-xmark 0x1/0x1',
  );
  assert.deepEqual(rule, {
    conditions: [
      { option: '-s', values: ['10.0.0.0/8'], negated: true },
      { option: '-p', values: ['tcp'], negated: false },
      { option: '--dport', values: ['1:2'], negated: false },
    ],
    target: 'MARK',
    goto: false,
    targetOptions: new Map([['set-xmark', '0x1/0x1']]),
  });
});

it('the longest prefix of a set decides, and an exception excludes', () => {
  const set = setOf(
    'NETS',
    'hash:net',
    { address: '10.0.0.0', prefix: 8 },
    { address: '10.244.1.0', prefix: 24, noMatch: true },
  );
  assert.deepEqual(testSet(set, 'src', PACKET), { matches: false, entry: '10.244.1.0/24 nomatch' });
  assert.deepEqual(testSet(set, 'dst', PACKET), { matches: true, entry: '10.0.0.0/8' });
});

describe('the topology of a node', () => {
  const topology = new Topology({
    links: new Map([['cni0', 'bridge']]),
    addresses: [
      { link: 'lo', address: '127.0.0.1', prefix: 8 },
      { link: 'eth0', address: '192.168.50.10', prefix: 24 },
      { link: 'eth0', address: '192.168.60.10', prefix: 24 },
      { link: 'cni0', address: '10.244.1.1', prefix: 24 },
    ],
    routes: [
      { network: '0.0.0.0/0', gateway: '192.168.60.1', link: 'eth0', metric: 100 },
      { network: '0.0.0.0/0', gateway: '192.168.50.1', link: 'eth1', metric: 50 },
      { network: '10.244.1.0/24', link: 'cni0', metric: 0 },
      { network: '10.244.2.0/24', gateway: '192.168.60.11', link: 'eth0', metric: 0 },
      { network: '10.9.0.0/16', link: 'lo', metric: 0, rejects: true },
    ],
  });

  it('routes by the longest prefix, then by the lowest metric', () => {
    assert.equal(topology.route('10.244.2.5')?.gateway, '192.168.60.11');
    assert.equal(topology.route('8.8.8.8')?.link, 'eth1');
    assert.equal(topology.route('10.9.1.1'), undefined);
  });

  it('selects the source in the network of the next hop', () => {
    assert.equal(topology.sourceFor('10.244.2.5'), '192.168.60.10');
    assert.equal(topology.sourceFor('10.244.1.5'), '10.244.1.1');
    assert.equal(topology.sourceFor('10.9.1.1'), undefined);
  });

  it('has the whole loopback network', () => {
    assert.ok(topology.isLocal('127.9.9.9'));
    assert.ok(!topology.isLocal('192.168.50.11'));
  });
});

describe('branches', () => {
  const branch = (...rules: string[]) => {
    const chains = ['PREROUTING', 'A', 'B', 'C'].map((name) => `:${name} - [0:0]`);
    const text = ['*nat', ...chains, ...rules, 'COMMIT', ''].join('\n');
    const tables = { rules: parseSaved(text), policies: parsePolicies(text) };
    return branches(tables, 'nat/PREROUTING', PACKET, NODE).map(({ share, packet, unknown, matched }) => ({
      to: `${packet.destination}:${packet.port}`,
      share: Number(share.toFixed(6)),
      marked: packet.mark,
      translated: packet.translated ?? false,
      unknown: unknown.length,
      rules: matched.length,
    }));
  };
  const chance = (probability: number) => `-m statistic --mode random --probability ${probability}`;
  const dnat = (destination: string) => `-p tcp -j DNAT --to-destination ${destination}`;
  const known = { marked: 0, translated: true, unknown: 0 };

  it('one for each endpoint, in the order of the rules, and one for none', () => {
    const rules = [
      '-A PREROUTING -j A',
      `-A A ${chance(0.25)} -j B`,
      `-A A ${chance(0.5)} -j C`,
      `-A B ${dnat('10.244.1.11:8080')}`,
      `-A C -j MARK --set-xmark 0x1/0x1`,
      `-A C ${dnat('10.244.1.12')}`,
    ];
    assert.deepEqual(branch(...rules), [
      { ...known, to: '10.244.1.11:8080', share: 0.25, rules: 3 },
      { ...known, to: '10.244.1.12:80', share: 0.375, rules: 4, marked: 1 },
      { ...known, to: '10.96.0.10:80', share: 0.375, rules: 0, translated: false },
    ]);
  });

  it('the negation has the other probability, and two conditions of chance multiply', () => {
    const negated = `-m statistic --mode random ! --probability 0.2`;
    assert.deepEqual(branch(`-A PREROUTING ${negated} ${dnat('10.244.1.11:1')}`)[0]?.share, 0.8);
    assert.deepEqual(
      branch(`-A PREROUTING ${negated} ${chance(0.5)} ${dnat('10.244.1.11:1')}`)[0]?.share,
      0.4,
    );
  });

  it('a rule that matches always makes one branch', () => {
    const [only, ...others] = branch(`-A PREROUTING ${chance(1)} ${dnat('10.244.1.11:1')}`);
    assert.deepEqual([only?.share, others], [1, []]);
  });

  it('destinations in brackets, without a port, and ranges, which are not understood', () => {
    const to = (destination: string) => branch(`-A PREROUTING ${dnat(destination)}`)[0];
    assert.equal(to('[fd00::7]:8080')?.to, 'fd00::7:8080');
    assert.equal(to('fd00::7')?.to, 'fd00::7:80');
    assert.deepEqual(
      [to('10.0.0.1-10.0.0.9:80')?.unknown, to('10.0.0.1-10.0.0.9:80')?.translated],
      [1, false],
    );
    assert.equal(to('10.0.0.1:80 --random --persistent')?.to, '10.0.0.1:80');
  });

  it('a thousand endpoints', () => {
    const rules = Array.from({ length: 1000 }, (_, i) => [
      `-A A ${i === 999 ? '' : chance(1 / (1000 - i))} ${dnat(`10.244.${i >> 8}.${i & 255}:80`)}`,
    ]).flat();
    const found = branch('-A PREROUTING -j A', ...rules);
    assert.equal(found.length, 1000);
    assert.ok(found.every(({ share }) => Math.abs(share - 0.001) < 1e-6));
  });
});
