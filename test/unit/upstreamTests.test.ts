// docs/upstream-tests.md: the tests of ours that it names exist, in the file of each mode.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import ts from 'typescript';
import { ROOT } from '../support/paths.js';

const DOCUMENT = readFileSync(join(ROOT, 'docs/upstream-tests.md'), 'utf8');

/** The cells of the rows of the table whose heading begins with these cells. */
function rowsUnder(heading: string): string[][] {
  const [, table = ''] = DOCUMENT.split(`\n${heading}\n`);
  const lines = table.split('\n').slice(1);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) => line.slice(2, -2).split(' | '));
}

/** Parts of the text of a template that are shorter say nothing about a name. */
const LEAST = 6;

/** Patterns of the strings in a file and in what it imports of the tests: a template has any text for its expressions. */
function textsOf(path: string, seen = new Set<string>()): RegExp[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
  const found: RegExp[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const name = (node.moduleSpecifier as ts.StringLiteral).text;
      const to = join(dirname(path), name.replace(/\.js$/, '.ts'));
      if (name.startsWith('.') && to.startsWith('test/')) found.push(...textsOf(to, seen));
      return;
    }
    if (ts.isStringLiteralLike(node)) found.push(patternOf([node.text]));
    if (ts.isTemplateExpression(node)) {
      const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
      if (parts.join('').trim().length >= LEAST) found.push(patternOf(parts));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function patternOf(parts: readonly string[]): RegExp {
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.+')}$`);
}

/** Names of a row that no file of a mode has. */
function missing(files: readonly string[], names: readonly string[]): string[] {
  return files.flatMap((path) => {
    const texts = textsOf(path);
    return names.some((name) => texts.some((text) => text.test(name)))
      ? []
      : [`${path}: ${names.join(' / ')}`];
  });
}

const SETS = new Map(
  rowsUnder('| set | ipvs | iptables | nftables |').map(([set = '', ...cells]) => [
    set,
    cells.map((cell) => join('docs', /\((.+)\)$/.exec(cell)?.[1] ?? '')),
  ]),
);

it('every test that the page names exists in every mode', () => {
  const rows = rowsUnder('| set | our test | tests of Kubernetes |');
  assert.ok(rows.length > 30, `${rows.length} rows`);
  for (const [set, files] of SETS) {
    assert.deepEqual(
      [files.length, ...files.map((path) => existsSync(join(ROOT, path)))],
      [3, true, true, true],
      set,
    );
    assert.ok(
      rows.some(([name]) => name === set),
      `no row has the set ${set}`,
    );
  }
  assert.deepEqual(
    rows.flatMap(([set = '', names = '', theirs = '']) =>
      theirs === '' ? [`${names}: no test of Kubernetes`] : missing(SETS.get(set) ?? [], names.split(' / ')),
    ),
    [],
  );
  assert.deepEqual(
    rows.flatMap(([set = '']) => (SETS.has(set) ? [] : [set])),
    [],
  );
});

it('a test that does not exist is found', () => {
  const [path = ''] = SETS.get('promises') ?? [];
  assert.deepEqual(missing([path], ['ports are added and deleted']), []);
  assert.deepEqual(missing([path], ['ports are painted']), [`${path}: ports are painted`]);
});
