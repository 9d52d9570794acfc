// Which rules and names of chains are written for iptables-restore.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseSaved } from '../../../../src/kernel/iptables/saved.js';
import { restoreInput } from '../../../../src/kernel/iptables/text.js';
import type { IptablesOperation } from '../../../../src/kernel/iptables/types.js';
import { UnwritableText, writableRule } from '../../../../src/kernel/iptables/writable.js';
import { wordsOf } from '../../../support/hostile/restoreWords.js';
import { ROOT } from '../../../support/paths.js';

const PLACE = { family: 4, table: 'nat' } as const;

/** Every operation with a rule, and every one with a chain. */
const withRule = (text: string): IptablesOperation[] => [
  { do: 'setChain', chain: { ...PLACE, name: 'A', rules: ['-j RETURN', text] } },
  { do: 'appendRule', rule: { ...PLACE, chain: 'A', text } },
  { do: 'insertRule', rule: { ...PLACE, chain: 'A', text } },
  { do: 'deleteRule', rule: { ...PLACE, chain: 'A', text } },
  { do: 'replaceRules', rules: { ...PLACE, chain: 'A', before: [text], after: [] } },
  { do: 'replaceRules', rules: { ...PLACE, chain: 'A', before: [], after: [text] } },
];
const withChain = (name: string): IptablesOperation[] => [
  { do: 'setChain', chain: { ...PLACE, name, rules: [] } },
  { do: 'deleteChain', chain: { ...PLACE, name } },
  { do: 'appendRule', rule: { ...PLACE, chain: name, text: '-j RETURN' } },
  { do: 'replaceRules', rules: { ...PLACE, chain: name, before: [], after: ['-j RETURN'] } },
];

it('rules as iptables-save prints them are written as they are', () => {
  const folder = join(ROOT, 'test/oracle/recordings');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\/ip6?tables\.txt$/.test(name))
    .map((name) => join(folder, name));
  assert.ok(files.length > 50, `${files.length} recordings`);
  const rules = files.flatMap((file) => [...parseSaved(readFileSync(file, 'utf8')).values()].flat());
  assert.ok(rules.length > 1000, `${rules.length} rules`);
  for (const rule of rules) assert.equal(writableRule(rule), rule);
});

for (const [title, text, words] of [
  ['text of Unicode', '-m comment --comment "Müller 🙂" -j A', ['--comment', 'Müller 🙂', '-j']],
  ['escaped quotes', '-m comment --comment "a \\" -j DROP \\\\" -j A', ['--comment', 'a " -j DROP \\', '-j']],
  ['two texts in quotes', '--comment "a b" --string "c d"', ['--comment', 'a b', '--string', 'c d']],
] as const) {
  it(`${title} is one rule`, () => {
    for (const operation of withRule(text)) {
      const line = restoreInput([operation])
        .toString()
        .split('\n')
        .find((each) => each.endsWith(text));
      assert.ok(line);
      assert.ok(wordsOf(line).join('|').includes(words.join('|')), line);
    }
  });
}

for (const [title, text] of [
  ['a line break', '-j A\n-P FORWARD DROP'],
  ['a line break in quotes', '--comment "a\nb"'],
  ['an escaped line break', '--comment "a\\\nb"'],
  ['a carriage return', '-j A\r'],
  ['NUL', '--comment "a\u0000b"'],
  ['ESC', '--comment "\u001b[2J"'],
  ['CSI of C1', '--comment "\u009b2J"'],
  ['a line separator', '--comment "\u2028"'],
  ['a quote that is not closed', '--comment "a'],
  ['a quote that an escaped one leaves open', '--comment "a\\"'],
  ['a backslash outside quotes', '--comment a\\ b'],
  ['a line that is read as two', `--comment "${' '.repeat(10_230)}-P FORWARD DROP"`],
  ['characters of more bytes than a line', `--comment "${'€'.repeat(3_500)}"`],
] as const) {
  it(`${title} is in no rule`, () => {
    for (const operation of withRule(text))
      assert.throws(() => restoreInput([operation]), UnwritableText, operation.do);
  });
}

for (const name of ['', 'A B', 'A\nB', 'A"', 'A\\', 'A\u0000', 'Ä', 'A'.repeat(29)]) {
  it(`no chain has the name ${JSON.stringify(name)}`, () => {
    for (const operation of withChain(name))
      assert.throws(() => restoreInput([operation]), UnwritableText, operation.do);
  });
}
