// The table of the demonstration: what changed from one phase to the next is marked, with and without colours.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Outcomes } from '../../../demo/outcomes.js';
import { boardRows, failureLines, lastScreen, timeLines } from '../../../demo/report.js';
import { numberCells, tableLines } from '../../../demo/table.js';

const PLAIN = {
  heading: (text: string) => text,
  title: (text: string) => text,
  marked: (text: string) => text,
};
const COLOURED = { ...PLAIN, marked: (text: string) => `<${text}>` };

describe('numbers in a row', () => {
  it('are marked where they become 0 or cease to be 0', () => {
    const marks = (numbers: readonly (number | undefined)[]) =>
      numberCells(numbers).map(({ marked }) => marked);
    assert.deepEqual(marks([8, 12, 0, 0, 8]), [false, false, true, false, true]);
    assert.deepEqual(marks([0, 0, 3]), [false, false, true]);
  });

  it('may be missing, which is as good as 0', () => {
    assert.deepEqual(numberCells([1, undefined, 0]), [
      { text: '1', marked: false },
      { text: '-', marked: true },
      { text: '0', marked: false },
    ]);
  });
});

describe('a table', () => {
  const rows = [
    { label: 'a title that is long', cells: [] },
    { label: 'web-0', cells: numberCells([8, 12]) },
    { label: 'web-1', cells: numberCells([104, 0]) },
  ];

  it('aligns cells right, marks included', () => {
    assert.deepEqual(tableLines('', ['start', 'gone'], rows, PLAIN), [
      '       start  gone',
      'a title that is long',
      'web-0      8    12',
      'web-1    104    ▸0',
    ]);
  });

  it('does not count emphasis as text', () => {
    assert.equal(tableLines('', ['start', 'gone'], rows, COLOURED)[3], 'web-1    104    <▸0>');
  });
});

describe('the last screen', () => {
  const answer = (by: string) => ({ by, sees: '', milliseconds: 1, kept: true });

  it('has a row for each endpoint, those of the open connection, and failures', () => {
    const outcomes = new Outcomes(0);
    const flows = [{ name: 'ClusterIP' }, { name: 'open', server: 'web-1' }] as const;
    const play = (name: string, servers: readonly string[]) => {
      outcomes.begin({ name, servers });
      for (const by of servers) outcomes.record(flows[0], outcomes.now, answer(by), 0);
      outcomes.record(flows[1], outcomes.now, answer('web-1'), 0);
    };
    play('start', ['web-0', 'web-1']);
    play('gone', ['web-0']);
    outcomes.record(flows[0], outcomes.now, { error: 'no answer', milliseconds: 5000 }, 0);
    const rows = boardRows(outcomes, flows, ['web-0', 'web-1'], { weights: [1, 0] });
    assert.deepEqual(tableLines('', ['start', 'gone'], rows, PLAIN), [
      '              start  gone',
      'ClusterIP',
      '  web-0           1     1',
      '  web-1           1    ▸0',
      'open',
      '  web-1           1     1',
      '  its weight      1    ▸0',
      'failures          0    ▸1',
    ]);
  });

  it('lists ten failures, and how many more there are', () => {
    const many = Array.from({ length: 12 }, (_, i) => `failure ${i}`);
    assert.deepEqual(failureLines(many).slice(-2), ['failure 9', '… and 2 more']);
    assert.deepEqual(failureLines(['one']), ['one']);
  });

  it('has the factor beside every time', () => {
    const pass = { level: 'info', msg: 'synced', full: true, services: 5, failures: 0 };
    const adopted = { ...pass, operations: 0, planMs: 40, kernelMs: 400 };
    const lines = timeLines(
      { weights: [], terminatingMs: 70, backMs: 80, restartMs: 900, adopted },
      30,
      '×3.1',
    );
    assert.match(lines.join('\n'), /70; 80 ms .* 0 operations +900 ms .* 40; 400 ms .* 30 ms/s);
    for (const line of lines) assert.match(line, / ms {2}×3\.1$/);
  });

  it('is found in the whole output', () => {
    const heading = '── Who answered how many requests, phase by phase ──';
    assert.equal(lastScreen(`booting\n${heading}\nrest`), `${heading}\nrest`);
    assert.throws(() => lastScreen('booting\nfailed'), /the output has no line/);
  });
});
