// Texts of ipset, ipvsadm and nft in time slices: the same as at once, however they are divided into pieces.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatSets,
  formatSetsAsync,
  parseSets,
  parseSetsAsync,
} from '../../../../src/kernel/ipset/index.js';
import {
  formatRules,
  formatRulesAsync,
  parseRules,
  parseRulesAsync,
  RulesError,
  type ServiceWithServers,
} from '../../../../src/kernel/ipvs/index.js';
import {
  formatRuleset,
  formatRulesetAsync,
  type Ruleset,
} from '../../../../src/kernel/nftables/text/index.js';
import { rulesetLines } from '../../../../src/kernel/nftables/text/ruleset.js';

const SETS = `create a hash:ip family inet hashsize 1024 maxelem 65536 comment

add a 10.0.0.1 comment "été 1"
add a 10.0.0.2  timeout
# a comment
add a fd00::1
flush a`;
const RULES = `-A -t 10.0.0.1:80 -s rr
-a -t 10.0.0.1:80 -r 10.0.0.2:80 -m -w 1

-a -t 10.0.0.1:80 -r 10.0.0.3:80 -g -w 2
`;
/** More characters than a piece of output has. */
const MANY = 5000;

async function* piecesOf(text: string, size: number, bytes: boolean): AsyncGenerator<string | Uint8Array> {
  const whole = bytes ? Buffer.from(text) : text;
  for (let start = 0; start < whole.length; start += size) {
    yield typeof whole === 'string' ? whole.slice(start, start + size) : whole.subarray(start, start + size);
  }
}

/** The text as a whole, in characters and in bytes of several sizes. */
function* inputs(text: string) {
  yield text;
  for (const size of [1, 2, 7, 1000]) {
    for (const bytes of [false, true]) yield piecesOf(text, size, bytes);
  }
}

async function joined(pieces: AsyncIterable<string>): Promise<{ text: string; count: number }> {
  let text = '';
  let count = 0;
  for await (const piece of pieces) {
    assert.ok(piece.endsWith('\n'), 'a piece has whole lines');
    text += piece;
    count++;
  }
  return { text, count };
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

describe('a text in time slices', () => {
  it('of ipset is read as at once', async () => {
    const expected = parseSets(SETS);
    assert.deepEqual([expected.operations.length, expected.problems.length], [3, 2]);
    for (const input of inputs(SETS)) assert.deepEqual(await parseSetsAsync(input), expected);
    const strict = { sets: [{ name: 'b', type: 'hash:ip', family: 4 }], strict: true } as const;
    assert.deepEqual(await parseSetsAsync('add b 10.0.0.1', strict), parseSets('add b 10.0.0.1', strict));
    assert.deepEqual(await parseSetsAsync(''), parseSets(''));
  });

  it('of ipvsadm is read as at once', async () => {
    const expected = parseRules(RULES);
    assert.equal(expected.length, 3);
    for (const input of inputs(RULES)) assert.deepEqual(await parseRulesAsync(input), expected);
    await assert.rejects(
      parseRulesAsync(piecesOf(`${RULES}-Q`, 5, false)),
      (error) => error instanceof RulesError && error.problems[0]?.line === 5,
    );
  });

  it('of ipset is written as at once, from lists and from listings', async () => {
    const set = { name: 'a', type: 'hash:ip', family: 4, comment: true } as const;
    const entries = Array.from({ length: MANY }, (_, i) => ({
      address: `10.0.${i >> 8}.${i & 255}`,
      comment: `number ${i}`,
    }));
    const expected = formatSets([
      { set, entries },
      { set, entries: [] },
    ]);
    const lists = await joined(
      formatSetsAsync([
        { set, entries },
        { set, entries: [] },
      ]),
    );
    assert.ok(lists.text === expected);
    assert.ok(lists.count > 1, `${lists.count} pieces`);
    const listings = each([
      { set, entries: each(entries) },
      { set, entries: each([]) },
    ]);
    assert.ok((await joined(formatSetsAsync(listings))).text === expected);
  });

  it('of ipvsadm is written as at once, from lists and from listings', async () => {
    const service = serviceWith(MANY);
    const expected = formatRules([service]);
    const { text, count } = await joined(formatRulesAsync([service]));
    assert.ok(text === expected && count > 1);
    assert.ok((await joined(formatRulesAsync(each([service])))).text === expected);
  });

  it('of nft is written as at once', async () => {
    const ruleset = rulesetWith(MANY);
    const expected = formatRuleset(ruleset);
    const { text, count } = await joined(formatRulesetAsync(ruleset));
    assert.ok(text === expected);
    assert.ok(count > 1, `${count} pieces`);
    assert.equal((await joined(formatRulesetAsync({ ...ruleset, tables: [] }))).text, '');
  });

  it('of nft is refused before its first piece', async () => {
    const { sets, ...ruleset } = rulesetWith(MANY);
    const [first] = sets;
    assert.ok(first);
    const elements = [...first.elements, { key: '10.0.0' }];
    await assert.rejects(formatRulesetAsync({ ...ruleset, sets: [{ ...first, elements }] }).next(), {
      name: 'RangeError',
      message: new RegExp(`^nftables\\.formatRulesetAsync: .*sets\\[0\\]\\.elements\\[${MANY}\\]\\.key`),
    });
  });

  it('of nft has no long step for the elements of one set, named or of a rule', () => {
    const { sets, rules, ...ruleset } = rulesetWith(MANY);
    const steps = (some: Pick<Ruleset, 'sets' | 'rules'>) => {
      let count = 0;
      for (const line of rulesetLines({ ...ruleset, ...some })) if (line === undefined) count++;
      return count;
    };
    const least = MANY / 64 - 1;
    for (const content of sets.slice(0, 1)) assert.ok(steps({ sets: [content], rules: [] }) > least);
    // A rule whose set has a name, and one that has the set itself.
    for (const rule of rules.slice(0, 2)) assert.ok(steps({ sets, rules: [rule] }) > 2 * least);
  });

  it('ends with an aborted signal, and refuses what is none', async () => {
    const reason = new Error('no longer needed');
    const text = 'flush a\n'.repeat(200_000);
    for (const parse of [parseSetsAsync, parseRulesAsync]) {
      await assert.rejects(parse(text, { signal: AbortSignal.abort(reason) }), reason);
      await assert.rejects(parse(text, { signal: 'soon' as never }), {
        name: 'TypeError',
        message: /signal must be an AbortSignal/,
      });
      const controller = new AbortController();
      setImmediate(() => controller.abort(reason));
      await assert.rejects(parse(text, { signal: controller.signal }), reason);
    }
  });
});

/** A virtual service with so many real servers, as they are listed. */
function serviceWith(count: number): ServiceWithServers {
  const realServers = Array.from({ length: count }, (_, i) => ({
    ...{ address: `10.0.${i >> 8}.${i & 255}`, port: 80, weight: 1, forwarding: 'masquerade' as const },
    ...{ upperThreshold: 0, lowerThreshold: 0 },
  }));
  return {
    ...{ address: '10.96.0.10', port: 80, protocol: 'tcp', scheduler: 'rr', schedulerFlags: [] },
    ...{ onePacket: false, realServers },
  };
}

/** A ruleset with so many chains, rules and elements of a named set, and two rules with as many elements of sets of their own. */
function rulesetWith(count: number): Ruleset {
  const table = { family: 'ip', table: 't' } as const;
  const elements = Array.from({ length: count }, (_, i) => ({ key: `10.0.${(i * 7) & 255}.${i >> 8}` }));
  const chains = Array.from({ length: count }, (_, i) => ({ ...table, name: `c${i}`, handle: 1n, use: 0 }));
  const key = 'ipv4_addr';
  const listed = { flags: [], keyLength: 4, handle: 1n } as const;
  const ruleWith = (set: string | { readonly key: 'ipv4_addr'; readonly elements: typeof elements }) =>
    ({
      ...{ ...table, chain: 'c0', handle: 1n },
      expressions: [
        { kind: 'payload', base: 'network', offset: 16, length: 4, register: 1 },
        { kind: 'lookup', set, source: 1 },
        { kind: 'verdict', verdict: { verdict: 'drop' } },
      ],
    }) as const;
  return {
    tables: [{ family: 'ip', name: 't', flags: [], handle: 1n, use: 0 }],
    chains,
    rules: [
      ruleWith('__set0'),
      ruleWith({ key, elements }),
      ...chains.map(({ name }) => ({ ...ruleWith('named'), chain: name })),
    ],
    sets: [
      { set: { ...table, ...listed, name: 'named', key }, elements },
      { set: { ...table, ...listed, name: '__set0', key, anonymous: true }, elements },
    ],
    objects: [],
  };
}
