// The ranges of external and load-balancer IPs: which addresses of a Service are programmed, in every mode; what is said of the others.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { type PassParts, type Preview, runPreview } from '../../../../src/command/cli/passes.js';
import { planLines, planReport } from '../../../../src/command/cli/plan.js';
import { readInputFlags } from '../../../../src/command/config/commandLine.js';
import { loadConfiguration } from '../../../../src/command/config/load.js';
import { MODES } from '../../../../src/command/modes/select.js';
import { describeProblem } from '../../../../src/kernel/errors.js';
import type { AddressRanges } from '../../../../src/proxy/input/addressRanges.js';
import { AllowedAddresses } from '../../../../src/proxy/services/addressRanges.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import type { SourceEvents } from '../../../../src/proxy/source/source.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { type AnyNode, FAKE_NODES, frontendsOf } from '../../../support/oracle/fakeNodes.js';
import { recordedObjects } from '../../../support/oracle/oracle.js';
import { FakeNode } from '../../../support/oracle/testNode.js';
import { ROOT } from '../../../support/paths.js';

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
const TABLE: readonly (readonly [fields: Readonly<Record<string, unknown>>, served: string[]])[] = [
  [{}, ALL],
  [{ featureGates: { AllowServiceExternalIPs: false } }, ['198.51.100.200', '198.51.100.7']],
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

/** The objects of a recorded cluster. */
const RECORDED = recordedObjects(join(ROOT, 'test/oracle/recordings/external-ips'));

/** The preview of a plan with these fields of the configuration, on a node that serves all addresses of a recorded cluster. */
async function previewOf(
  make: (typeof FAKE_NODES)[keyof typeof FAKE_NODES],
  fields: string,
): Promise<Preview> {
  const node: AnyNode = make(HOST);
  await node.loadText(RECORDED);
  assert.deepEqual((await node.sync()).failures, []);
  const { objects } = await readManifest('objects.yaml', RECORDED);
  const changes = [...objects.values()].map((object) => ({ type: 'set', object }) as const);
  const shown: Preview[] = [];
  const parts = {
    opened: { mode: node.mode, kernel: node.kernel },
    source: { start: async (events: SourceEvents) => events.changed(changes), stop() {} },
    node: nodeFacts('node-a'),
    configuration: loadConfiguration(readInputFlags(fields.split(' ')), MODES).configuration,
    log: pino({ level: 'silent' }),
    print() {},
  };
  await runPreview(parts as unknown as PassParts, (preview) => shown.push(preview));
  return shown[0] ?? assert.fail('nothing is shown');
}

/** The losers of the recorded cluster, if no external IP is served. */
const LOSERS = [
  ['Service demo/ext', '192.0.2.44'],
  ['Service demo/ext', '192.0.2.45'],
  ['Service demo/ext-local', '192.0.2.46'],
  ['Service demo/ext-shared', '192.0.2.44'],
];

for (const [name, make] of Object.entries(FAKE_NODES))
  it(`${name}: a plan without the gate names who loses which address, and why`, async () => {
    const found = await previewOf(make, '--feature-gates=AllowServiceExternalIPs=false');
    const { refused = [] } = planReport(found);
    assert.deepEqual(refused.map(({ object, value }) => [object, value]).sort(), LOSERS);
    for (const { rule } of refused)
      assert.equal(rule, 'is not served: the feature gate AllowServiceExternalIPs is off');
    const removed = found.operations.flatMap(({ lines }) => lines).filter((line) => line.startsWith('-'));
    for (const [, address = ''] of LOSERS)
      assert.ok(
        removed.some((line) => line.includes(address)),
        `${address} stays: ${removed}`,
      );
    const text = planLines(found, { wide: false, columns: 200, style: (_, text) => text }).join('\n');
    assert.match(text, /^left out: Service demo\/ext-local: spec\.externalIPs: .*, found "192\.0\.2\.46"$/m);
  });

it('a plan with ranges names those who lose an address, and nobody if all are in them', async () => {
  const { refused = [] } = planReport(
    await previewOf(FAKE_NODES['ipvs mode'], '--service-external-ip-range=192.0.2.44/31'),
  );
  assert.deepEqual(
    refused.map(({ object, value, rule }) => [object, value, rule]),
    [
      [
        'Service demo/ext-local',
        '192.0.2.46',
        'must be in a range of --service-external-ip-range for namespace demo',
      ],
    ],
  );
  const all = await previewOf(FAKE_NODES['ipvs mode'], '--service-external-ip-range=192.0.2.0/24');
  assert.deepEqual(all.refused, []);
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

it('the gate takes external IPs before the ranges do, and is no problem', async () => {
  const cache = new ServiceCache({
    externalIPs: false,
    addressRanges: { externalIPs: [], loadBalancerIPs: [] },
  });
  for (const object of (await readManifest('objects.yaml', WEB)).objects.values())
    cache.apply({ type: 'set', object });
  const [gate, range] = ['is not served: the feature gate', 'must be in a range of'];
  const rules = (problems: readonly { rule: string }[]) =>
    problems.map(({ rule }) => [gate, range].find((start) => rule.startsWith(start)));
  assert.deepEqual(rules(cache.refusedAddresses('demo/web')), [gate, gate, range, range]);
  assert.deepEqual(rules(cache.problems('demo/web')), [range, range]);
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
