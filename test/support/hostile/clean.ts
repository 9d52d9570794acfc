// Asserts that hostile text made no line and no escape.
import assert from 'node:assert/strict';
import { MARK } from './objects.js';
import { LONGEST_READ, wordsOf } from './restoreWords.js';

const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose.
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Those that end a line or begin an escape. A rule may have other characters of Unicode. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose.
const CONTROL_OF_RULES = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Starts of lines that hostile text has after a line break. What commands break at a space begins with two spaces or more. */
const STARTS = /^ ?(-P|COMMIT|\*filter|:FORWARD)/;

/** Output for people, for files or for programs: no control character but its own line breaks, and no line of hostile text. */
export function assertCleanLines(text: string, told: string): void {
  for (const line of text.split('\n')) {
    const shown = `${told}: ${JSON.stringify(line.slice(0, 300))}`;
    assert.ok(!CONTROL.test(line), shown);
    assert.doesNotMatch(line, STARTS, shown);
  }
}

const FIRST_WORDS = ['-A', '-I', '-D', '-X', 'COMMIT', '*nat', '*filter', '*mangle'];

/**
 * The input of iptables-restore: lines of changes only, and no hostile text.
 *
 * @param comments hostile text may be in comments, each of which is one argument
 */
export function assertCleanInput(input: string, told: string, comments = false): void {
  assert.ok(input.includes('KUBE-SERVICES'), `${told}: rules were written`);
  for (const line of input.split('\n')) {
    const shown = `${told}: ${JSON.stringify(line.slice(0, 300))}`;
    assert.ok(!CONTROL_OF_RULES.test(line), shown);
    assert.ok(Buffer.byteLength(line) < LONGEST_READ, shown);
    const words = wordsOf(line);
    assert.ok(words.length === 0 || isChange(words), shown);
    const hostile = words.filter((word, i) => word.includes(MARK) && words[i - 1] !== '--comment');
    assert.deepEqual(hostile, [], shown);
    assert.ok(words.filter((word) => word === '-j').length <= 1, `${shown} has two targets`);
    assert.ok(comments || !line.includes(MARK), shown);
  }
}

function isChange([first = '', second]: readonly string[]): boolean {
  return FIRST_WORDS.includes(first) || (/^:[A-Z0-9-]+$/.test(first) && second === '-');
}
