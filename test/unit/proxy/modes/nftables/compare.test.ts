// The operations between two states of the kernel: what they are, and their order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { elementsOf } from '../../../../../bench/nftables/elements.js';
import { AddressPorts } from '../../../../../src/kernel/net/addressPorts.js';
import type { NftablesOperation } from '../../../../../src/kernel/nftables/types.js';
import type { Known } from '../../../../../src/proxy/modes/mode.js';
import { compare, isSame } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import type { ChainItem, Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { kernelOperations } from '../../../../../src/proxy/modes/nftables/plan/kernelOperations.js';
import type { Operation } from '../../../../../src/proxy/modes/nftables/plan/operations.js';
import { dependsOn } from '../../../../../src/proxy/modes/nftables/plan/references.js';
import { BalancingChain } from '../../../../../src/proxy/modes/nftables/plan/serviceChains.js';
import { DesiredState } from '../../../../../src/proxy/reconcile/desiredState.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { sample } from '../../../../support/extent.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { desiredAt } from '../../../../support/oracle/plannedNftables.js';

/** The operations from a known state to a desired one; the known state then is as desired. */
function pass(desired: DesiredState<Item>, known: Known<Item>): Operation[] {
  const comparison = compare(desired, known);
  for (const key of new Set([...desired.keys(), ...known.keys()])) comparison.look(key);
  return [...comparison.additions(), ...comparison.removals()];
}

/** Applies operations to what is known. Each item must refer only to what is there, before and after. */
function applyAll(operations: readonly Operation[], known: Known<Item>): void {
  for (const operation of operations) {
    const { key, becomes } = operation;
    if (becomes) {
      for (const other of dependsOn(becomes)) assert.ok(known.has(other), `${key} needs ${other}`);
      known.set(key, becomes);
    } else {
      known.delete(key);
      if (operation.item.kind === 'table')
        for (const other of [...known.keys()])
          if (known.get(other)?.family === operation.item.family) known.delete(other);
    }
  }
}

/** No item refers to what is not there. */
function assertWhole(known: Known<Item>): void {
  for (const [key, item] of known)
    for (const other of dependsOn(item)) assert.ok(known.has(other), `${key} needs ${other}`);
}

/** The operations of the kernel in short: `addRule service-…`. */
function short(operations: readonly Operation[]): string[] {
  return operations.flatMap((operation) => kernelOperations(operation)).map(shortOf);
}

function shortOf(operation: NftablesOperation): string {
  const named = 'table' in operation ? operation.table : 'chain' in operation ? operation.chain : undefined;
  const set = 'set' in operation ? operation.set : undefined;
  const rule = 'rule' in operation ? { name: (operation.rule as { chain: string }).chain } : undefined;
  const elements =
    'elements' in operation ? ` ${elementsOf(operation).map(({ key }) => [key].flat().join(' . '))}` : '';
  const { name } = named ?? set ?? rule ?? { name: '' };
  return `${operation.do} ${name.replaceAll(/-[A-Z2-7]{8}-/g, '-H-')}${elements}`;
}

const WEB = service('web', '10.96.0.1');
const ENDPOINTS = slice('web', '10.244.0.1', '10.244.0.2');
const IPV4 = { families: [4] } as const;

/** What is known after a pass to these objects. */
function knownOf(objects: readonly object[]): Map<string, Item> {
  const known = new Map<string, Item>();
  applyAll(pass(planned(objects, IPV4), known), known);
  return known;
}

/** The operations of the kernel for a change of objects. */
function changes(before: readonly object[], after: readonly object[]): string[] {
  const known = knownOf(before);
  const operations = pass(planned(after, IPV4), known);
  applyAll(operations, known);
  assertWhole(known);
  assert.deepEqual(pass(planned(after, IPV4), known), [], 'a second pass changes nothing');
  return short(operations);
}

const written = (chain: string, rules = 1) => [
  `addChain ${chain}`,
  `flushChain ${chain}`,
  ...Array<string>(rules).fill(`addRule ${chain}`),
];
const SERVICE = 'service-H-demo/web/tcp/';
const KEY = '10.96.0.1 . tcp . 80';

describe('the changes of a Service', () => {
  it('added: its chain before the elements that lead to it', () => {
    assert.deepEqual(changes([], [WEB, ENDPOINTS]), [
      ...written(SERVICE),
      'addElements cluster-ips 10.96.0.1',
      `addElements service-ips ${KEY}`,
    ]);
  });

  it('removed: the elements before the chain', () => {
    assert.deepEqual(changes([WEB, ENDPOINTS], []), [
      'deleteElements cluster-ips 10.96.0.1',
      `deleteElements service-ips ${KEY}`,
      `flushChain ${SERVICE}`,
      `deleteChain ${SERVICE}`,
    ]);
  });

  it('an endpoint: the rules of its chain', () => {
    assert.deepEqual(changes([WEB, ENDPOINTS], [WEB, slice('web', '10.244.0.1')]), written(SERVICE));
  });

  it('no endpoint is left, and one comes: first what takes the traffic, then what loses it', () => {
    assert.deepEqual(changes([WEB, ENDPOINTS], [WEB]), [
      `addElements no-endpoint-services ${KEY}`,
      `deleteElements service-ips ${KEY}`,
      `flushChain ${SERVICE}`,
      `deleteChain ${SERVICE}`,
    ]);
    assert.deepEqual(changes([WEB], [WEB, ENDPOINTS]), [
      ...written(SERVICE),
      `addElements service-ips ${KEY}`,
      `deleteElements no-endpoint-services ${KEY}`,
    ]);
  });

  it('another policy: an element with another verdict is deleted and added', () => {
    const local = service('web', '10.96.0.1', { internalTrafficPolicy: 'Local' });
    const here = slice('web', '@10.244.0.1');
    assert.deepEqual(changes([WEB, here], [local, here]), [
      ...written('local-H-demo/web/tcp/'),
      `deleteElements service-ips ${KEY}`,
      `addElements service-ips ${KEY}`,
      `flushChain ${SERVICE}`,
      `deleteChain ${SERVICE}`,
    ]);
  });

  it('affinity: sets, then the chains of endpoints, then the chain that leads to them; and the reverse', () => {
    const sticky = service('web', '10.96.0.1', { sessionAffinity: 'ClientIP' });
    const ends = (['1', '2'] as const).map((end) => `H-demo/web/tcp/__10.244.0.${end}/8080`);
    assert.deepEqual(changes([WEB, ENDPOINTS], [sticky, ENDPOINTS]), [
      ...ends.map((end) => `addSet affinity-${end}`),
      ...ends.flatMap((end) => written(`endpoint-${end}`, 2)),
      ...written(SERVICE, 3),
    ]);
    assert.deepEqual(changes([sticky, ENDPOINTS], [WEB, ENDPOINTS]), [
      ...written(SERVICE),
      ...ends.flatMap((end) => [`flushChain endpoint-${end}`, `deleteChain endpoint-${end}`]),
      ...ends.map((end) => `deleteSet affinity-${end}`),
    ]);
    const timeout = { sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } } };
    const shorter = service('web', '10.96.0.1', { sessionAffinity: 'ClientIP', ...timeout });
    assert.deepEqual(
      changes([sticky, ENDPOINTS], [shorter, ENDPOINTS]),
      ends.map((end) => `addSet affinity-${end}`),
    );
  });
});

describe('what another program left or changed', () => {
  /** The operations of the kernel after a change of what is known. */
  const repairs = (change: (known: Map<string, Item>) => void) => {
    const known = knownOf([WEB, ENDPOINTS]);
    change(known);
    const operations = pass(planned([WEB, ENDPOINTS], IPV4), known);
    applyAll(operations, known);
    assertWhole(known);
    return short(operations);
  };
  const chain = (known: Known<Item>, name: string) => known.get(`chain ip kube-proxy ${name}`) as ChainItem;
  const set = (known: Map<string, Item>, item: ChainItem) =>
    known.set(`chain ip kube-proxy ${item.name}`, item);

  it('a rule in a chain of ours: the chain is written anew', () => {
    assert.deepEqual(
      repairs((known) => {
        const services = chain(known, 'services');
        set(known, { ...services, rules: services.rules.slice(1) });
      }),
      written('services', 2),
    );
  });

  it('a base chain at another place: it is deleted and made anew in one transaction', () => {
    for (const changed of [
      { priority: -99 },
      { hook: 'input' },
      { type: 'filter' },
      { policy: 'drop' },
    ] as const)
      assert.deepEqual(
        repairs((known) => {
          const output = chain(known, 'nat-output');
          set(known, { ...output, base: { ...(output.base as NonNullable<ChainItem['base']>), ...changed } });
        }),
        ['flushChain nat-output', 'deleteChain nat-output', 'addChain nat-output', 'addRule nat-output'],
      );
    assert.deepEqual(
      repairs((known) =>
        set(known, { kind: 'chain', family: 4, name: 'nat-output', rules: chain(known, 'nat-output').rules }),
      ),
      ['flushChain nat-output', 'deleteChain nat-output', 'addChain nat-output', 'addRule nat-output'],
    );
  });

  it('a table with sets of other types: it is deleted, and all is made anew', () => {
    const made = repairs((known) => {
      known.clear();
      known.set('table ip kube-proxy', { kind: 'table', family: 4, stale: true });
    });
    assert.deepEqual(made.slice(0, 2), ['deleteTable kube-proxy', 'addTable kube-proxy']);
    assert.equal(made.length, short(pass(planned([WEB, ENDPOINTS], IPV4), new Map())).length + 1);
  });

  it('what no plan has: it is removed', () => {
    const stranger = new Map(
      knownOf([WEB, ENDPOINTS, service('old', '10.96.0.9'), slice('old', '10.244.0.9')]),
    );
    const operations = pass(planned([WEB, ENDPOINTS], IPV4), stranger);
    assert.deepEqual(short(operations), [
      'deleteElements cluster-ips 10.96.0.9',
      'deleteElements service-ips 10.96.0.9 . tcp . 80',
      'flushChain service-H-demo/old/tcp/',
      'deleteChain service-H-demo/old/tcp/',
    ]);
  });

  it('a clean-up deletes the tables, and what they contain with them', () => {
    const nothing = new DesiredState<Item>(() => undefined);
    const known = knownOf([WEB, ENDPOINTS]);
    const operations = pass(nothing, known);
    assert.deepEqual(short(operations), ['deleteTable kube-proxy']);
    applyAll(operations, known);
    assert.equal(known.size, 0);
  });
});

describe('recordings', () => {
  const all = scenarios('nftables').filter(({ steps }) => steps.length > 1);

  it('have steps', () => assert.ok(all.length >= 6, `${all.length}`));

  for (const scenario of sample(all, 2))
    it(`${scenario.name}: each step, and back: nothing refers to what is not there`, async () => {
      const states = [];
      for (const step of scenario.steps) states.push(await desiredAt(scenario, step));
      const known = new Map<string, Item>();
      for (const desired of [...states, ...states.toReversed()]) {
        applyAll(pass(desired, known), known);
        assertWhole(known);
        assert.equal(known.size, [...desired.keys()].length);
        for (const [key, item] of known) assert.ok(isSame(desired.get(key) as Item, item), key);
        assert.deepEqual(pass(desired, known), []);
      }
    });
});

it('equal plans that were made twice are the same', async () => {
  const [scenario] = scenarios('nftables').filter(({ name }) => name === 'random-01');
  assert.ok(scenario);
  const [step = ''] = scenario.steps;
  const known = new Map<string, Item>();
  applyAll(pass(await desiredAt(scenario, step), known), known);
  assert.deepEqual(pass(await desiredAt(scenario, step), known), []);
});

it('a chain with other endpoints differs from the one that is known, without a look at the rules of either', () => {
  const balancing = (...addresses: string[]) => {
    const list = AddressPorts.ofTexts(
      4,
      addresses.map((address) => `${address}:8080`),
    );
    assert.ok(list);
    return new BalancingChain({ family: 4, name: 'service-x', service: 'demo/web' }, 'tcp', list);
  };
  const unread = (chain: BalancingChain) =>
    Object.defineProperty(chain, 'rules', { get: () => assert.fail('rules of many endpoints take long') });
  const [want, have] = [balancing('10.0.0.1', '10.0.0.2'), balancing('10.0.0.1', '10.0.0.3')].map(unread);
  assert.ok(want && have);
  assert.equal(isSame(want, have), false);
  assert.equal(isSame(want, unread(balancing('10.0.0.2', '10.0.0.1'))), true);
});
