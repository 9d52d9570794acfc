// While objects are unreadable, what no plan contains stays, and so do endpoints in chains that a plan contains.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { keep } from '../../../../../src/proxy/modes/nftables/plan/keep.js';
import { LAYOUTS } from '../../../../../src/proxy/modes/nftables/plan/options.js';
import { BalancingChain } from '../../../../../src/proxy/modes/nftables/plan/serviceChains.js';
import { BalancedElement } from '../../../../../src/proxy/modes/nftables/plan/slots.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import type { DesiredState } from '../../../../../src/proxy/reconcile/desiredState.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { identityOf } from '../../../../../src/proxy/source/manifestFile.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

function decoded(raw: readonly object[]): Map<string, KubernetesObject> {
  const objects = raw.map((each) => decodeObject(each).object as KubernetesObject);
  return new Map(objects.map((object) => [identityOf(object), object]));
}

const stateOf = (desired: DesiredState<Item>) =>
  new Map([...desired.keys()].map((key) => [key, desired.get(key) as Item]));

const sticky = { sessionAffinity: 'ClientIP', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };

it('finds all that belongs to Services, and nothing of the node', () => {
  const desired = planned([
    service('web', '10.96.0.1', sticky),
    slice('web', '@10.244.0.1'),
    service('idle', '10.96.0.2'),
  ]);
  const found = keep.found(stateOf(desired));
  const node = [...desired.keys()].filter((key) => desired.ownersOf(key).includes(''));
  const ofServices = [...desired.keys()].filter((key) => !desired.ownersOf(key).includes(''));
  assert.deepEqual([...found.keys()].toSorted(), ofServices.toSorted());
  assert.ok(node.length > 40 && ofServices.length >= 10);
  assert.ok(ofServices.some((key) => key.startsWith('set ip kube-proxy affinity-')));
});

for (const [what, spec] of [
  ['without affinity', {}],
  ['with affinity', { sessionAffinity: 'ClientIP' }],
] as const) {
  it(`endpoints that are not read stay in their chain: ${what}`, () => {
    const chain = (...endpoints: readonly string[]) => {
      const state = stateOf(planned([service('web', '10.96.0.1', spec), slice('web', ...endpoints)]));
      const item = [...state.values()].find(
        (each) => each.kind === 'chain' && each.name.startsWith('service-') && each.name.includes('/'),
      );
      assert.ok(item?.kind === 'chain');
      return item;
    };
    const texts = (item: Item | undefined) =>
      item?.kind === 'chain' && item.rules.map((rule) => ruleText(4, rule));
    const found = chain('10.244.0.1', '10.244.0.2', '10.244.0.3');
    const wanted = chain('10.244.0.2', '10.244.0.4');
    const part = keep.beyond(found, wanted);
    assert.ok(part);
    assert.deepEqual(
      texts(keep.join(wanted, part)),
      texts(chain('10.244.0.1', '10.244.0.2', '10.244.0.3', '10.244.0.4')),
    );
    assert.equal(keep.beyond(wanted, keep.join(wanted, found)), undefined);
    assert.notEqual(keep.join(found, wanted), found);
    assert.equal(keep.join(found, chain('10.244.0.2')), found);
  });
}

it('other items have no parts', () => {
  const state = stateOf(planned([service('web', '10.96.0.1', sticky), slice('web', '10.244.0.1')]));
  for (const item of state.values()) {
    assert.equal(keep.beyond(item, item), undefined);
    assert.equal(keep.join(item, item), item);
  }
});

it('keeps a Service and endpoints that are not read, until every object is known', async () => {
  const WEB = service('web', '10.96.0.1');
  const OTHER = [service('other', '10.96.0.2'), slice('other', '10.244.0.9')];
  const all = [WEB, slice('web', '10.244.0.1', '10.244.0.2', '10.244.0.3'), ...OTHER];
  const node = new FakeNftablesNode(HOST);
  node.set(decoded(all));
  await node.sync();

  // After a restart, one Service and one endpoint of the other cannot be read.
  const restarted = new FakeNftablesNode(HOST, node.kernel);
  restarted.reconciler.hold();
  restarted.set(decoded([WEB, slice('web', '10.244.0.1', '10.244.0.2')]));
  assert.equal((await restarted.sync()).operations, 0);

  // A read endpoint disappears: the one that is not read stays.
  restarted.set(decoded([WEB, slice('web', '10.244.0.1')]));
  assert.deepEqual((await restarted.sync()).failures, []);
  const endpoints = async () => {
    const found = [...(await observeAll(restarted.mode, true)).values()];
    return found.flatMap((item) => (item instanceof BalancingChain ? [...item.endpoints] : []));
  };
  assert.deepEqual((await endpoints()).toSorted(), ['10.244.0.1:8080', '10.244.0.3:8080', '10.244.0.9:8080']);

  restarted.reconciler.release();
  assert.deepEqual((await restarted.sync()).failures, []);
  assert.deepEqual(await endpoints(), ['10.244.0.1:8080']);
});

/** The endpoints to which the kernel leads the cluster IP of WEB, and whether it refuses it. */
async function served(node: FakeNftablesNode) {
  const items = await observeAll(node.mode, true);
  const text = '10.96.0.1 . tcp . 80';
  const element = items.get(`element ip kube-proxy service-ips ${text}`);
  assert.ok(element?.kind === 'element');
  const chain = items.get(`chain ip kube-proxy ${element.verdict}`);
  const holder = element instanceof BalancedElement ? element : chain;
  assert.ok(holder instanceof BalancedElement || holder instanceof BalancingChain);
  return {
    endpoints: [...holder.endpoints],
    refused: items.has(`element ip kube-proxy no-endpoint-services ${text}`),
    layout: holder instanceof BalancedElement ? 'scalable' : 'kube-proxy',
  };
}

for (const before of LAYOUTS)
  for (const after of LAYOUTS)
    for (const [what, read, layout] of [
      ['one endpoint', [slice('web', '10.244.0.2')], after],
      ['no endpoint', [], before],
    ] as const)
      it(`a start with layout ${after} after ${before} that reads ${what}: the others stay`, async () => {
        const open = { type: 'NodePort', externalIPs: ['192.0.2.7'], ports: [{ port: 80, nodePort: 30080 }] };
        const web = service('web', '10.96.0.1', open);
        const all = [web, slice('web', '10.244.0.1', '10.244.0.2', '10.244.0.3')];
        const former = new FakeNftablesNode(HOST, undefined, before);
        former.set(decoded(all));
        await former.sync();

        const node = new FakeNftablesNode(HOST, former.kernel, after);
        node.reconciler.hold();
        for (const objects of [
          [web, ...read],
          [web, ...read, service('other', '10.96.0.2'), slice('other', '10.244.0.9')],
        ]) {
          node.set(decoded(objects));
          assert.deepEqual((await node.sync()).failures, []);
          const endpoints = ['10.244.0.1:8080', '10.244.0.2:8080', '10.244.0.3:8080'];
          assert.deepEqual(await served(node), { endpoints, refused: false, layout });
        }

        // Every object can be read again, and one endpoint is gone.
        node.reconciler.release();
        node.set(decoded([web, slice('web', '10.244.0.1', '10.244.0.3')]));
        assert.deepEqual((await node.sync()).failures, []);
        const endpoints = ['10.244.0.1:8080', '10.244.0.3:8080'];
        assert.deepEqual(await served(node), { endpoints, refused: false, layout: after });
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);
      });

/** The endpoints to which the kernel leads clients of WEB. With session affinity, each must have its chain and the set of its clients. */
async function reachable(node: FakeNftablesNode) {
  const found = await served(node);
  const items = await observeAll(node.mode, true);
  const names = [...items.values()].flatMap((item) => ('name' in item ? [`${item.kind} ${item.name}`] : []));
  const whole = found.endpoints.filter((endpoint) => {
    const end = `__${endpoint.replace(':', '/')}`;
    return ['chain endpoint-', 'set affinity-'].every((start) =>
      names.some((name) => name.startsWith(start) && name.endsWith(end)),
    );
  });
  return { ...found, remembered: whole.length === found.endpoints.length };
}

for (const layout of LAYOUTS)
  for (const gains of [true, false])
    for (const first of ['while it runs', 'at a start'])
      it(`layout ${layout}: a Service ${gains ? 'gains' : 'loses'} session affinity ${first}, and an endpoint is not read: it stays`, async () => {
        const web = (sticky: boolean) =>
          service('web', '10.96.0.1', {
            ...{ type: 'NodePort', externalIPs: ['192.0.2.7'], ports: [{ port: 80, nodePort: 30080 }] },
            ...(sticky && { sessionAffinity: 'ClientIP' }),
          });
        const former = new FakeNftablesNode(HOST, undefined, layout);
        former.set(decoded([web(!gains), slice('web', '10.244.0.1', '10.244.0.2', '10.244.0.3')]));
        await former.sync();

        const node = new FakeNftablesNode(HOST, former.kernel, layout);
        node.reconciler.hold();
        const all = ['10.244.0.1:8080', '10.244.0.2:8080', '10.244.0.3:8080'];
        const read = slice('web', '10.244.0.1', '10.244.0.2');
        const turns = first === 'at a start' ? [gains, !gains, gains] : [!gains, gains, !gains, gains];
        for (const sticky of turns) {
          node.set(decoded([web(sticky), read]));
          assert.deepEqual((await node.sync()).failures, []);
          const { endpoints, refused, remembered } = await reachable(node);
          assert.deepEqual({ endpoints, refused }, { endpoints: all, refused: false });
          if (sticky) assert.ok(remembered, 'each endpoint has a chain and a set');
        }
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);

        node.reconciler.release();
        node.set(decoded([web(gains), read]));
        assert.deepEqual((await node.sync()).failures, []);
        assert.deepEqual((await served(node)).endpoints, all.slice(0, 2));
        assert.doesNotMatch(node.kernel.nftables.dump(), /10\.244\.0\.3/);
      });
