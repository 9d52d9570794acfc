// Colours, tables and formats of the commands' output.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasColours, styleFor } from '../../../../src/command/cli/output/colours.js';
import { type Format, writeReport } from '../../../../src/command/cli/output/output.js';
import { signedLines } from '../../../../src/command/cli/output/signs.js';
import { fitted, tableLines } from '../../../../src/command/cli/output/table.js';

describe('output has colours', () => {
  const cases: [name: string, terminal: boolean, env: NodeJS.ProcessEnv, coloured: boolean][] = [
    ['on a terminal', true, { TERM: 'xterm' }, true],
    ['not in a file', false, { TERM: 'xterm' }, false],
    ['not on a terminal that has none', true, { TERM: 'dumb' }, false],
    ['not with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['in a file with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['with an empty FORCE_COLOR', false, { FORCE_COLOR: '' }, true],
    ['not with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
    ['with FORCE_COLOR, which is stronger than NO_COLOR', false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ];
  for (const [name, terminal, env, coloured] of cases) {
    it(name, () => assert.equal(hasColours(terminal, env), coloured));
  }

  it('by the meaning of the text, and by the sign of a line of a diff', () => {
    const style = styleFor(true);
    assert.equal(style('bad', 'x'), '\u001b[31mx\u001b[39m');
    assert.deepEqual(signedLines('    + rule', 80, style), ['\u001b[32m    + rule\u001b[39m']);
    assert.deepEqual(signedLines('- link', 80, style), ['\u001b[31m- link\u001b[39m']);
    assert.deepEqual(signedLines('text', 80, style), ['text']);
    assert.deepEqual(signedLines('  - a b', 5, style), [
      '\u001b[31m  - a\u001b[39m',
      '\u001b[31m      b\u001b[39m',
    ]);
    assert.equal(styleFor(false)('bad', 'x'), 'x');
  });
});

describe('a table', () => {
  it('is aligned by the width on a terminal, with wide characters and colours', () => {
    const columns = [{ title: 'NAME' }, { title: 'N', align: 'right' }] as const;
    const red = styleFor(true)('bad', '9');
    assert.deepEqual(
      tableLines(columns, [
        ['日本', '10'],
        ['e\u0301', red],
        ['', '1'],
      ]),
      ['NAME   N', '日本  10', `e\u0301      ${red}`, '       1'],
    );
  });

  it('has headings alone if it has no rows, and no spaces at the end of a line', () => {
    assert.deepEqual(tableLines([{ title: 'A' }, { title: 'LONG' }], []), ['A  LONG']);
    assert.deepEqual(tableLines([{ title: 'A' }, { title: 'B' }], [['x', '']])[1], 'x');
  });

  it('is cut to the width of a terminal, never in the middle of a character', () => {
    assert.equal(fitted('abcdef', 6), 'abcdef');
    assert.equal(fitted('abcdefg', 6), 'abcde…');
    assert.equal(fitted('日本語', 4), '日…');
  });
});

describe('a report', () => {
  const written = (format: Format) => {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const output = { format, columns: 80, style: styleFor(false), write, note() {} };
    writeReport(output, { a: [1], b: 'x' }, ({ wide, columns }) => [
      wide ? `wide line of ${columns}` : `line of ${columns}`,
    ]);
    return text;
  };

  it('is text, more text, JSON or YAML', () => {
    assert.equal(written('text'), 'line of 80\n');
    assert.equal(written('wide'), 'wide line of Infinity\n');
    assert.equal(written('json'), '{\n  "a": [\n    1\n  ],\n  "b": "x"\n}\n');
    assert.equal(written('yaml'), 'a:\n  - 1\nb: x\n');
  });
});
