// The manifest source on real files: its reports at the start and after an edit.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { describeProblem } from '../../../../src/kernel/errors.js';
import { identityOf } from '../../../../src/proxy/source/manifestFile.js';
import { ManifestSource } from '../../../../src/proxy/source/manifests.js';
import { PATIENCE } from '../../../laboratory/patience.js';

const service = (name: string, port: unknown = 80) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'demo', name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { clusterIP: '10.96.0.1', ports: [{ port }] },
  });

let folder: string;
let source: ManifestSource | undefined;
const told: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'knp-manifests-'));
  told.length = 0;
});

afterEach(() => {
  source?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(path = folder): Promise<void> {
  source = new ManifestSource({ path });
  await source.start({
    changed: (changes) => told.push(...changes.map(({ type, object }) => `${type} ${identityOf(object)}`)),
    synced: () => told.push('synced'),
    problems: (problems) => told.push(...problems.map(describeProblem)),
    mended: (problems) => told.push(...problems.map((problem) => `mended ${describeProblem(problem)}`)),
  });
}

/** The next reports; fails if there are none. */
async function next(): Promise<string[]> {
  const deadline = Date.now() + PATIENCE;
  while (told.length === 0) {
    assert.ok(Date.now() < deadline, 'nothing was reported');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return told.splice(0);
}

/** Nothing is reported for long enough that a watch would have noticed. */
async function silence(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.deepEqual(told, []);
}

const write = (name: string, text: string) => {
  writeFileSync(join(folder, 'new'), text);
  renameSync(join(folder, 'new'), join(folder, name));
};

describe('at the start', () => {
  it('reports every object of every manifest, then that these were all', async () => {
    write('a.yaml', `${service('a')}\n---\n${service('b')}\n---\n# nothing\n`);
    write('b.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [JSON.parse(service('c'))] }));
    write('notes.txt', service('d'));
    await start();
    assert.deepEqual(told, ['set Service demo/a', 'set Service demo/b', 'set Service demo/c', 'synced']);
  });

  it('gives others their turn while it reads a long file', async () => {
    write('long.yaml', Array.from({ length: 300 }, (_, i) => service(`s${i}`)).join('\n---\n'));
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    await start();
    clearInterval(counting);
    assert.equal(told.length, 301);
    assert.ok(turns >= 3, `${turns} turns`);
  });

  it('leaves out only the document that makes no sense', async () => {
    write('a.yaml', `${service('a')}\n---\nkind: *nothing\n---\n${service('b')}\n`);
    await start();
    assert.deepEqual(told.slice(1), ['set Service demo/a', 'set Service demo/b', 'synced']);
    assert.match(told[0] ?? '', /^a\.yaml: text: line 2, column 1: .*alias/);
  });

  it('refuses a path that is not there', async () => {
    await assert.rejects(start(join(folder, 'nowhere')), { code: 'ENOENT' });
  });

  it('names file, object, field and rule of everything that is left out, and reports the rest', async () => {
    write('bad.yaml', `${service('a', 70000)}\n---\n${service('b')}\n---\nkind: [\n`);
    await start();
    assert.equal(told.length, 5);
    assert.match(
      told[0] ?? '',
      /^bad\.yaml: Service demo\/a: spec\.ports\[0\]\.port: must be an integer from 1 to 65535, found 70000$/,
    );
    assert.match(told[1] ?? '', /^bad\.yaml: text: line \d+, column \d+: /);
    assert.deepEqual(told.slice(2), ['set Service demo/a', 'set Service demo/b', 'synced']);
  });

  it('takes an object that two files hold differently from the first, and reports it', async () => {
    write('a.yaml', service('a'));
    write('b.yaml', service('a', 81));
    await start();
    assert.deepEqual(told, [
      'b.yaml: Service demo/a: metadata.name: must not be in several files with different contents',
      'set Service demo/a',
      'synced',
    ]);
  });
});

describe('after the start', () => {
  it('reports only the objects that an edit changed', async () => {
    write('a.yaml', `${service('a')}\n---\n${service('b')}`);
    await start();
    told.length = 0;
    write('a.yaml', `${service('b', 81)}\n---\n${service('c')}\n---\n${service('a')}`);
    assert.deepEqual(await next(), ['set Service demo/b', 'set Service demo/c']);
    write('a.yaml', service('c'));
    assert.deepEqual(await next(), ['delete Service demo/b', 'delete Service demo/a']);
    unlinkSync(join(folder, 'a.yaml'));
    assert.deepEqual(await next(), ['delete Service demo/c']);
    write('z.yml', service('z'));
    assert.deepEqual(await next(), ['set Service demo/z']);
  });

  it('deletes nothing while a file makes no sense or cannot be read', async () => {
    write('a.yaml', `${service('a')}\n---\n${service('b')}`);
    await start();
    told.length = 0;
    write('a.yaml', `${service('a', 81)}\n---\nkind: [`);
    const [problem, ...changes] = await next();
    assert.match(problem ?? '', /^a\.yaml: text: line/);
    assert.deepEqual(changes, ['set Service demo/a']);
    unlinkSync(join(folder, 'a.yaml'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'a.yaml'));
    assert.match((await next())[0] ?? '', /a\.yaml: file: contents: must be readable: ENOENT/);
    await silence();
  });

  it('keeps the last readable value of a field that an edit made unreadable, and reports it until it is corrected', async () => {
    write('a.yaml', `${service('a')}\n---\n${service('b')}`);
    await start();
    told.length = 0;
    const rule =
      'spec.ports[0].port: must be an integer from 1 to 65535 (the last readable value stays in use)';
    write('a.yaml', `${service('a', 'http')}\n---\n${service('b', 81)}`);
    assert.deepEqual(await next(), [`a.yaml: Service demo/a: ${rule}, found "http"`, 'set Service demo/b']);
    write('a.yaml', `${service('a', 82)}\n---\n${service('b', 81)}`);
    assert.deepEqual(await next(), [
      `mended a.yaml: Service demo/a: ${rule}, found "http"`,
      'set Service demo/a',
    ]);
  });

  it('follows links within the folder, as those of a mounted ConfigMap, and none that leave it', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'knp-outside-'));
    try {
      writeFileSync(join(outside, 'c.yaml'), service('c'));
      mkdirSync(join(folder, '..1'));
      writeFileSync(join(folder, '..1', 'a.yaml'), service('a'));
      symlinkSync('..1', join(folder, '..data'));
      symlinkSync('..data/a.yaml', join(folder, 'a.yaml'));
      symlinkSync(join(outside, 'c.yaml'), join(folder, 'c.yaml'));
      await start();
      assert.match(
        told.splice(0).join('\n'),
        /c\.yaml.*it is a link that leaves the folder\nset Service demo\/a\nsynced/,
      );
      unlinkSync(join(folder, 'c.yaml'));
      assert.match((await next())[0] ?? '', /^mended .*leaves the folder/);
      mkdirSync(join(folder, '..2'));
      writeFileSync(join(folder, '..2', 'a.yaml'), service('b'));
      symlinkSync('..2', join(folder, '..data.new'));
      renameSync(join(folder, '..data.new'), join(folder, '..data'));
      assert.deepEqual(await next(), ['delete Service demo/a', 'set Service demo/b']);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('goes on with other files while one is nested too deeply', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    write('a.json', service('a').replace(/"spec":.*$/, `"spec":${deep}}`));
    await start();
    assert.match(told.splice(0).join('\n'), /^a\.json: text: line 1: must not be nested/);
    write('b.yaml', service('b'));
    assert.deepEqual(await next(), ['set Service demo/b']);
  });

  it('follows a single file through its replacement, and no other file', async () => {
    write('a.yaml', service('a'));
    await start(join(folder, 'a.yaml'));
    told.length = 0;
    write('b.yaml', service('b'));
    await silence();
    write('a.yaml', service('c'));
    assert.deepEqual(await next(), ['delete Service demo/a', 'set Service demo/c']);
  });

  it('reports nothing after a stop', async () => {
    write('a.yaml', service('a'));
    await start();
    told.length = 0;
    source?.stop();
    write('a.yaml', service('b'));
    await silence();
  });
});
