// What messages quote of input is short and on one line.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DecodingError, decodeFile } from '../../../src/command/config/file.js';
import { describeProblem, excerpt } from '../../../src/kernel/errors.js';
import { ApiError } from '../../../src/proxy/api/error.js';
import { accessOfKubeconfig } from '../../../src/proxy/api/kubeconfig.js';
import { readManifest } from '../../../src/proxy/source/manifestFile.js';

const LONG = 'x'.repeat(2 ** 20);
/** Longest message with one quotation. */
const BOUND = 700;

function messageOf(fails: () => unknown): string {
  try {
    fails();
  } catch (error) {
    return (error as Error).message;
  }
  assert.fail('it did not fail');
}

describe('an excerpt', () => {
  it('is the text itself when that is short and can be printed', () => {
    assert.equal(excerpt('ä “quoted” text'), 'ä “quoted” text');
  });

  it('is cut, but not within a character', () => {
    assert.equal(excerpt('abcdef', 3), 'abc…');
    assert.equal(excerpt('ab\u{1f600}cd', 3), 'ab…');
  });

  it('shows control characters instead of printing them', () => {
    assert.equal(excerpt('a\nb\u001b[2J\u0000\u009b\u2028'), 'a\\u000ab\\u001b[2J\\u0000\\u009b\\u2028');
  });
});

describe('a message is short and on one line for', () => {
  it('every part of a problem', () => {
    for (const part of ['source', 'object', 'field', 'rule', 'value'] as const) {
      const problem = { source: 's', object: 'o', field: 'f', rule: 'r', [part]: `\n${LONG}` };
      const message = describeProblem(problem);
      assert.ok(message.length < BOUND && !message.includes('\n'), `${part}: ${message.length}`);
    }
  });

  for (const [name, text] of [
    ['a quotation without end', `a: "${LONG}`],
    ['an alias of nothing', `a: *${LONG}`],
    ['a tag', `a: !${LONG} b`],
    ['a key that is there twice', `${LONG}: 1\n${LONG}: 2`],
    ['a directive', `%${LONG}\n---\na`],
    ['a text where none may be', `"a" ${LONG}`],
    ['a text instead of an object', LONG],
  ] as const) {
    it(`${name}, in a manifest, a kubeconfig and a configuration`, async () => {
      const { problems } = await readManifest('a.yaml', text);
      const configuration = messageOf(() => decodeFile(text));
      const kubeconfig = messageOf(() => accessOfKubeconfig('/k', text));
      for (const message of [...problems.map(describeProblem), ...configuration.split('\n'), kubeconfig]) {
        assert.ok(
          message.length < BOUND && !message.includes('\n'),
          `${message.length}: ${message.slice(0, 300)}`,
        );
      }
      assert.ok(problems.length > 0);
    });
  }

  it('a configuration of another kind, and one with a long value', () => {
    const about = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: ';
    for (const text of [`${about}${LONG}`, `apiVersion: ${LONG}\nkind: a`]) {
      assert.throws(() => decodeFile(text), DecodingError);
      assert.ok(messageOf(() => decodeFile(text)).length < BOUND);
    }
    const { warnings } = decodeFile(`${about}KubeProxyConfiguration\n${LONG.slice(0, 1000)}: 1\n`);
    assert.ok(warnings.join('').length < BOUND, `${warnings.join('').length}`);
    const duration = `${about}KubeProxyConfiguration\nconfigSyncPeriod: ${LONG}\n`;
    assert.ok(messageOf(() => decodeFile(duration)).length < BOUND);
  });

  it("an API server's answer, of which no secret is cut so that it is no longer recognized", () => {
    const token = `eyJ${'a'.repeat(30)}.${'b'.repeat(600)}.c`;
    const { message } = new ApiError({
      code: 'ERR_STATUS',
      operation: 'GET /',
      said: `no ${token}\n${LONG}`,
    });
    assert.ok(message.length < BOUND && !message.includes('\n'), `${message.length}`);
    assert.doesNotMatch(message, /eyJ/);
  });
});
