// Layout `scalable`: shared chains, and what changes cost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { elementsOf } from '../../../../../bench/nftables/elements.js';
import { layoutOf } from '../../../../../src/command/modes/nftables/fromConfiguration.js';
import type { NftablesOperation } from '../../../../../src/kernel/nftables/types.js';
import { bytesOf } from '../../../../../src/kernel/nftables/values/values.js';
import { FakeKernel, type FakeNftables } from '../../../../../src/kernel/testing/index.js';
import { createNftablesMode } from '../../../../../src/proxy/modes/nftables/index.js';
import {
  CONTAINERS,
  nameIn,
  SLOT_MAPS,
  type SlotMap,
  shapeOf,
  slotMapOf,
} from '../../../../../src/proxy/modes/nftables/plan/containers.js';
import type { Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { keep } from '../../../../../src/proxy/modes/nftables/plan/keep.js';
import {
  NFTABLES_DEFAULTS,
  type NftablesLayout,
} from '../../../../../src/proxy/modes/nftables/plan/options.js';
import { BalancedElement } from '../../../../../src/proxy/modes/nftables/plan/slots.js';
import { ruleText } from '../../../../../src/proxy/modes/nftables/program/ruleText.js';
import { decodeObject } from '../../../../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../../../../src/proxy/objects/types.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { identityOf } from '../../../../../src/proxy/source/manifestFile.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const SCALABLE = { layout: 'scalable' } as const;
const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

/** The items of these objects: elements of the maps of frontends, and chains that are not those of every node, each with its rules. */
function plan(...objects: readonly object[]): string[] {
  const desired = planned(objects, SCALABLE);
  const before = new Set(planned([], SCALABLE).keys());
  return [...desired.keys()]
    .filter((key) => !before.has(key) && !/cluster-ips|hairpin/.test(key))
    .flatMap((key) => {
      const item = desired.get(key) as Item;
      const rules = item.kind === 'chain' ? item.rules.map((rule) => `  ${ruleText(item.family, rule)}`) : [];
      return [key.replace('kube-proxy ', ''), ...rules].map((text) =>
        item.kind === 'element' ? `${text} : ${item.verdict}` : text,
      );
    })
    .map((text) => text.replaceAll(/-[A-Z2-7]{8}-/g, '-H-'));
}

const MARK = '  meta mark set meta mark | 0x00004000 comment "masquerade"';
const OPEN = { type: 'NodePort', externalIPs: ['192.0.2.7'], ports: [{ port: 80, nodePort: 30080 }] };

describe('the plan', () => {
  it('frontends with policy Cluster share chains', () => {
    const two = slice('web', '10.244.0.1', '10.244.0.2');
    assert.deepEqual(plan(service('web', '10.96.0.1', OPEN), two), [
      'element ip service-ips 10.96.0.1 . tcp . 80 : balance-2-0',
      'element ip service-ips 192.0.2.7 . tcp . 80 : external-2-7',
      'element ip service-nodeports tcp . 30080 : nodeport-2',
      'chain ip balance-2-0',
      '  dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 2 map @endpoints-0',
      'chain ip external-2-7',
      MARK,
      '  goto balance-2-7',
      'chain ip balance-2-7',
      '  dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 2 map @endpoints-7',
      'chain ip nodeport-2',
      MARK,
      '  dnat ip to meta l4proto . th dport . numgen random mod 2 map @nodeport-endpoints',
    ]);
  });

  it('IPv6', () => {
    const spec = { ...OPEN, externalIPs: [], ipFamilies: ['IPv6'] };
    assert.deepEqual(plan(service('web', 'fd00::1', spec), slice('web', 'fd01::1')).slice(2), [
      'chain ip6 balance-1-6',
      '  dnat ip6 to ip6 daddr . meta l4proto . th dport . numgen random mod 1 map @endpoints-6',
      'chain ip6 nodeport-1',
      MARK,
      '  dnat ip6 to meta l4proto . th dport . numgen random mod 1 map @nodeport-endpoints',
    ]);
  });

  it('internal policy Local: the local endpoints have the slots', () => {
    const local = service('web', '10.96.0.1', { ...OPEN, internalTrafficPolicy: 'Local' });
    const planOf = plan(local, slice('web', '10.244.0.1', '@10.244.0.2'));
    assert.deepEqual(planOf.slice(0, 3), [
      'element ip service-ips 10.96.0.1 . tcp . 80 : balance-1-0',
      'element ip service-ips 192.0.2.7 . tcp . 80 : external-2-7',
      'element ip service-nodeports tcp . 30080 : nodeport-2',
    ]);
    assert.deepEqual(
      plan(local, slice('web', '10.244.0.1')).filter((line) => /: |-B|-H-/.test(line)),
      [
        'element ip no-endpoint-services 10.96.0.1 . tcp . 80 : drop',
        'element ip service-ips 192.0.2.7 . tcp . 80 : external-1-7',
        'element ip service-nodeports tcp . 30080 : nodeport-1',
      ],
    );
  });

  it('external policy Local and session affinity: chains of their own', () => {
    const local = service('web', '10.96.0.1', { ...OPEN, externalTrafficPolicy: 'Local' });
    const chains = (lines: readonly string[]) => lines.filter((line) => /^(chain|element) /.test(line));
    assert.deepEqual(chains(plan(local, slice('web', '10.244.0.1', '@10.244.0.2'))), [
      'chain ip service-H-demo/web/tcp/',
      'chain ip local-H-demo/web/tcp/',
      'chain ip external-H-demo/web/tcp/',
      'element ip service-ips 10.96.0.1 . tcp . 80 : balance-2-0',
      'element ip service-ips 192.0.2.7 . tcp . 80 : external-H-demo/web/tcp/',
      'element ip service-nodeports tcp . 30080 : external-H-demo/web/tcp/',
      'chain ip balance-2-0',
    ]);
    const sticky = service('web', '10.96.0.1', { sessionAffinity: 'ClientIP' });
    assert.deepEqual(chains(plan(sticky, slice('web', '10.244.0.1'))), [
      'chain ip service-H-demo/web/tcp/',
      'chain ip endpoint-H-demo/web/tcp/__10.244.0.1/8080',
      'element ip service-ips 10.96.0.1 . tcp . 80 : service-H-demo/web/tcp/',
    ]);
  });
});

function decoded(raw: readonly object[]): Map<string, KubernetesObject> {
  const objects = raw.map((each) => decodeObject(each).object as KubernetesObject);
  return new Map(objects.map((object) => [identityOf(object), object]));
}

/** A node, and the transactions that it sends. */
function counted(layout: NftablesLayout = 'scalable', kernel = new FakeKernel()) {
  const node = new FakeNftablesNode(HOST, kernel, layout);
  const transactions: string[][] = [];
  const { nftables } = kernel;
  const send = nftables.apply.bind(nftables);
  nftables.apply = (operations, options) => {
    transactions.push(operations.map(short));
    return send(operations, options);
  };
  const change = async (...objects: readonly object[]) => {
    transactions.length = 0;
    node.set(decoded(objects));
    assert.deepEqual((await node.sync()).failures, []);
    const sent = [...transactions];
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0, 'a second pass');
    const restarted = new FakeNftablesNode(HOST, kernel, layout);
    restarted.set(decoded(objects));
    assert.equal((await restarted.sync()).operations, 0, 'a restart');
    return sent;
  };
  return { node, kernel, change };
}

function short(operation: NftablesOperation): string {
  if (!('elements' in operation))
    return `${operation.do} ${'chain' in operation ? operation.chain.name : 'rule' in operation ? operation.rule.chain : ''}`;
  const elements = elementsOf(operation).map((element) => {
    const data = 'data' in element && Array.isArray(element.data) ? ` : ${element.data.join(' . ')}` : '';
    return [element.key].flat().join(' . ') + data;
  });
  return `${operation.do} ${operation.set.name} ${elements.join(', ')}`;
}

const WEB = service('web', '10.96.0.1');
const KEY = '10.96.0.1 . tcp . 80';

/** Other Services, each with two endpoints. */
function others(count: number): object[] {
  return Array.from({ length: count }, (_, i) => [
    service(`s${i}`, `10.97.${i >> 8}.${i & 255}`),
    slice(`s${i}`, `10.245.${i >> 8}.${i & 255}`, `10.246.${i >> 8}.${i & 255}`),
  ]).flat();
}

/** Services whose endpoints are in the map of {@link WEB}'s. */
const NEIGHBOURS = {
  two: [service('two', '10.96.0.4'), slice('two', '10.245.0.1', '10.246.0.1')],
  three: [service('three', '10.96.0.14'), slice('three', '10.9.0.1', '10.9.0.2', '10.9.0.3')],
};

describe('a change', () => {
  for (const count of [0, 300])
    it(`of an endpoint sends its slot only, with ${count} other Services`, async () => {
      const { change } = counted();
      const rest = others(count);
      await change(WEB, slice('web', '10.244.0.1', '10.244.0.2', '10.244.0.3'), ...rest);
      const sent = await change(WEB, slice('web', '10.244.0.2', '10.244.0.3', '10.244.0.9'), ...rest);
      assert.deepEqual(sent, [
        [`deleteElements endpoints-0 ${KEY} . 0`, `addElements endpoints-0 ${KEY} . 0 : 10.244.0.9 . 8080`],
      ]);
    });

  it('of the number of endpoints is one transaction, with the shared chain', async () => {
    const { change } = counted();
    await change(WEB, slice('web', '10.244.0.1', '10.244.0.2'));
    assert.deepEqual(await change(WEB, slice('web', '10.244.0.0', '10.244.0.1', '10.244.0.2')), [
      [
        'addChain balance-3-0',
        'flushChain balance-3-0',
        'addRule balance-3-0',
        `deleteElements service-ips ${KEY}`,
        `addElements endpoints-0 ${KEY} . 2 : 10.244.0.0 . 8080`,
        `addElements service-ips ${KEY}`,
        'flushChain balance-2-0',
        'deleteChain balance-2-0',
      ],
    ]);
    const neighbour = [0, 1].map((slot) => `10.96.0.4 . tcp . 80 . ${slot} : 10.24${5 + slot}.0.1 . 8080`);
    // The last slot is given up: its endpoint moves if it stays. Elements of several Services are merged.
    assert.deepEqual(
      (await change(WEB, slice('web', '10.244.0.0', '10.244.0.2'), ...NEIGHBOURS.two))[0]?.slice(3, 7),
      [
        `deleteElements endpoints-0 ${KEY} . 0,${KEY} . 2`.replace(',', ', '),
        `deleteElements service-ips ${KEY}`,
        `addElements endpoints-0 ${[`${KEY} . 0 : 10.244.0.0 . 8080`, ...neighbour].join(', ')}`,
        `addElements service-ips ${KEY}, 10.96.0.4 . tcp . 80`,
      ],
    );
  });

  it('of the number of endpoints, if the chains are there: elements only', async () => {
    const { change } = counted();
    const rest = [...NEIGHBOURS.two, ...NEIGHBOURS.three];
    await change(WEB, slice('web', '10.244.0.1', '10.244.0.2'), ...rest);
    const [sent, more] = await change(WEB, slice('web', '10.244.0.1', '10.244.0.2', '10.244.0.3'), ...rest);
    assert.ok(
      sent?.every((operation) => /^(add|delete)Elements /.test(operation)),
      `${sent}`,
    );
    assert.equal(more, undefined);
  });

  it('no endpoint is left, one comes, the Service goes', async () => {
    const { change, kernel } = counted();
    await change(WEB, slice('web', '10.244.0.1'));
    await change(WEB);
    await change(WEB, slice('web', '10.244.0.1'));
    await change();
    const mode = createNftablesMode(kernel, { ...NFTABLES_DEFAULTS, ...SCALABLE });
    const left = [...(await observeAll(mode, false)).keys()].filter((key) => /balance|10\.96/.test(key));
    assert.deepEqual(left, []);
  });

  it('of the kind of a Service: its chains and slots are exchanged', async () => {
    const { change } = counted();
    const sticky = service('web', '10.96.0.1', { sessionAffinity: 'ClientIP' });
    for (const each of [WEB, sticky, WEB]) await change(each, slice('web', '10.244.0.1', '10.244.0.2'));
  });
});

it('a chain of its own with one endpoint has no map', async () => {
  const { change, node } = counted();
  const local = service('web', '10.96.0.1', { ...OPEN, externalTrafficPolicy: 'Local' });
  const one = slice('web', '@10.244.0.1');
  await change(local, one);
  const rules = [...(await observeAll(node.mode, false)).values()].flatMap((item) =>
    item.kind === 'chain' && item.name.includes('/') ? item.rules.map((rule) => ruleText(4, rule)) : [],
  );
  const direct = 'meta l4proto tcp dnat to 10.244.0.1:8080';
  assert.deepEqual(
    rules.filter((rule) => rule.includes('dnat')),
    [direct, direct],
  );
  await change(local, slice('web', '@10.244.0.1', '@10.244.0.2'));
  await change(local, one);
});

it('a chain with one endpoint has the form of kube-proxy 1.36, or of 1.37 with directSingleEndpoint', () => {
  const objects = [service('web', '10.96.0.1'), slice('web', '10.244.0.1')];
  const rulesWith = (directSingleEndpoint: boolean) => {
    const desired = planned(objects, { directSingleEndpoint });
    const chains = [...desired.keys()]
      .map((key) => desired.get(key))
      .filter((item) => item?.kind === 'chain');
    const own = chains.filter(({ name }) => name.includes('/'));
    return own.flatMap(({ rules }) => rules.map((rule) => ruleText(4, rule)));
  };
  assert.deepEqual(rulesWith(false), [
    'meta l4proto tcp dnat ip to numgen random mod 1 map { 0 : 10.244.0.1 . 8080 }',
  ]);
  assert.deepEqual(rulesWith(true), ['meta l4proto tcp dnat to 10.244.0.1:8080']);
});

describe('slots of other programs and with other contents', () => {
  const MAP = { ...nameIn(4, 'endpoints-0'), ...shapeOf(SLOT_MAPS[4].addresses[0] as SlotMap) };
  const slot = (number: number) => ({ key: ['10.96.0.1', 'tcp', 80, number] });
  const data = ['10.244.0.1', 8080];
  /** The operations of a start, after the elements were changed, and those of another start. */
  const restarts = async (damage: (nftables: FakeNftables) => Promise<void>) => {
    const { kernel, change } = counted();
    const objects = [WEB, slice('web', '10.244.0.1', '10.244.0.2'), ...NEIGHBOURS.two];
    await change(...objects);
    await damage(kernel.nftables);
    const next = counted('scalable', kernel);
    return (await next.change(...objects)).flat().filter((operation) => operation.includes('endpoints-0'));
  };

  it('a missing slot comes back', async () => {
    const sent = await restarts((nftables) => nftables.deleteElements(MAP, [slot(1)]));
    assert.deepEqual(sent, [
      `deleteElements endpoints-0 ${KEY} . 0`,
      `addElements endpoints-0 ${KEY} . 0 : 10.244.0.1 . 8080, ${KEY} . 1 : 10.244.0.2 . 8080`,
    ]);
  });

  it('a slot more goes', async () => {
    const sent = await restarts((nftables) => nftables.addElements(MAP, [{ ...slot(7), data }]));
    assert.match(sent[0] ?? '', /^deleteElements endpoints-0 .* \. 7$/);
  });

  it('a slot with a comment is written anew', async () => {
    const sent = await restarts(async (nftables) => {
      await nftables.deleteElements(MAP, [slot(0)]);
      await nftables.addElements(MAP, [{ ...slot(0), data, comment: 'mine' }]);
    });
    assert.match(sent.at(-1) ?? '', /^addElements endpoints-0 .* \. 0 : 10\.244\.0\.1 \. 8080/);
  });

  it('slots of a frontend without an element go', async () => {
    const key = ['10.96.0.4', 'udp', 80, 0] as const;
    const shard = slotMapOf(CONTAINERS[4]['service-ips'], '10.96.0.4 . udp . 80') as SlotMap;
    const { kernel, change } = counted();
    await change(WEB);
    const map = { ...nameIn(4, shard.name), ...shapeOf(shard) };
    await kernel.nftables.addElements(map, [{ key, data }]);
    const sent = await counted('scalable', kernel).change(WEB);
    assert.deepEqual(sent.flat(), [`deleteElements ${shard.name} ${key.join(' . ')}`]);
  });

  it('those that no packet finds stay: in the map of other frontends, or with something behind the protocol', async () => {
    const sent = await restarts(async (nftables) => {
      const key = bytesOf(MAP.key, ['10.96.0.1', 'tcp', 80, 0]);
      key[5] = 1;
      await nftables.addElements(MAP, [{ key, data }]);
      await nftables.addElements({ ...MAP, name: 'endpoints-3' }, [{ ...slot(0), data }]);
    });
    assert.deepEqual(sent, []);
  });
});

it('a start with the other layout exchanges all, the new items first', async () => {
  const { change, kernel } = counted('kube-proxy');
  const objects = [WEB, slice('web', '10.244.0.1', '10.244.0.2'), ...others(3)];
  await change(...objects);
  for (const layout of ['scalable', 'kube-proxy'] as const) {
    const next = counted(layout, kernel);
    const [sent = []] = await next.change(...objects);
    const firstElement = sent.findIndex((operation) => operation.startsWith('addElements service-ips'));
    const added = sent.findLastIndex((operation) => operation.startsWith('addRule'));
    const removed = sent.findIndex((operation) => operation.startsWith('deleteChain'));
    assert.ok(0 < added && added < firstElement && firstElement < removed, sent.join('\n'));
  }
});

it('endpoints that are not read stay, and their number decides', () => {
  const element = (...endpoints: readonly string[]) => {
    const desired = planned([WEB, slice('web', ...endpoints)], SCALABLE);
    return desired.get(`element ip kube-proxy service-ips ${KEY}`) as BalancedElement;
  };
  const found = element('10.244.0.1', '10.244.0.2', '10.244.0.3');
  const wanted = element('10.244.0.2', '10.244.0.4');
  const part = keep.beyond(found, wanted);
  assert.ok(part);
  const joined = keep.join(wanted, part) as BalancedElement;
  assert.ok(joined instanceof BalancedElement);
  assert.deepEqual([joined.verdict, [...joined.endpoints].length], ['balance-4-0', 4]);
  assert.equal(keep.beyond(wanted, joined), undefined);
});

it('the diff of a change shows the slots', async () => {
  const { node, change } = counted();
  await change(WEB, slice('web', '10.244.0.1', '10.244.0.2'));
  node.set(decoded([WEB, slice('web', '10.244.0.1', '10.244.0.3')]));
  const [operation] = await node.reconciler.preview();
  assert.deepEqual(operation?.lines, [
    `- element ip kube-proxy endpoints-0 { ${KEY} . 1 }`,
    `+ element ip kube-proxy endpoints-0 { ${KEY} . 1 : 10.244.0.3 . 8080 }`,
  ]);
});

it('the flag --nftables-layout has one of two values', () => {
  assert.deepEqual([layoutOf(undefined), layoutOf('scalable')], ['kube-proxy', 'scalable']);
  assert.throws(() => layoutOf('fast'), /--nftables-layout must be kube-proxy or scalable; found fast/);
});
