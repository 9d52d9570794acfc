// The ranges of external and load-balancer IPs: which addresses of a Service are programmed, in every mode; what is said of the others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import type { AddressRanges } from '../../../../src/proxy/input/addressRanges.js';
import { AllowedAddresses } from '../../../../src/proxy/services/addressRanges.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { type AnyNode, FAKE_NODES, frontendsOf } from '../../../support/oracle/fakeNodes.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

/** In namespace demo, with external IPs 203.0.113.5 and .200, and load-balancer IPs 198.51.100.7 and .200. */
const WEB = `${service(
  'web',
  '10.96.0.1',
  `  type: LoadBalancer
  externalIPs: [203.0.113.5, 203.0.113.200]
status: {loadBalancer: {ingress: [{ip: 198.51.100.7}, {ip: 198.51.100.200}]}}`,
)}${slice('web', '10.0.0.1')}`;

const ALL = ['198.51.100.200', '198.51.100.7', '203.0.113.200', '203.0.113.5'];

/** The fields of the configuration, and the addresses that are served with them. */
const TABLE: readonly (readonly [fields: Readonly<Record<string, readonly string[]>>, served: string[]])[] = [
  [{}, ALL],
  [{ serviceExternalIPRange: ['203.0.113.0/24'], loadBalancerIPRange: ['demo=198.51.0.0/16'] }, ALL],
  [{ serviceExternalIPRange: ['203.0.113.0/25'] }, ['198.51.100.200', '198.51.100.7', '203.0.113.5']],
  [{ serviceExternalIPRange: ['none'] }, ['198.51.100.200', '198.51.100.7']],
  [{ loadBalancerIPRange: ['none'] }, ['203.0.113.200', '203.0.113.5']],
  [{ serviceExternalIPRange: ['none'], loadBalancerIPRange: ['2001:db8::/32'] }, []],
  [{ serviceExternalIPRange: ['other=203.0.113.0/24', '203.0.113.200/32'] }, ALL.slice(0, 3)],
  [{ loadBalancerIPRange: ['demo=198.51.100.0/28', 'other=0.0.0.0/0'] }, ALL.slice(1)],
];

/** The addresses of this node's frontends, without the cluster IP. */
async function servedBy(node: AnyNode): Promise<string[]> {
  const addresses =
    node instanceof FakeNode
      ? Array.from(node.kernel.ipvs.dump().matchAll(/^-A -t ([\d.]+):80/gm), ([, address = '']) => address)
      : (await frontendsOf(node)).map(({ address }) => address ?? '');
  return [...new Set(addresses)].filter((address) => /^(203|198)\./.test(address)).sort();
}

for (const [name, make] of Object.entries(FAKE_NODES))
  describe(name, () => {
    for (const [configuration, served] of TABLE)
      it(`with ${JSON.stringify(configuration)} serves ${served.join(', ') || 'none'}`, async () => {
        const node = make({ ...HOST, configuration });
        await node.loadText(WEB);
        assert.deepEqual((await node.sync()).failures, []);
        assert.deepEqual(await servedBy(node), served);
      });
  });

async function cacheWith(addressRanges: AddressRanges, text: string): Promise<ServiceCache> {
  const cache = new ServiceCache({ addressRanges });
  for (const object of (await readManifest('objects.yaml', text)).objects.values())
    cache.apply({ type: 'set', object });
  return cache;
}

it('a problem names each address, its field and the flag', async () => {
  const cache = await cacheWith({ externalIPs: ['203.0.113.0/25'], loadBalancerIPs: [] }, WEB);
  assert.deepEqual(cache.problems('demo/web').map(describeProblem), [
    'Service demo/web: spec.externalIPs: must be in a range of --service-external-ip-range for namespace demo, found "203.0.113.200"',
    'Service demo/web: status.loadBalancer.ingress: must be in a range of --loadbalancer-ip-range for namespace demo, found "198.51.100.7"',
    'Service demo/web: status.loadBalancer.ingress: must be in a range of --loadbalancer-ip-range for namespace demo, found "198.51.100.200"',
  ]);
});

it('an address that a Service may not have is no claim: another Service is served', async () => {
  const other = WEB.replace('namespace: demo', 'namespace: team-a').replace('10.96.0.1', '10.96.0.2');
  for (const [ranges, isLost] of [
    [{}, true],
    [{ externalIPs: ['team-a=203.0.113.0/24'] }, false],
  ] as const) {
    const cache = await cacheWith(ranges, WEB + other);
    assert.equal(cache.lostClaims('team-a/web').first.has('203.0.113.5:80/tcp'), isLost);
    assert.ok(cache.isFrontend('203.0.113.5', 80, 'tcp'));
  }
});

it('of many addresses, the first ones are named, and the number of the others', () => {
  const externalIPs = Array.from({ length: 30_000 }, (_, i) => `203.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const hostile = { kind: 'Service', namespace: 'demo', name: 'web', externalIPs, loadBalancerIPs: [] };
  const addresses = new AllowedAddresses({ externalIPs: [] });
  const allowed = addresses.allowed(hostile as never);
  assert.deepEqual(allowed.externalIPs, []);
  const problems = addresses.problems(allowed);
  assert.equal(problems.length, 21);
  assert.match(problems.at(-1)?.rule ?? '', /: 29980 more addresses are not$/);
});
