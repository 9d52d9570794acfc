// Each history of the record shows its fault in a simulated proxy that has it, and none in a correct one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RuleName } from '../../judge/core/rules.js';
import { judge } from '../../judge/core/verdict.js';
import type { Flaw } from '../../judge/simulated/flaws.js';
import { SIMULATED_BOUNDS, simulate } from '../../judge/simulated/simulate.js';
import { ENTRIES, recordedHistories } from '../../support/judge/record.js';
import { ROOT } from '../../support/paths.js';

describe('the record of the judge', () => {
  const histories = recordedHistories();

  it('has a row in docs/judge.md for each history, with its rule', () => {
    const rows = readFileSync(join(ROOT, 'docs/judge.md'), 'utf8').split('\n');
    assert.deepEqual([...histories.keys()].sort(), Object.keys(ENTRIES).sort());
    for (const [name, { rule }] of Object.entries(ENTRIES)) {
      const row = rows.find((line) => line.startsWith(`| [${name}](../test/judge/record/${name}.json) |`));
      assert.ok(row?.includes(`\`${rule}\``), `no row of ${name} with ${rule}`);
    }
  });

  for (const [name, history] of histories) {
    const broken = (flaw?: Flaw): RuleName[] =>
      judge(simulate(history, flaw), SIMULATED_BOUNDS).map(({ rule }) => rule);

    it(`${name} shows its fault, and no other`, () => {
      assert.ok(history.steps.length <= 10, `${history.steps.length} events`);
      assert.deepEqual(broken(), []);
      const { flaw, rule } = ENTRIES[name] ?? assert.fail('is no entry');
      assert.ok(broken(flaw).includes(rule), `${flaw} breaks ${broken(flaw)}`);
    });
  }
});
