// The log messages that documents quote exist: a message that is worded anew is found in the documents too.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import ts from 'typescript';
import { documents } from '../support/documents/codeBlocks.js';
import { ROOT } from '../support/paths.js';

/** In place of what a template puts in. */
const ANY = '\0';
/** A quotation of a text that is made elsewhere than in the call of the log has so many words of it, at least. */
const START = 3;

/** A text in the sources. */
interface Message {
  readonly words: readonly string[];
  /** Whether it is in the call of a log; another text may be logged as an error or a warning. */
  readonly logged: boolean;
}

const wordsOf = (text: string) =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[:;,.]+$/, ''));

/** The texts of a source file. */
function messagesOf(path: string): Message[] {
  const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
  const found: Message[] = [];
  const visit = (node: ts.Node, logged: boolean): void => {
    const text = textOf(node);
    if (text !== undefined) found.push({ words: wordsOf(text), logged });
    const isCall = ts.isCallExpression(node) && /\blog\b[^(]*$/.test(node.expression.getText(source));
    ts.forEachChild(node, (child) => visit(child, logged || isCall));
  };
  visit(source, false);
  return found;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(ANY);
}

/** Whether a message has these words one after another: at its start, if it is not in the call of a log. */
function has({ words, logged }: Message, quoted: readonly string[]): boolean {
  const least = logged ? Math.ceil(quoted.length / 2) : START;
  return words.slice(0, logged ? words.length : 1).some((_, start) => {
    const equal = quoted.filter((word, i) => word === words[start + i]).length;
    return (
      equal >= least &&
      quoted.every((word, i) => word === words[start + i] || words[start + i]?.includes(ANY))
    );
  });
}

/** The log messages that a document quotes: as JSON, in prose, in a column of a table, and as what kubectl's output is searched for. */
function quotesIn(document: string): string[] {
  const searches = [...document.matchAll(/\blogs [^|\n]*\\?\| grep\b(.*)$/gm)].map(([, rest = '']) => rest);
  const quoted = [
    ...document.matchAll(/"msg":"([^"]+)"/g),
    ...document.matchAll(/(?<!\bkernel )\blog(?:s|\s+has)(?:\s+the\s+line)?\s+`([^`]+)`/g),
    ...document.matchAll(/`([^`]+)`\s+in\s+(?:its|the)\s+log\b/g),
    ...searches.flatMap((search) => [...search.matchAll(/(?:^|-e|-m1)\s+'?((?<=')[^']+|\w+)/g)]),
  ].map(([, text = '']) => text);
  // Levels, and codes of errors.
  return [...quoted, ...columnsOf(document)].filter((text) => !/^(E[A-Z_]+|INFO|WARN)\b/.test(text));
}

/** The texts at the start of the cells of columns "log" and "in the log". */
function columnsOf(document: string): string[] {
  let column = -1;
  return document.split('\n').flatMap((line) => {
    const cells = line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, ''));
    if (!line.startsWith('|')) column = -1;
    else if (column < 0) column = cells.findIndex((cell) => /^(in the )?log$/.test(cell));
    return /^`([^`]+ [^`]+)`/.exec(cells[column] ?? '')?.slice(1) ?? [];
  });
}

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
const messages = sources.filter((path) => path.endsWith('.ts')).flatMap((path) => messagesOf(`src/${path}`));
const unknown = (document: string) =>
  quotesIn(document).filter((quote) => !messages.some((message) => has(message, wordsOf(quote))));

it('each log message that a document quotes is one of the sources', () => {
  const texts = documents().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);
  assert.deepEqual(
    texts.flatMap(([path, text]) => unknown(text).map((quote) => `${path}: ${quote}`)),
    [],
  );
  assert.ok(texts.flatMap(([, text]) => quotesIn(text)).length > 20);
});

it('a message that no source has is found, wherever a document quotes it', () => {
  const document = [
    'Its log has `HTTP server failed` and {"msg":"said by others"}, or it logs `nothing at all`; `synced`, `no such line` in the log.',
    "kubectl logs POD | grep -e ERROR -e synced -e 'was never'",
    '| a | in the log |',
    '|---|---|',
    '| b | `no message` here |',
  ].join('\n');
  assert.deepEqual(unknown(document), [
    'said by others',
    'nothing at all',
    'no such line',
    'was never',
    'no message',
  ]);
});
