// Packets in the chains of a table of nftables: verdicts, registers, look-ups, random numbers, and what is not understood.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tableOf } from '../../../../../src/command/explain/nftables/table.js';
import { walkChain } from '../../../../../src/command/explain/nftables/walk.js';
import type { Packet } from '../../../../../src/command/explain/packet/packet.js';
import type { Branch } from '../../../../../src/command/explain/packet/walk.js';
import type {
  Chain,
  Element,
  Expression,
  NftSet,
  Rule,
  Verdict,
} from '../../../../../src/kernel/nftables/types.js';
import { bytesOf } from '../../../../../src/kernel/nftables/values/values.js';

const PACKET: Packet = {
  ...{
    family: 4,
    protocol: 'tcp',
    source: '192.0.2.1',
    destination: '10.96.0.1',
    sourcePort: 50_000,
    port: 80,
  },
  ...{ mark: 0, state: 'NEW', fromBridgePort: false },
};

const IN_TABLE = { family: 'ip', table: 'kube-proxy' } as const;

type Rules = readonly (readonly Expression[])[];

/** A table whose rules are texts of their numbers: `services 0`. */
function tableWith(
  chains: Readonly<Record<string, Rules>>,
  sets: readonly (readonly [
    set: Partial<NftSet> & Pick<NftSet, 'name' | 'key'>,
    elements: readonly Element[],
  ])[] = [],
  policy: 'accept' | 'drop' = 'accept',
) {
  const base = { type: 'filter', hook: 'prerouting', priority: 0, policy } as const;
  const names = Object.keys(chains);
  return tableOf(
    names.map((name, i): Chain => ({ ...IN_TABLE, name, use: 0, handle: 0n, ...(i === 0 && { base }) })),
    names.flatMap((chain) =>
      (chains[chain] ?? []).map(
        (expressions, i): Rule => ({ ...IN_TABLE, chain, handle: BigInt(i), expressions }),
      ),
    ),
    sets.map(([set, elements]) => ({
      set: { ...IN_TABLE, flags: [], keyLength: 4, handle: 0n, ...set },
      elements,
    })),
    ({ chain, handle }) => `${chain} ${handle}`,
  );
}

const verdict = (value: Verdict): Expression => ({ kind: 'verdict', verdict: value });
const DROP = verdict({ verdict: 'drop' });
const jump = (chain: string) => verdict({ verdict: 'jump', chain });
const go = (chain: string) => verdict({ verdict: 'goto', chain });
const destination: Expression = { kind: 'payload', base: 'network', offset: 16, length: 4, register: 1 };
const is = (address: string): Expression => ({
  ...{ kind: 'cmp', operator: 'eq', source: 1, data: bytesOf('ipv4_addr', address) },
});

const walk = (table: ReturnType<typeof tableWith>, packet = PACKET) =>
  walkChain(table, 'services', packet, { isLocal: (address) => address === '10.96.0.1' });

/** The decision, and the rules that matched. */
const stories = (branches: readonly Branch[]) =>
  branches.map(({ share, decision, matched }) => [
    share,
    decision.verdict,
    matched.map(({ rule, target }) => `${rule}: ${target}`).join(', '),
  ]);

describe('verdicts', () => {
  it('a jump comes back, a goto does not, and the policy decides at the end', () => {
    const table = tableWith({
      services: [[jump('a')], [go('b')], [DROP]],
      a: [[verdict({ verdict: 'return' })], [DROP]],
      b: [],
    });
    assert.deepEqual(stories(walk(table)), [[1, 'accept', 'services 0: a, a 0: RETURN']]);
    const dropping = tableWith({ services: [[jump('a')]], a: [[go('b')]], b: [] }, [], 'drop');
    assert.deepEqual(walk(dropping)[0]?.decision, { verdict: 'drop', at: 'kube-proxy/services' });
  });

  it('a rule decides only if all of its comparisons hold', () => {
    const table = tableWith({
      services: [
        [destination, is('10.96.0.2'), DROP],
        [destination, is('10.96.0.1'), { kind: 'reject', type: 'tcp reset' }],
      ],
    });
    assert.deepEqual(stories(walk(table)), [[1, 'reject', 'services 1: REJECT']]);
    assert.deepEqual(walk(table)[0]?.decision, {
      verdict: 'reject',
      at: 'kube-proxy/services',
      rule: 'services 1',
    });
  });

  it('a chain that does not exist accepts, and chains that call each other end', () => {
    assert.equal(walk(tableWith({ other: [[DROP]] }))[0]?.decision.verdict, 'accept');
    assert.equal(walk(tableWith({ services: [[jump('services')]] }))[0]?.decision.verdict, 'accept');
  });

  it('a rule with an expression that is not understood does not match, and is named', () => {
    const table = tableWith({ services: [[{ kind: 'unknown', name: 'xt', data: new Uint8Array() }, DROP]] });
    const [branch] = walk(table);
    assert.equal(branch?.decision.verdict, 'accept');
    assert.deepEqual(branch?.unknown, [{ at: 'kube-proxy/services', rule: 'services 0', part: 'unknown' }]);
  });
});

describe('look-ups', () => {
  const ADDRESSES = { name: 'addresses', key: 'ipv4_addr' } as const;
  const lookup = (more: object = {}) => [
    destination,
    { kind: 'lookup', set: 'addresses', source: 1, ...more } as Expression,
  ];

  it('single keys and intervals', () => {
    for (const [elements, found] of [
      [[{ key: '10.96.0.1' }], true],
      [[{ key: '10.96.0.2' }], false],
      [[{ key: '10.96.0.0', keyEnd: '10.111.255.255' }], true],
      [[{ key: '10.96.0.2', keyEnd: '10.111.255.255' }], false],
    ] as const) {
      const table = tableWith({ services: [[...lookup(), DROP]] }, [[ADDRESSES, elements]]);
      assert.equal(walk(table)[0]?.decision.verdict, found ? 'drop' : 'accept');
      const inverted = tableWith({ services: [[...lookup({ invert: true }), DROP]] }, [
        [ADDRESSES, elements],
      ]);
      assert.equal(walk(inverted)[0]?.decision.verdict, found ? 'accept' : 'drop');
    }
  });

  it('no set that packets fill has the first packet of a client', () => {
    const set = { ...ADDRESSES, flags: ['dynamic'] } as const;
    const table = tableWith({ services: [[...lookup(), DROP]] }, [[set, [{ key: '10.96.0.1' }]]]);
    assert.equal(walk(table)[0]?.decision.verdict, 'accept');
  });

  it('a verdict of a map leads to a chain', () => {
    const map = { ...ADDRESSES, data: 'verdict' } as const;
    const elements = [{ key: '10.96.0.1', data: { verdict: 'goto', chain: 'a' } }] as const;
    const table = tableWith({ services: [lookup({ register: 0 })], a: [[DROP]] }, [[map, elements]]);
    assert.deepEqual(stories(walk(table)), [[1, 'drop', 'services 0: a, a 0: DROP']]);
  });
});

describe('changes', () => {
  const dnat: Expression = { kind: 'nat', type: 'dnat', family: 'ip', address: 1, port: 9 };
  const numgen: Expression = { kind: 'numgen', type: 'random', modulus: 4, register: 1 };
  const map = { name: 'endpoints', key: 'integer', data: ['ipv4_addr', 'inet_service'] } as const;
  const endpoint = (key: number, last: number) => ({ key, data: [`10.244.0.${last}`, 8080] }) as const;

  it('each value of a random number makes a branch, and one without an element does not match', () => {
    const services = [
      [numgen, { kind: 'lookup', set: 'endpoints', source: 1, register: 1 } as Expression, dnat],
      [DROP],
    ];
    const table = tableWith({ services }, [[map, [endpoint(0, 1), endpoint(1, 2), endpoint(3, 2)]]]);
    assert.deepEqual(
      walk(table).map(({ share, decision, packet }) => [
        share,
        decision.verdict,
        packet.destination,
        packet.port,
      ]),
      [
        [0.25, 'accept', '10.244.0.1', 8080],
        [0.25, 'accept', '10.244.0.2', 8080],
        [0.25, 'drop', '10.96.0.1', 80],
        [0.25, 'accept', '10.244.0.2', 8080],
      ],
    );
    assert.ok(walk(table)[0]?.packet.translated);
  });

  it('marks are set bit by bit, and a rule that only sets one is a step', () => {
    const bits = (mask: number, xor: number): Expression => ({
      ...{ kind: 'bitwise', source: 1, register: 1 },
      ...{
        mask: new Uint8Array(Uint32Array.of(mask).buffer),
        xor: new Uint8Array(Uint32Array.of(xor).buffer),
      },
    });
    const rule: Expression[] = [
      { kind: 'meta', key: 'mark', register: 1 },
      bits(0xffff_bfff, 0x4000),
      { kind: 'metaSet', key: 'mark', source: 1 },
    ];
    const [branch] = walk(tableWith({ services: [rule, [{ kind: 'masq' }]] }), { ...PACKET, mark: 1 });
    assert.equal(branch?.packet.mark, 0x4001);
    assert.equal(branch?.source, 'link');
    assert.deepEqual(stories(branch ? [branch] : []), [
      [1, 'accept', 'services 0: MARK, services 1: MASQUERADE'],
    ]);
  });

  it('knows the local addresses', () => {
    const fib: Expression = { kind: 'fib', result: 'type', flags: ['daddr'], register: 1 };
    const local: Expression = {
      kind: 'cmp',
      operator: 'eq',
      source: 1,
      data: new Uint8Array(Uint32Array.of(2).buffer),
    };
    const table = tableWith({ services: [[fib, local, DROP]] });
    assert.equal(walk(table)[0]?.decision.verdict, 'drop');
    assert.equal(walk(table, { ...PACKET, destination: '10.96.0.9' })[0]?.decision.verdict, 'accept');
  });
});
