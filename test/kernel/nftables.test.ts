// nftables on the kernel, judged by nft: what it lists of ours and loads back, and what we list of its.
// Needs: nftables
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Nftables, type NftablesOperation, openNftables } from '../../src/kernel/nftables/index.js';
import { chain, counted, MAP, T, table } from '../support/contract/nftablesRuleset.js';
import { AS_NOBODY } from '../support/namespaces/asNobody.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { complete, inOrder, LISTED, NAT } from '../support/nftables/listed.js';

let namespace: Namespace;
let nftables: Nftables;

const nft = (...args: readonly string[]) => namespace.run('nft', ...args);
const load = (text: string) =>
  execFileSync('ip', ['netns', 'exec', namespace.name, 'nft', '-f', '-'], { input: text, encoding: 'utf8' });
const done = async (operations: readonly NftablesOperation[]) => {
  const results = await nftables.apply(operations);
  assert.deepEqual(
    results.flatMap((result) => result?.message ?? []),
    [],
  );
};

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => nft('flush', 'ruleset'));

describe('nftables and nft', () => {
  it('nft lists what we wrote, and loads its listing back', async () => {
    await done(complete);
    const listed = nft('list', 'ruleset');
    assert.deepEqual(inOrder(listed), inOrder(LISTED));
    load(`flush ruleset\n${listed}`);
    assert.deepEqual(inOrder(nft('list', 'ruleset')), inOrder(LISTED));
  });

  it('we list what nft wrote', async () => {
    load(LISTED);
    const rules = await nftables.listRules({ ...T }).toArray();
    assert.deepEqual(
      rules.map(({ chain, comment }) => [chain, comment]),
      [
        ['input', 'a rule'],
        ['nat', undefined],
        ['web', undefined],
      ],
    );
    const [last] = rules.slice(-1);
    assert.deepEqual(last?.expressions.at(-1), NAT);
    const elements = await nftables.listElements(MAP).toArray();
    assert.deepEqual(elements.map(({ key }) => String(key)).sort(), ['10.0.0.1,tcp,80', '10.0.0.2,udp,53']);
    const sets = await nftables.listSets({ ...T }).toArray();
    assert.deepEqual(sets.find(({ name }) => name === 'vips')?.key, MAP.key);
  });

  it('changes and deletes each object', async () => {
    await done(complete);
    const [rule] = await nftables.listRules({ ...T, chain: 'input' }).toArray();
    const handle = rule?.handle ?? assert.fail();
    await done([
      { do: 'replaceRule', rule: { ...T, chain: 'input', expressions: [{ kind: 'counter' }], handle } },
      {
        do: 'insertRule',
        rule: { ...T, chain: 'input', expressions: [{ kind: 'notrack' }], comment: 'first' },
      },
      { do: 'flushSet', set: { ...T, name: 'addresses' } },
      { do: 'deleteElements', set: MAP, elements: [{ key: ['10.0.0.2', 'udp', 53] }] },
      {
        do: 'addChain',
        chain: {
          ...T,
          name: 'input',
          base: { type: 'filter', hook: 'input', priority: -10, policy: 'drop' },
        },
      },
      { do: 'deleteSet', set: { ...T, name: 'networks' } },
      { do: 'flushChain', chain: { ...T, name: 'web' } },
      { do: 'deleteObject', object: { ...T, name: 'seen', type: 'counter' } },
      { do: 'addObject', object: { ...T, name: 'most', type: 'quota', bytes: 4096n, over: true } },
    ]);
    const listed = nft('list', 'ruleset');
    assert.match(listed, /policy drop;\n\t\tnotrack comment "first"\n\t\tcounter packets 0 bytes 0\n/);
    assert.match(listed, /set addresses \{\n\t\ttype ipv4_addr\n\t\tcomment "a set"\n\t\}/);
    assert.match(listed, /elements = \{ 10\.0\.0\.1 \. tcp \. 80 : goto web \}/);
    assert.match(listed, /quota most \{\n\t\tover 4 kbytes\n\t\}/);
    assert.match(listed, /chain web \{\n\t\tcomment "a chain"\n\t\}/);
    assert.doesNotMatch(listed, /networks|seen/);
    const [first] = await nftables.listRules({ ...T, chain: 'input' }).toArray();
    await done([
      { do: 'deleteRule', rule: { ...T, chain: 'input', handle: first?.handle ?? 0n } },
      { do: 'flushTable', table: { family: 'ip', name: 't' } },
      { do: 'deleteSet', set: { ...T, name: 'vips' } },
      { do: 'deleteChain', chain: { ...T, name: 'web' } },
    ]);
    assert.doesNotMatch(nft('list', 'ruleset'), /counter|vmap|vips|chain web/);
    await nftables.deleteTable({ family: 'ip', name: 't' });
    assert.equal(nft('list', 'ruleset'), '');
  });

  it('is based on a generation, which other programs change', async () => {
    await done([table]);
    const { id } = await nftables.generation();
    nft('add', 'chain', 'ip', 't', 'other');
    const [restarted] = await nftables.apply([chain('own')], { generation: id });
    assert.equal(restarted?.code, 'ERESTART');
    assert.match(restarted?.hint ?? '', /^another program has changed the ruleset/);
    assert.doesNotMatch(nft('list', 'ruleset'), /own/);
    assert.equal((await nftables.generation()).id, id + 1);
  });

  it('tells which program changed the ruleset', async () => {
    await done([table]);
    const events = nftables.watch()[Symbol.asyncIterator]();
    assert.equal((await events.next()).value?.kind, 'resync');
    nft('add', 'chain', 'ip', 't', 'other');
    const added = (await events.next()).value;
    assert.ok(added?.kind === 'chain' && added.chain.name === 'other');
    const committed = (await events.next()).value;
    assert.ok(committed?.kind === 'generation');
    assert.equal(committed.generation.program, 'nft');
    assert.ok(committed.generation.pid > 0);
    await events.return?.();
  });

  it('keeps its network namespace apart from others', async () => {
    const other = makeNamespace();
    try {
      await using others = await openNftables({ netns: other.path });
      await others.apply([table, chain('theirs')]);
      assert.deepEqual(await nftables.listTables().toArray(), []);
      assert.match(other.run('nft', 'list', 'ruleset'), /chain theirs/);
      assert.equal(nft('list', 'ruleset'), '');
    } finally {
      other.remove();
    }
  });

  it('opens no other files than network namespaces', async () => {
    await assert.rejects(openNftables({ netns: '/run/netns/none' }), {
      code: 'ENOENT',
      operation: 'nftables.open',
    });
    await assert.rejects(openNftables({ netns: '/dev/null' }), { code: 'EINVAL' });
  });

  it('fails as a whole without the privilege', () => {
    const text = `
      import { openNftables } from '${new URL('../../src/kernel/nftables/index.js', import.meta.url)}';
      const nftables = await openNftables();
      const chain = (name) => ({ do: 'addChain', chain: { family: 'ip', table: 't', name } });
      const results = await nftables.apply([chain('a'), chain('b')]);
      console.log(JSON.stringify(results.map(({ code, operation, target }) => [code, operation, target])));
      await nftables.close();`;
    const command = [...AS_NOBODY, process.execPath, '--input-type=module', '--eval', text];
    const lines = namespace.run(...command).trim();
    assert.deepEqual(JSON.parse(lines), [
      ['EPERM', 'nftables.addChain', 'chain ip t a'],
      ['EPERM', 'nftables.addChain', 'chain ip t b'],
    ]);
  });

  it('refuses what the kernel cannot do, and names it', async () => {
    await done([table, chain('c')]);
    const [result] = await nftables.apply([
      {
        do: 'addRule',
        rule: { ...T, chain: 'c', expressions: [{ kind: 'objref', type: 'counter', name: 'none' }] },
      },
    ]);
    assert.equal(result?.code, 'ENOENT');
    // A chain that nat rules are reached from must be of that type: the kernel finds out when the table is validated.
    await done([
      {
        do: 'addChain',
        chain: { ...T, name: 'input', base: { type: 'filter', hook: 'input', priority: 0 } },
      },
      { do: 'addRule', rule: { ...T, chain: 'c', expressions: [{ kind: 'masq' }] } },
    ]);
    const jump = { kind: 'verdict', verdict: { verdict: 'jump', chain: 'c' } } as const;
    const results = await nftables.apply([
      counted('c', 'before'),
      { do: 'addRule', rule: { ...T, chain: 'input', expressions: [jump] } },
    ]);
    assert.deepEqual(
      results.map((each) => each?.code),
      ['ERR_ROLLED_BACK', 'EOPNOTSUPP'],
    );
    assert.doesNotMatch(nft('list', 'ruleset'), /before/);
  });
});
