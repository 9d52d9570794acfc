// The bill of materials of the package against the packed package and its installation.
// Needs: package, cycloneDx
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { invalidInCycloneDx } from '../support/cycloneDx/invalid.js';
import { ROOT } from '../support/paths.js';
import { emptyProject, install, type Project, succeed } from './installedPackage.js';

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly content: string }[];
  readonly components?: readonly Component[];
}

let project: Project;
let text: string;
let components: readonly Component[];

before(() => {
  project = emptyProject('node24');
  succeed(install(project, 'npm11', '--ignore-scripts'));
  const options = {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: '1700000000' },
  } as const;
  text = execFileSync(process.execPath, ['scripts/sbom.mjs'], options);
  components = (JSON.parse(text) as { components: Component[] }).components;
});
after(() => project.remove());

const namesOf = (type: string) =>
  components
    .filter((component) => component.type === type)
    .map(({ name, version }) => `${name} ${version}`)
    .sort();

test('it has what npm installs beside the package, and what the bundle contains, and no other package', () => {
  const modules = join(project.installed, '..');
  const beside = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)package\.json$/.test(path) && !path.startsWith('kube-netlink-proxy/'))
    .map((path) => JSON.parse(readFileSync(join(modules, path), 'utf8')) as { name: string; version: string })
    .map(({ name, version }) => `${name} ${version}`);
  const licenses = readFileSync(join(project.installed, 'dist/command/LICENSES'), 'utf8');
  const bundled = [...licenses.matchAll(/^(\S+ \d+\.\d+\.\d+\S*) \([^)]+\)$/gm)].map(([, name = '']) => name);
  assert.ok(beside.length > 0 && bundled.length > 10);
  assert.deepEqual(namesOf('library'), [...beside, ...bundled].sort());
});

test('it has each binary with its hash, and the libraries in it', () => {
  const folder = join(project.installed, 'prebuilds');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.node'),
  );
  const listed = components.filter(({ type }) => type === 'file');
  assert.deepEqual(
    listed.map(({ name, hashes }) => [name, hashes?.[0]?.content]),
    files.sort().map((path) => [
      `prebuilds/${path}`,
      createHash('sha256')
        .update(readFileSync(join(folder, path)))
        .digest('hex'),
    ]),
  );
  for (const { components: parts = [] } of listed) {
    assert.deepEqual(
      parts.map(({ name }) => name),
      ['node-addon-api', 'libc++', 'libc++abi', 'libunwind', 'compiler-rt'],
    );
  }
});

test('it follows the schema of CycloneDX, which a misspelt field or a wrong type breaks', async () => {
  assert.equal(await invalidInCycloneDx(text), null);
  const document = JSON.parse(text);
  assert.ok(await invalidInCycloneDx(JSON.stringify({ ...document, component: [] })));
  assert.ok(await invalidInCycloneDx(JSON.stringify({ ...document, version: 'first' })));
});
