// One file of manifests: JSON is read as JSON, with the same rules as YAML.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import { findDuplicateKey } from '../../../../src/proxy/source/duplicateKeys.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';
import { threadTimes } from '../../../support/measures/threadTimes.js';

const object = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name },
  spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
});
const list = (count: number) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: Array.from({ length: count }, (_, i) => object(`s${i}`)),
  });

describe('a duplicate key', () => {
  for (const [json, found] of [
    ['{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]}', undefined],
    ['{"a": "a", "b": ["a", "a"], "c": "{\\"c\\": 1, \\"c\\": 2}"}', undefined],
    ['{"__proto__": 1, "constructor": 2}', undefined],
    ['["a", "a"]', undefined],
    ['"a"', undefined],
    ['{}', undefined],
    ['{"a": 1,\n "b": [[], {}],\n "a": 2}', { key: 'a', line: 3 }],
    ['{"x": [{"a\\"": 1, "b": {"c": "\\\\"}, "a\\"": 2}]}', { key: 'a"', line: 1 }],
    ['{"a": 1, "\\u0061": 2}', { key: 'a', line: 1 }],
    ['{"__proto__": 1, "__proto__": 2}', { key: '__proto__', line: 1 }],
  ] as const) {
    it(`of ${json.replace('\n', ' ')} is ${found ? JSON.stringify(found.key) : 'none'}`, () => {
      JSON.parse(json);
      assert.deepEqual(findDuplicateKey(json, 100), found);
    });
  }
});

describe('a document that is nested too deeply', () => {
  const nested = (open: string, inner: string, close: string) =>
    `${open.repeat(200_000)}${inner}${close.repeat(200_000)}`;
  const specOf = (json: string) =>
    `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": ${json}}`;
  for (const [what, file, text] of [
    ['lists of JSON', 'a.json', nested('[', '', ']')],
    ['a field of a Service', 'a.json', specOf(nested('[', '', ']'))],
    ['a JSON text in a YAML file', 'a.yaml', specOf(nested('{"a":', '1', '}'))],
    ['flow lists of YAML', 'a.yaml', nested('[', '', ']')],
    ['flow maps of YAML', 'a.yaml', nested('{a: ', '', '}')],
    ['block lists of YAML', 'a.yaml', nested('- ', 'x', '')],
    ['explicit keys of YAML', 'a.yaml', nested('? ', 'x', '')],
    ['an alias of itself', 'a.yaml', '&a [*a]'],
  ] as const) {
    it(`is unreadable, and what precedes it is read: ${what}`, async () => {
      const before = file === 'a.yaml' && what !== 'a JSON text in a YAML file';
      const { objects, problems, whole } = await readManifest(
        file,
        before ? `${JSON.stringify(object('web'))}\n---\n${text}` : text,
      );
      assert.deepEqual([...objects.keys()], before ? ['Service demo/web'] : []);
      assert.equal(whole, false);
      assert.match(problems.map(describeProblem).join(), /must not be nested more than 200 levels deep$/);
    });
  }

  it('is read up to 100 levels', async () => {
    for (const [file, deep] of [
      ['a.json', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
      ['a.yaml', `${'{a: '.repeat(100)}1${'}'.repeat(100)}`],
    ] as const) {
      const text = `{"apiVersion": "v1", "kind": "Other", "metadata": {"name": "x"}, "spec": ${deep}}`;
      assert.deepEqual((await readManifest(file, text)).problems, []);
    }
  });
});

describe('a JSON file', () => {
  it('is read many times faster than the same text as YAML', async () => {
    const text = list(2000);
    const measure = async (source: string) => {
      const started = threadTimes().ran;
      const { objects, problems } = await readManifest('a.yaml', source);
      assert.deepEqual([objects.size, problems], [2000, []]);
      return threadTimes().ran - started;
    };
    // With a comment, it is not JSON.
    const yaml = await measure(`# as YAML\n${text}`);
    const json = await measure(text);
    assert.ok(json < yaml / 3, `${json} ms as JSON, ${yaml} ms as YAML`);
  });

  it('that is not JSON is refused as a whole, with the reason', async () => {
    const { objects, problems, whole } = await readManifest('a.json', list(3).slice(0, -20));
    assert.deepEqual([objects.size, whole], [0, false]);
    assert.match(
      problems.map(describeProblem).join('\n'),
      /^a\.json: text: contents: must be JSON: [^\n]{1,250}$/,
    );
  });

  it('may be called .yaml, and YAML may begin like JSON', async () => {
    const json = await readManifest('a.yaml', ` \n${JSON.stringify(object('a'))}\n`);
    assert.deepEqual([[...json.objects.keys()], json.whole], [['Service demo/a'], true]);
    const yaml = await readManifest(
      'a.yaml',
      '{apiVersion: v1, kind: Service, metadata: {name: b}}\n---\n# end\n',
    );
    assert.deepEqual([[...yaml.objects.keys()], yaml.whole], [['Service default/b'], true]);
  });
});
