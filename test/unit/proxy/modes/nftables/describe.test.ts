// Operations as a readable diff.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { compare } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import type { ChainItem, Item } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { describe } from '../../../../../src/proxy/modes/nftables/program/describe.js';
import { DesiredState } from '../../../../../src/proxy/reconcile/desiredState.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';

/** The lines of a change, without hashes. */
function diff(
  desired: DesiredState<Item>,
  known: ReadonlyMap<string, Item>,
  of: (key: string) => boolean = () => true,
): string[] {
  const comparison = compare(desired, known);
  for (const key of new Set([...desired.keys(), ...known.keys()])) if (of(key)) comparison.look(key);
  return [...comparison.additions(), ...comparison.removals()]
    .flatMap((operation) => describe(operation, new Map(known)).flat())
    .map((line) => line.replaceAll(/-[A-Z2-7]{8}-/g, '-H-'));
}

const stateOf = (desired: DesiredState<Item>) =>
  new Map([...desired.keys()].map((key) => [key, desired.get(key) as Item]));

const sticky = service('web', '10.96.0.1', { sessionAffinity: 'ClientIP' });
const WEB = service('web', '10.96.0.1');
const IPV4 = { families: [4] } as const;
const ENDPOINT = 'H-demo/web/tcp/__10.244.0.1/8080';
const NAME = 'H-demo/web/tcp/';

it('of a new Service', () => {
  const before = stateOf(planned([], IPV4));
  assert.deepEqual(diff(planned([sticky, slice('web', '10.244.0.1')], IPV4), before), [
    `+ set ip kube-proxy affinity-${ENDPOINT} timeout 10800s`,
    `+ chain ip kube-proxy endpoint-${ENDPOINT}`,
    `    + update @affinity-${ENDPOINT} { ip saddr }`,
    '    + meta l4proto tcp dnat to 10.244.0.1:8080',
    `+ chain ip kube-proxy service-${NAME}`,
    `    + ip saddr @affinity-${ENDPOINT} goto endpoint-${ENDPOINT}`,
    `    + numgen random mod 1 vmap { 0 : goto endpoint-${ENDPOINT} }`,
    '+ element ip kube-proxy cluster-ips { 10.96.0.1 }',
    `+ element ip kube-proxy service-ips { 10.96.0.1 . tcp . 80 : goto service-${NAME} }`,
  ]);
});

it('of a change, and of a removal', () => {
  const before = stateOf(planned([WEB, slice('web', '10.244.0.1')], IPV4));
  assert.deepEqual(diff(planned([WEB, slice('web', '10.244.0.1', '10.244.0.2')], IPV4), before), [
    `~ chain ip kube-proxy service-${NAME}`,
    '    - meta l4proto tcp dnat ip to numgen random mod 1 map { 0 : 10.244.0.1 . 8080 }',
    '    + meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.0.1 . 8080, 1 : 10.244.0.2 . 8080 }',
  ]);
  assert.deepEqual(diff(planned([WEB], IPV4), before), [
    '+ element ip kube-proxy no-endpoint-services { 10.96.0.1 . tcp . 80 comment "demo/web" : goto reject-chain }',
    `- element ip kube-proxy service-ips { 10.96.0.1 . tcp . 80 : goto service-${NAME} }`,
    `- chain ip kube-proxy service-${NAME}`,
  ]);
});

it('of another verdict, and of rules of other programs', () => {
  const known = stateOf(planned([WEB], IPV4));
  const rejected = planned([WEB], IPV4);
  const chain = known.get('chain ip kube-proxy firewall-check') as ChainItem;
  const rules = [
    ...chain.rules,
    { expressions: [{ kind: 'counter' } as const] },
    { expressions: [], comment: 'mine' },
  ];
  known.set('chain ip kube-proxy firewall-check', { ...chain, rules });
  const dropped = planned([WEB, slice('web', '10.244.0.1')], IPV4);
  const local = service('web', '10.96.0.1', { internalTrafficPolicy: 'Local' });
  assert.deepEqual(diff(rejected, known), [
    '~ chain ip kube-proxy firewall-check',
    '    - counter packets 0 bytes 0',
    '    - comment "mine"',
  ]);
  const drops = planned([local, slice('web', '10.244.0.1')], IPV4);
  assert.deepEqual(
    diff(drops, stateOf(rejected), (key) => key.startsWith('element')),
    [
      '- element ip kube-proxy no-endpoint-services { 10.96.0.1 . tcp . 80 comment "demo/web" : goto reject-chain }',
      '+ element ip kube-proxy no-endpoint-services { 10.96.0.1 . tcp . 80 comment "demo/web" : drop }',
    ],
  );
  assert.equal(diff(dropped, stateOf(dropped)).length, 0);
});

it('of a table', () => {
  const nothing = new DesiredState<Item>(() => undefined);
  const known = stateOf(planned([WEB], IPV4));
  assert.deepEqual(diff(nothing, known), ['- table ip kube-proxy']);
  assert.equal(diff(planned([WEB], IPV4), new Map())[0], '+ table ip kube-proxy');
  known.set('table ip kube-proxy', { kind: 'table', family: 4, stale: true });
  assert.deepEqual(diff(planned([WEB], IPV4), known), ['~ table ip kube-proxy']);
});
