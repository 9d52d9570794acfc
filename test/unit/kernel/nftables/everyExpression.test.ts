// Every expression that the library has, printed as nft does, and read again. Expressions are compared as the bytes that the kernel gets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OperationEncoder } from '../../../../src/kernel/nftables/encode/operations.js';
import type { Expression, NewRule, NftablesOperation } from '../../../../src/kernel/nftables/index.js';
import { formatRuleset, parseRuleset, RulesetError } from '../../../../src/kernel/nftables/text/index.js';
import { ByteWriter } from '../../../../src/kernel/shared/wire/byteWriter.js';
import { type AnyRule, RULES_BY_KIND, UNREADABLE_RULES } from '../../../support/nftables/everyRule.js';
import { SETS } from '../../../support/nftables/ruleLines.js';
import { rulesetOf } from '../../../support/nftables/rulesetOf.js';

const LINKS = new Map([[1, 'lo']]);
const MAP = '\tmap seen {\n\t\ttype ipv4_addr : mark\n\t\tflags dynamic\n\t}\n\n';

/** The text of a table with the rule. */
function textOf({ family = 'inet', expressions }: AnyRule): string {
  const sets = family === 'inet' ? MAP + SETS : '';
  const table = `table ${family} t {\n${sets}\tchain other {\n\t}\n\n\tchain c {\n\t}\n}\n`;
  const rule = { family, table: 't', chain: 'c', expressions } as NewRule;
  return formatRuleset({ ...rulesetOf([...parseRuleset(table), { do: 'addRule', rule }]), links: LINKS });
}

/** The rule as the line that nft lists. */
const lineOf = (text: string) => /chain c \{\n\t\t(.*)\n/.exec(text)?.[1] ?? '';

/** The message that adds the rule, as text. */
function messageOf(rule: NewRule): string {
  const writer = new ByteWriter();
  assert.equal(new OperationEncoder(writer).write({ do: 'addRule', rule }), undefined);
  return writer.written().toString('hex');
}

const ruleIn = (operations: readonly NftablesOperation[]) =>
  operations.flatMap((each) => (each.do === 'addRule' ? [each.rule] : [])).at(-1);

for (const [kind, rules] of Object.entries(RULES_BY_KIND))
  describe(kind, () => {
    for (const rule of rules) {
      const text = textOf(rule);
      it(lineOf(text), () => {
        assert.ok(rule.expressions.some((each: Expression) => each.kind === kind));
        const read = ruleIn(parseRuleset(text, { links: LINKS }));
        assert.ok(read);
        assert.equal(messageOf(read), messageOf({ ...read, expressions: rule.expressions }));
      });
    }
  });

describe('what cannot be read', () => {
  for (const [rule, problem] of UNREADABLE_RULES) {
    const text = textOf(rule);
    it(lineOf(text), () => {
      assert.throws(
        () => parseRuleset(text, { links: LINKS }),
        (error) => error instanceof RulesetError && problem.test(error.message),
      );
    });
  }
});
