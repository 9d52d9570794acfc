// The chains of endpoints, whose rules are made when they are read.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AddressPorts } from '../../../../../src/kernel/net/addressPorts.js';
import {
  type BalancedPort,
  BalancingChain,
  type EndpointChain,
  endpointChains,
} from '../../../../../src/proxy/modes/iptables/plan/endpointChains.js';
import type { ChainItem } from '../../../../../src/proxy/modes/iptables/plan/items.js';

const PORT: BalancedPort = {
  service: 'default/web',
  family: 4,
  protocol: 'tcp',
  affinitySeconds: 0,
  name: 'default/web:http',
  comments: true,
};

function chainsOf(port: BalancedPort, ...texts: string[]): EndpointChain[] {
  const list = AddressPorts.ofTexts(port.family, texts) ?? assert.fail();
  return endpointChains(port, list);
}

it('the order is that of the texts', () => {
  const chains = chainsOf(PORT, '10.0.0.9:80', '10.0.0.10:80', '10.0.0.10:8080');
  assert.deepEqual(
    chains.map(({ text }) => text),
    ['10.0.0.10:80', '10.0.0.10:8080', '10.0.0.9:80'],
  );
});

it('the address of an IPv6 endpoint has no brackets in its network', () => {
  const [chain] = chainsOf({ ...PORT, family: 6, comments: false }, '[fd00::1]:80');
  assert.deepEqual(chain?.rules, [
    '-s fd00::1/128 -j KUBE-MARK-MASQ',
    '-p tcp -m tcp -j DNAT --to-destination [fd00::1]:80',
  ]);
});

it('a chain of endpoints has the first rules, then one for each endpoint', () => {
  const port = { ...PORT, comments: false };
  const endpoints = chainsOf(port, '10.0.0.1:80', '10.0.0.2:80');
  const chain = new BalancingChain(port, 'KUBE-SVC-A', ['-j KUBE-MARK-MASQ'], endpoints);
  assert.deepEqual(chain.rules, [
    '-j KUBE-MARK-MASQ',
    `-m statistic --mode random --probability 0.50000000000 -j ${endpoints[0]?.name}`,
    `-j ${endpoints[1]?.name}`,
  ]);
});

it('the number of rules is known without their texts', () => {
  for (const port of [PORT, { ...PORT, affinitySeconds: 60 }, { ...PORT, comments: false }]) {
    const endpoints = chainsOf(port, '10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80');
    const chains = [
      ...endpoints,
      new BalancingChain(port, 'KUBE-SVC-A', [], endpoints),
      new BalancingChain(port, 'KUBE-SVC-A', ['-j KUBE-MARK-MASQ'], endpoints, [1, 2, 3]),
    ];
    for (const chain of chains) assert.equal(chain.ruleCount, chain.rules.length);
  }
});

it('chains of the same endpoint certainly have the same rules only with the same affinity and comments', () => {
  const of = (port: BalancedPort, text = '10.0.0.1:80') => chainsOf(port, text)[0] ?? assert.fail();
  const chain = of(PORT);
  const same = (other: ChainItem) => chain.hasSameRules(other);
  assert.equal(same(of({ ...PORT })), true);
  for (const change of [{ affinitySeconds: 60 }, { comments: false }]) {
    const other = of({ ...PORT, ...change });
    assert.equal(other.name, chain.name);
    assert.notDeepEqual(other.rules, chain.rules);
    assert.equal(same(other), false, JSON.stringify(change));
  }
  assert.equal(same(of(PORT, '10.0.0.2:80')), false);
  const { family, table, name, rules } = chain;
  assert.equal(same({ kind: 'chain', family, table, name, rules }), false, 'a chain that was read');
});
