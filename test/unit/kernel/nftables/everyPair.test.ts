// Every two statements of rules, one behind the other: their text is read as the same statements, or refused. A condition that one of them
// says, and that the other needs, is neither lost nor added.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OperationEncoder } from '../../../../src/kernel/nftables/encode/operations.js';
import type { Expression, NewRule, NftablesOperation } from '../../../../src/kernel/nftables/index.js';
import { formatRuleset, parseRuleset, RulesetError } from '../../../../src/kernel/nftables/text/index.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';
import { sample } from '../../../support/extent.js';
import { RULES_BY_KIND } from '../../../support/nftables/everyRule.js';
import { RULE_LINES, SETS } from '../../../support/nftables/ruleLines.js';
import { rulesetOf } from '../../../support/nftables/rulesetOf.js';

type Family = keyof typeof RULE_LINES;
type Statement = readonly Expression[];

const LINKS = new Map([[1, 'lo']]);
const MAPS = `	map seen {
		type ipv4_addr : mark
		flags dynamic
	}

	map wide {
		type ipv6_addr . ipv6_addr : mark
		flags dynamic
	}

`;
/** Lines whose statements are beside those of {@link RULE_LINES}. */
const MORE: readonly string[] = [
  'icmp id 5',
  'icmp mtu 1280',
  'icmp gateway 5',
  'icmpv6 mtu 1280',
  'icmpv6 daddr fd00::1',
  'icmp type redirect',
  'icmpv6 id != 7',
  'icmpv6 type { echo-request, echo-reply } drop',
  'iifname { "eth0", "dummy\\*" }',
  'tcp flags { fin, syn | ack }',
  'update @seen { ip saddr : 5 }',
  'update @wide { ip6 saddr . ip6 daddr : 5 }',
  'update @seen { ip saddr timeout 5s : jhash ip daddr . tcp sport mod 7 seed 0x0 }',
  'meta mark set (meta mark << 8 & 0x0000ff00) >> 4',
  'meta mark & 0x000000ff 1-5',
  'meta mark ^ 0x00000001 == 0x00000011',
  'ip protocol { tcp, udp }',
  'meta iiftype ether ether saddr 00:11:22:33:44:55',
];

const head = (family: Family, rules: readonly string[]) => {
  const sets = family === 'inet' ? MAPS + SETS : '';
  const body = rules.map((rule) => `\t\t${rule}\n`).join('');
  return `table ${family} t {\n${sets}\tchain other {\n\t}\n\n\tchain c {\n${body}\t}\n}\n`;
};

const rulesIn = (operations: readonly NftablesOperation[]) =>
  operations.flatMap((each) => (each.do === 'addRule' ? [each.rule] : []));

/** Kinds that load registers, and end no statement. */
const LOADS = new Set<Expression['kind']>([
  ...([
    'payload',
    'meta',
    'ct',
    'bitwise',
    'byteorder',
    'shift',
    'immediate',
    'numgen',
    'hash',
    'fib',
  ] as const),
  ...(['rt', 'socket', 'exthdr'] as const),
]);

function statementsOf(expressions: readonly Expression[]): Statement[] {
  const statements: Expression[][] = [];
  let current: Expression[] = [];
  for (const [i, expression] of expressions.entries()) {
    current.push(expression);
    const isMap = expression.kind === 'lookup' && !!expression.register;
    const next = expressions[i + 1];
    const isFirstBound = expression.kind === 'cmp' && expression.operator === 'gte' && next?.kind === 'cmp';
    if (LOADS.has(expression.kind) || isMap || isFirstBound) continue;
    statements.push(current);
    current = [];
  }
  return statements;
}

/** The messages of one statement, as text. */
function messageOf(family: Family, expressions: Statement): string {
  const writer = new ByteWriter();
  const rule: NewRule = { family, table: 't', chain: 'c', expressions };
  assert.equal(new OperationEncoder(writer).write({ do: 'addRule', rule }), undefined);
  return Buffer.from(writer.written()).toString('hex');
}

const CONDITIONS = new Set<Expression['kind'] | undefined>(['cmp', 'range', 'lookup']);
function isCondition(statement: Statement): boolean {
  const last = statement.at(-1);
  return CONDITIONS.has(last?.kind) && !(last?.kind === 'lookup' && last.register === 0);
}

/** What expressions do: of conditions with nothing between them, the order means nothing. */
function meaningOf(family: Family, expressions: Statement): string[] {
  const meaning: string[] = [];
  let conditions: string[] = [];
  for (const statement of statementsOf(expressions)) {
    const message = messageOf(family, statement);
    if (isCondition(statement)) conditions.push(message);
    else {
      meaning.push(...conditions.sort(), message);
      conditions = [];
    }
  }
  return [...meaning, ...conditions.sort()];
}

/** Statements behind another. A set of a rule has no other user. */
const joined = (...statements: readonly Statement[]): Statement =>
  statements.flatMap((each) => structuredClone(each));

/** The lines of rules, printed at once. */
function linesOf(family: Family, rules: readonly Statement[]): string[] {
  const operations = rules.map((expressions): NftablesOperation => {
    return { do: 'addRule', rule: { family, table: 't', chain: 'c', expressions } };
  });
  const text = formatRuleset({
    ...rulesetOf([...parseRuleset(head(family, [])), ...operations]),
    links: LINKS,
  });
  const [, lines = ''] = /chain c \{\n(.*?)\t\}\n\}\n$/s.exec(text) ?? [];
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => line.slice(2));
}

/** The rules of lines; undefined of those that are refused. */
function readAgain(family: Family, lines: readonly string[]): (NewRule | undefined)[] {
  const refused = new Set<number>();
  const first = head(family, []).split('\n').length - 2;
  try {
    parseRuleset(head(family, lines), { links: LINKS });
  } catch (error) {
    assert.ok(error instanceof RulesetError);
    for (const { line } of error.problems) refused.add(line - first);
  }
  const accepted = lines.filter((_, i) => !refused.has(i));
  const read = rulesIn(parseRuleset(head(family, accepted), { links: LINKS })).values();
  return lines.map((_, i) => (refused.has(i) ? undefined : read.next().value));
}

/** Prints and reads rules. Returns the number of those that are refused. */
function check(family: Family, rules: readonly Statement[]): number {
  const lines = linesOf(family, rules);
  assert.equal(lines.length, rules.length);
  let refused = 0;
  for (const [i, read] of readAgain(family, lines).entries()) {
    if (!read) refused++;
    else
      assert.deepEqual(
        meaningOf(family, read.expressions),
        meaningOf(family, rules[i] as Statement),
        lines[i],
      );
  }
  return refused;
}

/** All statements of a family, each once. */
function everyStatement(family: Family): Statement[] {
  const lines = [...RULE_LINES[family], ...(family === 'inet' ? MORE : [])];
  const rules = rulesIn(parseRuleset(head(family, lines), { links: LINKS })).map(
    ({ expressions }) => expressions,
  );
  const others = family === 'inet' ? Object.values(RULES_BY_KIND).flat() : [];
  const more = others.flatMap(({ family: of = 'inet', expressions }) => (of === family ? [expressions] : []));
  const all = [...rules, ...more].flatMap(statementsOf);
  return [...new Map(all.map((each) => [messageOf(family, each), each])).values()];
}

/** What is between a condition and what needs it. */
const BETWEEN: readonly Statement[] = [
  [{ kind: 'counter', packets: 0n, bytes: 0n }],
  [
    { kind: 'immediate', register: 1, data: Uint8Array.of(1, 1, 1, 1) },
    { kind: 'metaSet', key: 'mark', source: 1 },
  ],
];

/** The statements that say what the packet is: others are not between such and what needs them. */
const isOfPacket = (statement: Statement) =>
  isCondition(statement) &&
  statement[0]?.kind === 'meta' &&
  ['nfproto', 'l4proto', 'protocol', 'iiftype'].includes(String(statement[0].key));

for (const family of Object.keys(RULE_LINES) as Family[])
  describe(family, () => {
    const all = everyStatement(family);
    let [read, count] = [0, 0];
    for (const first of sample(all, 20)) {
      const [line = ''] = linesOf(family, [first]);
      it(line, () => {
        const pairs = all.map((second) => joined(first, second));
        read += pairs.length - check(family, pairs);
        count += pairs.length;
        if (!isOfPacket(first)) return;
        for (const between of BETWEEN)
          check(
            family,
            all.map((second) => joined(first, between, second)),
          );
        check(
          family,
          all.flatMap((second) => all.filter(isOfPacket).map((third) => joined(third, first, second))),
        );
      });
    }
    it('many pairs are read', () => assert.ok(read > count / 4, `${read} of ${count}`));
  });
