// The items of Services that no recording shows.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChainItem, ElementItem, Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import type { DesiredState } from '../../../../../src/proxy/reconcile/desiredState.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';

/** The items of Services whose keys match: elements with their verdicts, chains with their rules. */
function found(desired: DesiredState<Item>, match: RegExp): string[] {
  return [...desired.keys()]
    .filter((key) => match.test(key) && desired.ownersOf(key)[0] !== '')
    .map((key) => {
      const item = desired.get(key) as ElementItem | ChainItem;
      const short = key.replace('kube-proxy ', '').replaceAll(/-[A-Z2-7]{8}-/g, '-H-');
      if (item.kind === 'element')
        return `${short}${item.verdict && ` : ${item.verdict}`}`.replaceAll(/-[A-Z2-7]{8}-/g, '-H-');
      return short;
    });
}

it('of two Services with the same address and port, the older one has it', () => {
  const ip = { externalIPs: ['192.0.2.7'] };
  const older = service('older', '10.96.0.2', ip);
  const younger = service('younger', '10.96.0.1', ip, {
    metadata: { namespace: 'demo', name: 'younger', creationTimestamp: '2026-02-01T00:00:00Z' },
  });
  for (const objects of [
    [older, younger],
    [younger, older],
  ]) {
    const desired = planned([...objects, slice('older', '10.244.0.1'), slice('younger', '10.244.0.2')]);
    assert.deepEqual(found(desired, /service-ips 192/), [
      'element ip service-ips 192.0.2.7 . tcp . 80 : external-H-demo/older/tcp/',
    ]);
  }
});

it('an address in two fields of a Service is one element', () => {
  const desired = planned([
    service('a', '10.96.0.1', { externalIPs: ['192.0.2.7', '10.96.0.1'] }),
    slice('a', '10.244.0.1'),
  ]);
  assert.deepEqual(found(desired, /service-ips/), [
    'element ip service-ips 10.96.0.1 . tcp . 80 : service-H-demo/a/tcp/',
    'element ip service-ips 192.0.2.7 . tcp . 80 : external-H-demo/a/tcp/',
  ]);
});

it('two ports of a Service share its address, and its endpoints have an element for each port', () => {
  const ports = [
    { name: 'a', port: 80, targetPort: 8080 },
    { name: 'b', port: 81, targetPort: 8080 },
  ];
  const endpoints = {
    ...slice('a', '@10.244.0.1'),
    ports: [
      { name: 'a', port: 8080 },
      { name: 'b', port: 8081 },
    ],
  };
  const desired = planned([service('a', '10.96.0.1', { ports }), endpoints]);
  assert.deepEqual(found(desired, /cluster-ips|hairpin/), [
    'element ip hairpin-connections 10.244.0.1 . 10.244.0.1 . tcp . 8080',
    'element ip cluster-ips 10.96.0.1',
    'element ip hairpin-connections 10.244.0.1 . 10.244.0.1 . tcp . 8081',
  ]);
});

it('source ranges without endpoints: the firewall stays, and the rest is rejected', () => {
  const spec = { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8'] };
  const status = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } };
  const desired = planned([service('a', '10.96.0.1', spec, status)]);
  assert.deepEqual(found(desired, /./), [
    'chain ip firewall-H-demo/a/tcp/',
    'element ip firewall-ips 192.0.2.9 . tcp . 80 : firewall-H-demo/a/tcp/',
    'element ip cluster-ips 10.96.0.1',
    'element ip no-endpoint-services 10.96.0.1 . tcp . 80 : reject-chain',
    'element ip no-endpoint-services 192.0.2.9 . tcp . 80 : reject-chain',
  ]);
});

it('a comment of an element is at most 128 bytes long', () => {
  const namespace = 'n'.repeat(63);
  const name = 's'.repeat(63);
  const ports = [{ name: 'port', port: 80 }];
  const desired = planned([service(name, '10.96.0.1', { ports }, { metadata: { namespace, name } })]);
  const element = desired.get(
    'element ip kube-proxy no-endpoint-services 10.96.0.1 . tcp . 80',
  ) as ElementItem;
  assert.equal(element.comment, `${namespace}/${name}:`);
});

it('if all traffic is local, the rule for local traffic has no condition', () => {
  const spec = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30080 }] };
  const desired = planned([service('a', '10.96.0.1', spec), slice('a', '10.244.0.1')], {
    localDetector: { by: 'network', networks: { 4: '0.0.0.0/0' } },
  });
  const [key = ''] = [...desired.keys()].filter((each) => each.includes(' external-'));
  const [first] = (desired.get(key) as ChainItem).rules;
  assert.ok(first);
  assert.match(ruleText(4, first), /^goto service-\S+ comment "short-circuit pod traffic"$/);
});

it('only families that are programmed', () => {
  const spec = { clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] };
  const desired = planned([service('a', '10.96.0.1', spec)], { families: [6] });
  assert.deepEqual(found(desired, /./), [
    'element ip6 cluster-ips fd00::1',
    'element ip6 no-endpoint-services fd00::1 . tcp . 80 : reject-chain',
  ]);
});
