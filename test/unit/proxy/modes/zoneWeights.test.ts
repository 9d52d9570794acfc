// Weights of endpoints by their zones, in every mode: the weights, what a change writes, the zone of the node, and topology hints.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zoneColumn } from '../../../../src/proxy/objects/zoneColumn.js';
import { NodeDependents } from '../../../../src/proxy/services/nodeDependents.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { weightsInZones } from '../../../../src/proxy/services/settings/zoneWeights.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { type AnyNode, FAKE_NODES, frontendsOf } from '../../../support/oracle/fakeNodes.js';
import { FakeIptablesNode, FakeNode } from '../../../support/oracle/testNode.js';
import { ALL_SETTINGS } from '../../../support/settings/objects.js';

const NODE = { ...HOST, configuration: { serviceSettings: ['scheduler', 'zone-weights', 'weight'] } };
/** The Node, in this zone; none: no Node. */
const nodeIn = (zone: string) =>
  zone === ''
    ? ''
    : `apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {topology.kubernetes.io/zone: ${zone}}}
---
`;

/** Service `web` with the setting, if it has one, and endpoints `10.0.0.1` in zone a, `.2` in b, `.3` in c, and `.4` in none. */
function web(zoneWeights?: string, { weight = '', hints = false, extra = '' } = {}): string {
  const setting = zoneWeights === undefined ? '' : `, kube-netlink-proxy.io/zone-weights: "${zoneWeights}"`;
  const head = `name: web, annotations: {kube-netlink-proxy.io/scheduler: wrr${setting}}}`;
  const zones = ['a', 'b', 'c', ''];
  let endpoints = slice('web', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4');
  for (const [i, zone] of zones.entries()) {
    const hint = hints ? `, hints: {forZones: [{name: ${zone || 'c'}}]}` : '';
    endpoints = endpoints.replace(
      `[10.0.0.${i + 1}]`,
      `[10.0.0.${i + 1}]${zone === '' ? '' : `, zone: ${zone}`}${hint}`,
    );
  }
  if (weight !== '')
    endpoints = endpoints.replace(
      '{namespace: demo, name: web,',
      `{namespace: demo, name: web, annotations: {kube-netlink-proxy.io/weight: "${weight}"},`,
    );
  return service('web', '10.96.0.1', extra).replace('name: web}', head) + endpoints;
}

/** The shares of the endpoints, as multiples of the smallest one: `1=3 2=1`, by the last number of addresses. */
async function shares(node: AnyNode): Promise<string> {
  let weights: (readonly [address: string, weight: number])[];
  if (node instanceof FakeNode) {
    const dump = node.kernel.ipvs.dump().matchAll(/-r 10\.0\.0\.(\d):8080 -m -w (\d+)/g);
    weights = [...dump].map(([, address = '', weight]) => [address, Number(weight)] as const);
  } else {
    const found = (await frontendsOf(node)).find(({ address }) => address === '10.96.0.1');
    weights = (found?.endpoints ?? []).map(({ address, share }) => [address.slice(-1), share] as const);
  }
  const selected = weights.filter(([, weight]) => weight > 0);
  const least = Math.min(...selected.map(([, weight]) => weight));
  const texts = selected.map(([address, weight]) => `${address}=${Number((weight / least).toFixed(3))}`);
  return texts.sort().join(' ');
}

async function program(node: AnyNode, text: string): Promise<number> {
  await node.loadText(text);
  const { operations, failures } = await node.sync();
  assert.deepEqual(failures, []);
  assert.equal((await node.sync()).operations, 0);
  return operations;
}

describe('the weights of endpoints in zones', () => {
  const column = { zones: zoneColumn(['a', 'b', '', 'other', 'same'], undefined) };
  const weights = (text: Readonly<Record<string, number>>, nodeZone = 'a', ofSlice?: number) =>
    weightsInZones(column, ofSlice, new Map(Object.entries(text)), nodeZone);

  it('are those of names, then of the same zone, then of others, and 1 by default', () => {
    assert.deepEqual(weights({ same: 10 }), [10, 1, 1, 1, 1]);
    assert.deepEqual(weights({ same: 10, other: 2 }), [10, 2, 2, 2, 2]);
    assert.deepEqual(weights({ a: 0, same: 10 }), [0, 1, 1, 1, 1]);
    assert.deepEqual(weights({ b: 0 }), [1, 0, 1, 1, 1]);
    assert.deepEqual(weights({ same: 10, b: 5, other: 0 }, 'b'), [0, 5, 0, 0, 0]);
    assert.deepEqual(weights({ other: 0, b: 5 }, ''), [0, 5, 0, 0, 0]);
  });

  it('are times the weight of the slice', () => {
    assert.deepEqual(weights({ same: 1000 }, 'a', 65_535), [65_535_000, 65_535, 65_535, 65_535, 65_535]);
    assert.equal(weights({ same: 10 }, 'a', 0), 0);
  });

  it('are one number if they are equal, and that of the slice without weights of zones', () => {
    assert.equal(weights({ same: 10 }, ''), 1);
    assert.equal(weights({ same: 10 }, 'z'), 1);
    assert.equal(weightsInZones({ zones: undefined }, 3, new Map([['other', 2]]), 'a'), 6);
    assert.equal(weightsInZones(column, 3, undefined, 'a'), 3);
    assert.equal(weightsInZones(column, undefined, undefined, 'a'), undefined);
  });
});

it('depend on the zone of the node if they name it only', async () => {
  for (const [setting, expected] of [
    ['same=3', ['demo/web']],
    ['a=3,other=0', []],
  ] as const) {
    const cache = new ServiceCache({ settingRules: ALL_SETTINGS });
    for (const object of (await readManifest('objects.yaml', web(setting))).objects.values())
      cache.apply({ type: 'set', object });
    const dependents = new NodeDependents();
    dependents.planned('demo/web', cache.planInput('demo/web', nodeFacts('node-a')));
    const change = { zone: true, nodeIPs: false, nodePorts: false, addresses: [] };
    assert.deepEqual([...dependents.of(change)], expected);
    dependents.planned('demo/web', undefined);
    assert.deepEqual([...dependents.of(change)], []);
  }
});

for (const [name, make] of Object.entries(FAKE_NODES)) {
  describe(name, () => {
    it('prefers the zone of the node, and follows its label', async () => {
      const node = make(NODE);
      await program(node, nodeIn('a') + web('same=10,c=2'));
      assert.equal(await shares(node), '1=10 2=1 3=2 4=1');
      await program(node, nodeIn('b') + web('same=10,c=2'));
      assert.equal(await shares(node), '1=1 2=10 3=2 4=1');
      await program(node, nodeIn('c') + web('same=10,c=2'));
      assert.equal(await shares(node), '1=1 2=1 3=2 4=1', 'a name wins');
    });

    it('has equal weights if the zone of the node is unknown', async () => {
      const node = make(NODE);
      await program(node, web('same=10'));
      assert.equal(await shares(node), '1=1 2=1 3=1 4=1');
    });

    it('multiplies the weights of zones and slices', async () => {
      const node = make(NODE);
      await program(node, nodeIn('a') + web('same=3', { weight: '7' }));
      assert.equal(await shares(node), '1=3 2=1 3=1 4=1');
      if (node instanceof FakeNode) assert.match(node.kernel.ipvs.dump(), /10\.0\.0\.1:8080 -m -w 21\n/);
    });

    it('a change of the annotation sends what changes, of this Service only', async () => {
      const node = make(NODE);
      const other = web().replaceAll('web', 'other').replaceAll('10.96.0.1', '10.96.0.2');
      await program(node, nodeIn('a') + web('same=10') + other.replaceAll('10.0.0.', '10.0.1.'));
      const changed = nodeIn('a') + web('same=10,b=2') + other.replaceAll('10.0.0.', '10.0.1.');
      const operations = await program(node, changed);
      assert.equal(await shares(node), '1=10 2=2 3=1 4=1');
      assert.equal(operations, 1, 'the real server, or the chain of the Service port');
    });

    it('a wrong value, or its end, has the state without it', async () => {
      const plain = make(NODE);
      await program(plain, nodeIn('a') + web());
      const expected = stateOf(plain);
      for (const setting of ['same=1001', 'a=1,a=2', 'x', undefined]) {
        const node = make(NODE);
        await program(node, nodeIn('a') + web('same=4'));
        assert.equal(await shares(node), '1=4 2=1 3=1 4=1');
        await program(node, nodeIn('a') + web(setting));
        assert.equal(await stateOf(node), await expected, setting);
      }
    });

    it('a zone without weight gets no new connections, also where hints prefer it', async () => {
      const node = make(NODE);
      await program(node, nodeIn('a') + web('other=1', { hints: true }));
      assert.equal(await shares(node), '1=1');
      await program(node, nodeIn('a') + web('a=0', { hints: true }));
      assert.equal(await shares(node), '2=1 3=1 4=1');
      if (node instanceof FakeNode) assert.match(node.kernel.ipvs.dump(), /10\.0\.0\.1:8080 -m -w 0\n/);
      await program(node, nodeIn('b') + web('a=0', { hints: true }));
      assert.equal(await shares(node), '2=1');
      await program(node, nodeIn('b') + web('same=0,other=0', { hints: true }));
      assert.equal(await shares(node), '');
    });

    it('policy Local is among the endpoints of this node', async () => {
      const node = make(NODE);
      const local = web('same=5', { extra: '  internalTrafficPolicy: Local\n' }).replaceAll(
        /(10\.0\.0\.[12])\]/g,
        '$1], nodeName: node-a',
      );
      await program(node, nodeIn('a') + local);
      assert.equal(await shares(node), '1=5 2=1');
    });
  });
}

async function stateOf(node: AnyNode): Promise<string> {
  if (node instanceof FakeNode) return node.kernel.ipvs.dump();
  if (node instanceof FakeIptablesNode) return node.kernel.iptables.dump(4);
  return JSON.stringify(await frontendsOf(node));
}

it('in ipvs mode, policy Local falls back as in kube-proxy if the endpoints of this node have weight 0', async () => {
  const node = new FakeNode(NODE);
  const local = (weights: string, policy: string) =>
    nodeIn('a') +
    web(weights, { extra: `  type: NodePort\n  ${policy}: Local\n` })
      .replace('[{port: 80}]', '[{port: 80, nodePort: 30080}]')
      .replace('10.0.0.1]', '10.0.0.1], nodeName: node-a');
  /** The weights of the real servers of the node port: `1=0 2=1`. */
  const weights = () => {
    const dump = node.kernel.ipvs
      .dump()
      .matchAll(/-t 192\.168\.50\.10:30080 -r 10\.0\.0\.(\d):8080 -m -w (\d)/g);
    return [...dump].map(([, address, weight]) => `${address}=${weight}`).join(' ');
  };
  await program(node, local('same=5', 'externalTrafficPolicy'));
  assert.equal(weights(), '1=5');
  await program(node, local('same=0', 'externalTrafficPolicy'));
  assert.equal(weights(), '1=0 2=1 3=1 4=1');
  // A cluster IP has no endpoints to fall back to.
  const inside = nodeIn('a') + web('same=0', { extra: '  internalTrafficPolicy: Local\n' });
  await program(node, inside.replace('10.0.0.1]', '10.0.0.1], nodeName: node-a'));
  assert.match(node.kernel.ipvs.dump(), /-t 10\.96\.0\.1:80 -r 10\.0\.0\.1:8080 -m -w 0\n/);
  assert.equal(await shares(node), '');
});
