// Chains as the kernel reports them: those that equal a desired one are recognized, and need no rules in memory.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Expression } from '../../../../../src/kernel/nftables/expressions/types.js';
import { isSame } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import type { ChainItem } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import { readChain } from '../../../../../src/proxy/modes/nftables/plan/readChains.js';
import {
  BalancingChain,
  EndpointChain,
  ExternalChain,
} from '../../../../../src/proxy/modes/nftables/plan/serviceChains.js';
import type { Rule } from '../../../../../src/proxy/modes/nftablesRules/plan/expressions.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { sample, WHOLE } from '../../../../support/extent.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { desiredAt, itemsOf } from '../../../../support/oracle/plannedNftables.js';

/** A chain as it is read: without texts, its sets under other names and in another order. */
function asRead({ family, name, base, comment, rules }: ChainItem): ChainItem {
  return {
    kind: 'chain',
    family,
    name,
    ...(base && { base: { ...base, policy: 'accept' } }),
    ...(comment !== undefined && { comment }),
    rules: rules.map(({ expressions, comment: remark }) => ({
      expressions: structuredClone(expressions).map(withOtherSet),
      ...(remark !== undefined && { comment: remark }),
    })),
  };
}

function withOtherSet(expression: Expression): Expression {
  if (expression.kind !== 'lookup' || typeof expression.set === 'string') return expression;
  const { set } = expression;
  return {
    ...expression,
    invert: expression.invert ?? false,
    set: {
      ...set,
      flags: ['constant', ...(set.flags ?? [])],
      name: '__map3',
      elements: set.elements.toReversed(),
    },
  };
}

/** A chain with other rules. */
const withRules = (chain: ChainItem, rules: readonly Rule[]): ChainItem => ({ ...asRead(chain), rules });

it('every chain of every recording is the same again', async () => {
  const kinds = new Map<string, number>();
  for (const scenario of sample(scenarios('nftables'), 8)) {
    for (const step of scenario.steps) {
      for (const item of itemsOf(await desiredAt(scenario, step))) {
        if (item.kind !== 'chain') continue;
        const read = readChain(asRead(item));
        assert.ok(isSame(item, read), `${step}: ${item.name}`);
        if (item instanceof BalancingChain || item instanceof EndpointChain)
          assert.equal(read.constructor, item.constructor, item.name);
        if (item instanceof ExternalChain && !item.traffic.localPolicy)
          assert.ok(read instanceof ExternalChain, item.name);
        kinds.set(read.constructor.name, (kinds.get(read.constructor.name) ?? 0) + 1);
      }
    }
  }
  for (const kind of ['BalancingChain', 'EndpointChain', 'ExternalChain', 'Object'])
    assert.ok((kinds.get(kind) ?? 0) > (WHOLE ? 20 : 0), `${kind}: ${kinds.get(kind)}`);
});

const sticky = { sessionAffinity: 'ClientIP' };
const port = { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };

/** The chain of a Service whose name begins so. */
function chainOf(role: string, spec: object, ...endpoints: readonly string[]): ChainItem {
  const desired = planned([service('web', '10.96.0.1', spec), slice('web', ...endpoints)]);
  const chain = itemsOf(desired).find(
    (item) => item.kind === 'chain' && item.name.startsWith(`${role}-`) && item.name.includes('/'),
  );
  assert.ok(chain?.kind === 'chain');
  return chain;
}

/** Other rules of a chain → it is not the same, and its rules stay. */
const OTHERS: readonly (readonly [
  what: string,
  chain: ChainItem,
  rules: (rules: Rule[]) => readonly Rule[],
])[] = [
  ['no rule', chainOf('service', {}, '10.0.0.1'), () => []],
  ['a second rule', chainOf('service', {}, '10.0.0.1'), (rules) => [...rules, ...rules]],
  ['a comment', chainOf('service', {}, '10.0.0.1'), ([rule]) => [{ ...(rule as Rule), comment: 'mine' }]],
  [
    'another rule first',
    chainOf('service', {}, '10.0.0.1'),
    (rules) => [{ expressions: [{ kind: 'counter' }] }, ...rules],
  ],
  ['one slot fewer', chainOf('service', {}, '10.0.0.1', '10.0.0.2'), changed('numgen', { modulus: 1 })],
  ['numbers in a row', chainOf('service', {}, '10.0.0.1'), changed('numgen', { type: 'inc' })],
  ['an address for every port', chainOf('service', {}, '10.0.0.1'), changed('nat', { port: undefined })],
  [
    'the order of affinity',
    chainOf('service', sticky, '10.0.0.1', '10.0.0.2'),
    (rules) => rules.toReversed(),
  ],
  ['no affinity', chainOf('service', sticky, '10.0.0.1', '10.0.0.2'), (rules) => rules.slice(2)],
  ['another protocol', chainOf('endpoint', sticky, '10.0.0.1'), changed('cmp', { data: Uint8Array.of(17) })],
  ['a longer timeout', chainOf('endpoint', sticky, '10.0.0.1'), changed('dynset', { timeout: 1000n })],
  [
    'a longer address',
    chainOf('endpoint', sticky, '10.0.0.1'),
    changed('immediate', { data: new Uint8Array(16) }),
  ],
  [
    'a mark of another length',
    chainOf('external', port, '10.0.0.1'),
    changed('bitwise', { xor: new Uint8Array(16) }),
  ],
  [
    'another mark',
    chainOf('external', port, '10.0.0.1'),
    changed('bitwise', { xor: Uint8Array.of(1, 0, 0, 0) }),
  ],
  [
    'a jump',
    chainOf('external', port, '10.0.0.1'),
    changed('verdict', { verdict: { verdict: 'jump', chain: 'services' } }),
  ],
  [
    'a verdict without a chain',
    chainOf('external', port, '10.0.0.1'),
    changed('verdict', { verdict: { verdict: 'drop' } }),
  ],
];

/** The rules with other fields of the expressions of a kind. */
function changed(kind: Expression['kind'], fields: object) {
  return (rules: readonly Rule[]): Rule[] =>
    rules.map((rule) => ({
      ...rule,
      expressions: rule.expressions.map((each) =>
        each.kind === kind ? ({ ...each, ...fields } as Expression) : each,
      ),
    }));
}

for (const [what, chain, change] of OTHERS)
  it(`${what}: ${chain.name}`, () => {
    const rules = change([...asRead(chain).rules]);
    const read = readChain(withRules(chain, rules));
    assert.ok(!isSame(chain, read));
  });

it('elements of other forms, and names that no Service has, are read without an error', () => {
  const chain = chainOf('service', {}, '10.0.0.1');
  const [rule] = chain.rules;
  const elements = (some: readonly unknown[]) =>
    (rule as Rule).expressions.map((each) =>
      each.kind === 'lookup'
        ? ({ ...each, set: { ...(each.set as object), elements: some } } as Expression)
        : each,
    );
  for (const some of [
    [],
    [{ key: 0 }],
    [{ key: 0, data: 7 }],
    [{ key: 0, data: ['x', 99999] }],
    [{ key: 0, data: new Uint8Array(8) }],
  ])
    assert.ok(!isSame(chain, readChain(withRules(chain, [{ expressions: elements(some) }]))));
  for (const name of ['constructor-/', 'service-', 'service-/', '__proto__-/x', '/', 'endpoint-X/'])
    assert.equal(readChain({ kind: 'chain', family: 4, name, rules: [] }).name, name);
  const verdicts = chainOf('service', sticky, '10.0.0.1');
  for (const name of ['service-AAAAAAAA-a', 'service-AAAAAAAA-a/b/icmp/', 'local-AAAAAAAA-a/b/tcp/'])
    assert.equal(readChain({ ...asRead(verdicts), name }).constructor, Object);
});
