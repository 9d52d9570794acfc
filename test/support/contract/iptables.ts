// The contract of iptables: the behaviour that both backends of the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Chain, ChainRule, Iptables, IptablesOperation } from '../../../src/kernel/iptables/types.js';

const JUMP = '-p tcp -m tcp --dport 80 -j KNP-B';
const OTHER = '-p udp -m udp --dport 53 -j RETURN';

/** An operation that makes these the rules of a chain. */
export function setChain(name: string, ...rules: string[]): IptablesOperation {
  return { do: 'setChain', chain: chain(name, ...rules) };
}

function chain(name: string, ...rules: string[]): Chain {
  return { family: 4, table: 'nat', name, rules };
}

function rule(text: string, name = 'KNP-A'): ChainRule {
  return { family: 4, table: 'nat', chain: name, text };
}

/** The codes of results; `ok` for undefined. */
export function codesOf(results: Awaited<ReturnType<Iptables['restore']>>): string[] {
  return results.map((result) => result?.code ?? 'ok');
}

/** Registers the tests. `open` opens iptables in a network namespace without rules. */
export function iptablesContract(open: () => Promise<Iptables>): void {
  it('makes all changes of a restore, in the order of their kinds', async () => {
    const iptables = await open();
    assert.deepEqual(codesOf(await iptables.restore(4, [setChain('KNP-A', OTHER), setChain('KNP-B')])), [
      'ok',
      'ok',
    ]);
    const changes: IptablesOperation[] = [
      { do: 'deleteChain', chain: chain('KNP-B') },
      { do: 'deleteRule', rule: rule(OTHER) },
      { do: 'insertRule', rule: rule('-j RETURN') },
      { do: 'insertRule', rule: rule('-p tcp -j ACCEPT') },
      { do: 'appendRule', rule: rule('-p tcp -j RETURN') },
      setChain('KNP-C', '-j KNP-A', '-j RETURN'),
    ];
    assert.deepEqual(
      codesOf(await iptables.restore(4, changes)),
      changes.map(() => 'ok'),
    );
    const rules = await iptables.save(4);
    assert.deepEqual(rules.get('nat/KNP-A'), ['-p tcp -j ACCEPT', '-j RETURN', '-p tcp -j RETURN']);
    assert.deepEqual(rules.get('nat/KNP-C'), ['-j KNP-A', '-j RETURN']);
    assert.equal(rules.has('nat/KNP-B'), false);
    assert.equal((await iptables.save(6)).has('nat/KNP-A'), false);
  });

  it('replaces rules: each first one with its text is deleted, and the others are at the head in their order', async () => {
    const iptables = await open();
    await iptables.restore(4, [setChain('KNP-B'), setChain('KNP-A', OTHER, JUMP, '-j RETURN', OTHER)]);
    const place = { family: 4, table: 'nat', chain: 'KNP-A' } as const;
    const rules = { ...place, before: [OTHER, JUMP], after: [JUMP, '-p tcp -j ACCEPT', OTHER] };
    assert.deepEqual(codesOf(await iptables.restore(4, [{ do: 'replaceRules', rules }])), ['ok']);
    const replaced = [JUMP, '-p tcp -j ACCEPT', OTHER, '-j RETURN', OTHER];
    assert.deepEqual((await iptables.save(4)).get('nat/KNP-A'), replaced);
    const missing = { ...place, before: [OTHER, '-j DROP'], after: ['-j ACCEPT'] };
    const [refused] = await iptables.restore(4, [{ do: 'replaceRules', rules: missing }]);
    assert.equal(refused?.code, 'ERR_PROCESS');
    assert.ok(refused.target?.includes('-D KNP-A -j DROP'), refused.message);
    assert.deepEqual((await iptables.save(4)).get('nat/KNP-A'), replaced);
  });

  it('lists the rules of one chain as it saves them', async () => {
    const iptables = await open();
    await iptables.restore(4, [setChain('KNP-A', '-m comment --comment "two words" -j RETURN', OTHER)]);
    const saved = (await iptables.save(4)).get('nat/KNP-A');
    assert.equal(saved?.length, 2);
    assert.deepEqual(await iptables.listRules(4, 'nat', 'KNP-A'), saved);
    assert.deepEqual(await iptables.listRules(4, 'nat', 'PREROUTING'), []);
    assert.deepEqual(await iptables.listRules(6, 'filter', 'FORWARD'), []);
    await assert.rejects(iptables.listRules(4, 'nat', 'KNP-B'), {
      code: 'ERR_PROCESS',
      operation: 'iptables.listRules',
      target: 'nat/KNP-B',
    });
  });

  it('does nothing for no changes', async () => {
    assert.deepEqual(await (await open()).restore(6, []), []);
  });

  it('makes changes of one family one after another, and keeps the families apart', async () => {
    const iptables = await open();
    const name = (i: number) => `KNP-${i}`;
    const results = await Promise.all([
      ...Array.from({ length: 20 }, (_, i) =>
        iptables.restore(4, [setChain(name(i), ...(i === 0 ? [] : [`-j ${name(i - 1)}`]))]),
      ),
      iptables.restore(6, [{ do: 'setChain', chain: { ...chain('KNP-6', '-j RETURN'), family: 6 } }]),
    ]);
    assert.ok(results.every(([error]) => error === undefined));
    assert.deepEqual((await iptables.save(4)).get('nat/KNP-19'), ['-j KNP-18']);
    assert.deepEqual((await iptables.save(6)).get('nat/KNP-6'), ['-j RETURN']);
  });

  type Culprit = Exclude<IptablesOperation, { do: 'replaceRules' }>;
  const culprits: readonly [title: string, operation: Culprit, text: string][] = [
    [
      'the deletion of a rule that is missing',
      { do: 'deleteRule', rule: rule('-j DROP') },
      '-D KNP-A -j DROP',
    ],
    [
      'a rule for a chain that is missing',
      { do: 'appendRule', rule: rule('-j RETURN', 'KNP-N') },
      '-A KNP-N',
    ],
    ['the deletion of a chain with jumps to it', { do: 'deleteChain', chain: chain('KNP-B') }, 'KNP-B'],
  ];
  for (const [title, culprit, text] of culprits) {
    it(`names ${title}, and rolls back its table only`, async () => {
      const iptables = await open();
      await iptables.restore(4, [setChain('KNP-A', JUMP), setChain('KNP-B')]);
      const mangled = { ...chain('KNP-M'), table: 'mangle' } as const;
      const filtered = { ...chain('KNP-F', '-j RETURN'), table: 'filter' } as const;
      const inFilter =
        'rule' in culprit
          ? { ...culprit, rule: { ...culprit.rule, table: 'filter' as const } }
          : { ...culprit, chain: { ...culprit.chain, table: 'filter' as const } };
      await iptables.restore(4, [
        { do: 'setChain', chain: { ...chain('KNP-A', JUMP), table: 'filter' } },
        { do: 'setChain', chain: { ...chain('KNP-B'), table: 'filter' } },
      ]);
      const results = await iptables.restore(4, [
        { do: 'setChain', chain: mangled },
        { do: 'setChain', chain: filtered },
        inFilter as IptablesOperation,
        setChain('KNP-D', '-j RETURN'),
      ]);
      assert.deepEqual(codesOf(results), ['ERR_ROLLED_BACK', 'ERR_ROLLED_BACK', 'ERR_PROCESS', 'ok']);
      assert.ok(results[2]?.target?.includes(text), results[2]?.message);
      const rules = await iptables.save(4);
      assert.deepEqual(rules.get('nat/KNP-D'), ['-j RETURN']);
      assert.equal(rules.has('filter/KNP-F'), false);
      assert.deepEqual(rules.get('filter/KNP-A'), [JUMP]);
      // The next change is made as if there had been no other.
      assert.deepEqual(codesOf(await iptables.restore(4, [{ do: 'setChain', chain: filtered }])), ['ok']);
    });
  }

  it('sends nothing if a text is not one rule, and the others can be sent again', async () => {
    const iptables = await open();
    const good = setChain('KNP-A', '-m comment --comment "a \\"quoted\\" \\\\ word" -j RETURN');
    const hostile = [
      setChain('KNP-B', '-j RETURN\n-P FORWARD DROP'),
      setChain('KNP-C', '-m comment --comment "open'),
      setChain('KNP-D KNP-E'),
    ];
    const results = await iptables.restore(4, [good, ...hostile]);
    const refused = hostile.map(() => 'ERR_INVALID_ARGUMENT');
    assert.deepEqual(codesOf(results), ['ERR_ROLLED_BACK', ...refused]);
    assert.match(String(results[1]?.message), /nat\/KNP-B: .*\\u000a-P FORWARD DROP.* is not one rule/);
    const before = await iptables.saveTables(4);
    assert.ok(![...before.rules.keys()].some((id) => id.startsWith('nat/KNP-')));
    assert.notEqual(before.policies.get('filter/FORWARD'), 'DROP');
    assert.deepEqual(codesOf(await iptables.restore(4, [good])), ['ok']);
    const rules = good.do === 'setChain' ? good.chain.rules : [];
    assert.deepEqual((await iptables.save(4)).get('nat/KNP-A'), rules);
  });

  it('reads the longest line that is written as one', async () => {
    const iptables = await open();
    const name = 'KNP-'.padEnd(28, 'A');
    const rule = (bytes: number) => `-p tcp${' '.repeat(bytes - '-p tcp-j RETURN'.length)}-j RETURN`;
    assert.deepEqual(codesOf(await iptables.restore(4, [setChain(name, rule(10_207))])), [
      'ERR_INVALID_ARGUMENT',
    ]);
    assert.deepEqual(codesOf(await iptables.restore(4, [setChain(name, rule(10_206))])), ['ok']);
    const saved = (await iptables.save(4)).get(`nat/${name}`);
    assert.deepEqual(
      saved?.map((text) => text.replace(/ {2,}/, ' ')),
      ['-p tcp -j RETURN'],
    );
  });

  it('a jump to a chain that is missing fails its table', async () => {
    const iptables = await open();
    const results = await iptables.restore(4, [setChain('KNP-A', '-j KNP-NONE'), setChain('KNP-D')]);
    assert.ok(results[0] !== undefined && results[1] !== undefined);
    assert.ok(codesOf(results).includes('ERR_PROCESS'));
    assert.equal((await iptables.save(4)).has('nat/KNP-D'), false);
  });
}
