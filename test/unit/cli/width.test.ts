// The width of texts for people: no line is longer than the columns of the output, unless it is one word.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import stringWidth from 'string-width';
import { readReports } from '../../../src/bench/output/readReport.js';
import { reportLines, targetLines } from '../../../src/cli/bench/text.js';
import { COMMANDS } from '../../../src/cli/definitions.js';
import { explanationLines } from '../../../src/cli/explain/text.js';
import { fittedTable } from '../../../src/cli/output/fittedTable.js';
import { columnsOf } from '../../../src/cli/output/output.js';
import { readCommand } from '../../../src/cli/program.js';
import { helpText, usageText } from '../../../src/config/help.js';
import { explainPacket } from '../../../src/modes/iptables/explain/explainPacket.js';
import { IPTABLES_DEFAULTS } from '../../../src/modes/iptables/options.js';
import { wrapped } from '../../../src/wrap.js';
import { factsOf, recordedPorts, recordedRules } from '../../support/iptablesNode.js';
import { scenarios } from '../../support/oracle.js';
import { ROOT } from '../../support/paths.js';

const WIDTHS = [80, 70, 132];

function assertFits(lines: readonly string[], columns: number): void {
  assert.ok(lines.length > 0);
  const long = lines.filter((line) => stringWidth(line) > columns && line.trim().includes(' '));
  assert.deepEqual(long, [], `more than ${columns} columns`);
}

const plain = (_: string, text: string) => text;

describe('no line is too long', () => {
  it('of the help of the agent, and of each command', () => {
    assertFits(usageText().split('\n'), 80);
    for (const columns of WIDTHS) {
      assertFits(helpText(COMMANDS, columns).split('\n'), columns);
      for (const { name } of COMMANDS) {
        const reading = readCommand([name, '--help'], columns);
        assert.ok('help' in reading);
        assertFits(reading.help.split('\n'), columns);
      }
    }
  });

  it('of an explanation', async () => {
    let shown = 0;
    for (const scenario of scenarios('iptables').slice(0, 6)) {
      for (const { family, frontends, protocol } of await recordedPorts(scenario.folder)) {
        const facts = factsOf(scenario, family, recordedRules(scenario.folder, family));
        for (const { address, port } of frontends.filter((each) => each.address !== '')) {
          const explanation = explainPacket(
            facts,
            { address, port, protocol, from: 'node' },
            IPTABLES_DEFAULTS,
          );
          const owner = {
            service: 'demo/web',
            portName: 'http',
            reason: 'none of its endpoints is ready '.repeat(9),
          };
          for (const columns of WIDTHS) assertFits(explanationLines(explanation, owner, columns), columns);
          shown += 1;
        }
      }
    }
    assert.ok(shown > 10, `${shown} explanations`);
  });

  it('of the tables of a benchmark', () => {
    const path = join(ROOT, 'docs/benchmarks/report.json');
    const [report] = readReports(readFileSync(path, 'utf8'), path);
    assert.ok(report);
    for (const columns of WIDTHS) {
      for (const wide of [false, true]) assertFits(reportLines(report, wide, plain, columns), columns);
      assertFits(targetLines(report.targets, plain, columns), columns);
    }
  });
});

describe('a table that does not fit', () => {
  const columns = [{ title: 'NAME' }, { title: 'N', align: 'right' }, { title: 'MET' }] as const;
  const rows = [
    ['a long name of many words', '1', 'yes'],
    ['short', '22', 'not measured: why'],
  ];

  it('has broken cells of text, each painted alone', () => {
    assert.deepEqual(fittedTable(columns, rows, { width: 36 }), [
      'NAME            N  MET',
      'a long name     1  yes',
      'of many words',
      'short          22  not measured: why',
    ]);
    const painted = fittedTable(columns, rows, {
      width: 34,
      paint: (row, column, text) => (row === 1 && column === 2 && text !== '' ? `<${text}>` : text),
    });
    assert.ok(
      painted.some((line) => line.includes('<not measured:')),
      painted.join('\n'),
    );
  });

  it('has its other columns in tables below, with the keys', () => {
    assert.deepEqual(
      fittedTable(
        columns,
        rows.map((row) => row.map((cell) => cell.replaceAll(' ', '-'))),
        { width: 32 },
      ),
      [
        'NAME                        N',
        'a-long-name-of-many-words   1',
        'short                      22',
        '',
        'NAME                       MET',
        'a-long-name-of-many-words  yes',
        'short                      not-measured:-why',
      ],
    );
  });
});

it('lines are broken at spaces, and never at a no-break space', () => {
  assert.deepEqual(wrapped('  one two three', 9, 4), ['  one two', '    three']);
  assert.deepEqual(wrapped('averylongword and', 5, 2), ['averylongword', '  and']);
  assert.deepEqual(wrapped('1\u00a0ms 22\u00a0ms', 6), ['1\u00a0ms', '22\u00a0ms']);
  assert.deepEqual(wrapped('fits  as it is', 20), ['fits  as it is']);
  assert.deepEqual(wrapped('', 20), ['']);
});

it('the columns are those of a terminal, within bounds, and 80 for anything else', () => {
  assert.equal(columnsOf({ isTTY: true, columns: 100 }), 100);
  assert.equal(columnsOf({ isTTY: true, columns: 10 }), 40);
  assert.equal(columnsOf({ isTTY: true, columns: 500 }), 160);
  assert.equal(columnsOf({ isTTY: true, columns: 0 }), 80);
  assert.equal(columnsOf({ isTTY: true }), 80);
  assert.equal(columnsOf({ columns: 120 }), 80);
});
