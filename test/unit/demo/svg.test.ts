// Output of a terminal as SVG, and the picture in the README.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LAST_SCREEN, NEXT } from '../../../demo/report.js';
import { terminalSvg } from '../../../demo/svg.js';
import { ROOT } from '../../support/paths.js';

const ESCAPE = '\u001b[';

/** Asserts that a text is well-formed XML, as far as our pictures use it: tags, attributes, text; its texts by their tags. */
function textsOf(xml: string): { tag: string; text: string }[] {
  const texts: { tag: string; text: string }[] = [];
  const open: string[] = [];
  const attribute = '\\s+[\\w:-]+="[^"<&]*"';
  const token = new RegExp(`<(/?)(\\w+)((?:${attribute})*)\\s*(/?)>|([^<]+)`, 'y');
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex;
    const found = token.exec(xml);
    assert.ok(found, `not well-formed from character ${at}: ${xml.slice(at, at + 60)}`);
    const [, closing, tag = '', attributes = '', empty, text] = found;
    const names = [...attributes.matchAll(/([\w:-]+)=/g)].map(([, name]) => name);
    assert.equal(new Set(names).size, names.length, `an attribute twice in ${found[0]}`);
    if (text !== undefined) {
      assert.doesNotMatch(text, /&(?!(?:amp|lt|gt|quot|apos|#\d+);)/, 'a bare ampersand');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no place for them.
      assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f]/, 'a control character');
      if (open.length === 0) assert.equal(text.trim(), '', 'text outside of the root');
      else texts.push({ tag: open.at(-1) ?? '', text: unescapeXml(text) });
    } else if (closing) {
      assert.equal(open.pop(), tag, `</${tag}> at character ${at}`);
    } else if (!empty) {
      open.push(tag);
    }
  }
  assert.deepEqual(open, [], 'tags that are not closed');
  return texts;
}

function unescapeXml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

const lines = (svg: string) => svg.split('\n').filter((line) => /^<(text|rect class="rule")/.test(line));

describe('a picture of a terminal', () => {
  it('has each text in its colour and at its place', () => {
    const output = `  ${ESCAPE}32m✓${ESCAPE}39m ${ESCAPE}1mgood${ESCAPE}22m\n${ESCAPE}31mbad${ESCAPE}0m`;
    assert.deepEqual(lines(terminalSvg(output)), [
      '<text class="green" x="32" y="29">✓</text>',
      '<text class="bold" x="48" y="29">good</text>',
      '<text class="red" x="16" y="47">bad</text>',
    ]);
  });

  it('places columns by themselves, so that they are aligned in any font', () => {
    assert.deepEqual(lines(terminalSvg('web-0   12')), [
      '<text x="16" y="29">web-0</text>',
      '<text x="80" y="29">12</text>',
    ]);
  });

  it('underlines gaps, too', () => {
    assert.deepEqual(lines(terminalSvg(`${ESCAPE}4ma   b${ESCAPE}24m c`)), [
      '<text x="16" y="29">a</text>',
      '<text x="48" y="29">b</text>',
      '<rect class="rule" x="16" y="32" width="40" height="1"/>',
      '<text x="64" y="29">c</text>',
    ]);
  });

  it('keeps a style over the end of a line, and several at once', () => {
    assert.deepEqual(lines(terminalSvg(`${ESCAPE}1;33ma\nb${ESCAPE}mc`)), [
      '<text class="bold yellow" x="16" y="29">a</text>',
      '<text class="bold yellow" x="16" y="47">b</text>',
      '<text x="24" y="47">c</text>',
    ]);
  });

  it('is well-formed, whatever the text', () => {
    const svg = terminalSvg(`a < b && c > "d" ${ESCAPE}2K'e'\n\nx`);
    const texts = textsOf(svg).filter(({ tag }) => tag === 'text');
    assert.deepEqual(
      texts.map(({ text }) => text),
      ['a < b && c > "d"', 'x'],
    );
  });

  it('is as wide and as high as its text', () => {
    assert.match(terminalSvg(`ab${ESCAPE}1mcd${ESCAPE}22m\ne\n`), /viewBox="0 0 64 68"/);
  });

  it('has colours for light and dark', () => {
    assert.match(terminalSvg('x'), /prefers-color-scheme: dark/);
  });
});

describe('the picture of the demonstration', () => {
  it('is drawn by the script from the output', () => {
    const folder = mkdtempSync(join(tmpdir(), 'knp-demo-'));
    try {
      const file = join(folder, 'demo.svg');
      const screen = `── ${LAST_SCREEN} ──\n  ${ESCAPE}33m▸0${ESCAPE}39m\n`;
      execFileSync(process.execPath, [join(ROOT, 'dist/demo/draw.js'), file], {
        input: `booting\n${screen}`,
      });
      assert.equal(readFileSync(file, 'utf8'), terminalSvg(screen));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('in docs/ is well-formed, small, and one that this version draws', () => {
    const svg = readFileSync(join(ROOT, 'docs/demo.svg'), 'utf8');
    assert.ok(svg.length < 60_000, `${svg.length} characters`);
    const texts = textsOf(svg);
    const words = texts.filter(({ tag }) => tag === 'text').map(({ text }) => text);
    for (const line of [LAST_SCREEN, ...NEXT]) {
      for (const part of line.split(/ {2,}/).filter(Boolean)) {
        assert.ok(
          words.some((word) => word.includes(part)),
          `the picture has no "${part}"; draw it anew: npm run demo -- --svg docs/demo.svg`,
        );
      }
    }
    assert.ok(words.some((word) => /^\d+ requests .*, 0 failures/.test(word)));
    const style = textsOf(terminalSvg('')).find(({ tag }) => tag === 'style');
    assert.deepEqual(
      texts.find(({ tag }) => tag === 'style'),
      style,
    );
  });

  it('is shown in the README', () => {
    assert.match(readFileSync(join(ROOT, 'README.md'), 'utf8'), /!\[[^\]]+\]\(docs\/demo\.svg\)/);
  });
});
