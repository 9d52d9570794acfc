// The links of the documents to files of the repository, and to headings in them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { documents } from '../support/documents/codeBlocks.js';
import { ROOT } from '../support/paths.js';

const LINK = /\]\(([^)\s]+)\)/g;

/** The links of a document that lead nowhere. */
function brokenLinks(path: string, text: string): string[] {
  return [...withoutBlocks(text).matchAll(LINK)].flatMap(([, link = '']) => {
    if (/^\w+:/.test(link)) return [];
    const [target = '', heading] = link.split('#');
    const file = target === '' ? path : join(dirname(path), target);
    if (target !== '' && !existsSync(join(ROOT, file))) return [`${path}: ${link}: there is no such file`];
    const linked = file === path ? text : heading === undefined ? '' : readFileSync(join(ROOT, file), 'utf8');
    return heading === undefined || anchorsOf(linked).includes(heading)
      ? []
      : [`${path}: ${link}: there is no such heading`];
  });
}

/** The anchors that GitHub makes of the headings: `same`, `same-1`. */
function anchorsOf(text: string): string[] {
  const slugs = [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return slugs.map((slug, i) => {
    const before = slugs.slice(0, i).filter((other) => other === slug).length;
    return before === 0 ? slug : `${slug}-${before}`;
  });
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '');
}

it('every link leads to a file, and to a heading in it', () => {
  assert.deepEqual(
    documents().flatMap((path) => brokenLinks(path, readFileSync(join(ROOT, path), 'utf8'))),
    [],
  );
});

it('a link that leads nowhere is found', () => {
  const text =
    '# Two words, and more\n# Same\n# Same\n[a](#two-words-and-more) [b](#none) [c](README.md#use-it) [d](none.md) [e](#same-1)\n';
  assert.deepEqual(brokenLinks('x.md', text), [
    'x.md: #none: there is no such heading',
    'x.md: none.md: there is no such file',
  ]);
});
