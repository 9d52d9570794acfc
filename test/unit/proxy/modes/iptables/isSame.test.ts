// Known items that desired ones may replace: those that have no other state in the kernel.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isSame } from '../../../../../src/proxy/modes/iptables/plan/compare.js';
import type {
  ChainItem,
  Item,
  RuleItem,
  SharedChainItem,
} from '../../../../../src/proxy/modes/iptables/plan/items.js';

const CHAIN: ChainItem = {
  kind: 'chain',
  family: 4,
  table: 'nat',
  name: 'KUBE-SEP-A',
  rules: ['-m comment --comment "demo/web" -j DNAT'],
};
const SHARED: SharedChainItem = {
  kind: 'sharedChain',
  family: 4,
  table: 'nat',
  name: 'KUBE-SERVICES',
  tail: ['-j KUBE-NODEPORTS'],
};
const RULE: RuleItem = { kind: 'rule', family: 4, table: 'nat', chain: 'KUBE-SERVICES', text: '-j A' };

const CASES: readonly (readonly [title: string, want: Item, have: Item, same: boolean])[] = [
  ['an equal chain', { ...CHAIN, service: 'demo/web' }, CHAIN, true],
  ['a chain without comments', { ...CHAIN, rules: ['-j DNAT'] }, CHAIN, false],
  ['a foreign chain', CHAIN, { ...CHAIN, foreign: true }, false],
  ['an equal shared chain', SHARED, SHARED, true],
  ['a tail that other rules follow', SHARED, { ...SHARED, strays: SHARED.tail }, false],
  ['a tail with another rule', SHARED, { ...SHARED, tail: [...SHARED.tail, '-j RETURN'] }, false],
  ['an equal rule', { ...RULE, service: 'demo/web' }, RULE, true],
  ['a rule that another one follows', RULE, { ...RULE, next: ['-j B'] }, false],
  ['equal rules that follow', { ...RULE, next: ['-j B'] }, { ...RULE, next: ['-j B'] }, true],
  ['other rules that follow', { ...RULE, next: ['-j B'] }, { ...RULE, next: ['-j A'] }, false],
];

for (const [title, want, have, same] of CASES) {
  it(`${title}: ${same}`, () => assert.equal(isSame(want, have), same));
}
