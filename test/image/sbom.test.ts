// The bill of materials of the image against its root filesystem: every package of Debian and of npm, Node and the addon, and nothing else.
// Needs: namespace, image, cycloneDx
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { invalidInCycloneDx } from '../support/cycloneDx/invalid.js';
import { IMAGE } from '../support/deployment/containerConfiguration.js';
import { ROOT } from '../support/paths.js';

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly components?: readonly Component[];
}

interface Document {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

const ROOTFS = join(IMAGE, 'rootfs');
const PROXY = join(ROOTFS, 'opt/kube-netlink-proxy');

const bill = () =>
  execFileSync(process.execPath, ['scripts/sbom.mjs', '--image', ROOTFS], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1700000000' },
  });

let text: string;
let components: readonly Component[];

before(() => {
  text = bill();
  components = (JSON.parse(text) as Document).components;
});

const named = (prefix: string) =>
  components
    .filter(({ purl = '' }) => purl.startsWith(prefix))
    .map(({ name, version }) => `${name} ${version}`)
    .sort();

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

test('it has every package of Debian, as dpkg lists them, and no other', () => {
  const format = [
    '--admindir',
    join(ROOTFS, 'var/lib/dpkg'),
    '-W',
    '-f',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own
    '${db:Status-Abbrev}${Package} ${Version}\n',
  ];
  const lines = execFileSync('dpkg-query', format, { encoding: 'utf8' }).trimEnd().split('\n');
  const installed = lines.filter((line) => line.startsWith('ii ')).map((line) => line.slice(3));
  assert.ok(installed.length > 80, `dpkg lists ${installed.length}`);
  assert.deepEqual(named('pkg:deb/'), installed.sort());
});

test('it has every package.json of the image, and the packages in the bundle', () => {
  // Node follows links there, such as /dev/fd.
  const files = ['etc', 'home', 'opt', 'root', 'srv', 'usr', 'var']
    .flatMap((folder) =>
      readdirSync(join(ROOTFS, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => /(^|\/)package\.json$/.test(path) && path !== 'opt/kube-netlink-proxy/package.json')
    .map((path) => JSON.parse(readFileSync(join(ROOTFS, path), 'utf8')) as { name: string; version: string });
  const licenses = readFileSync(join(PROXY, 'dist/command/LICENSES'), 'utf8');
  const bundled = [...licenses.matchAll(/^(\S+ \d+\.\d+\.\d+\S*) \([^)]+\)$/gm)].map(([, name = '']) => name);
  assert.ok(bundled.some((name) => name.startsWith('prom-client ')));
  assert.deepEqual(
    named('pkg:npm/'),
    [...files.map(({ name, version }) => `${name} ${version}`), ...bundled].sort(),
  );
});

test('Node and the addon are there with their hashes, and Node with its libraries', () => {
  const node = components.find(({ name }) => name === 'node');
  assert.deepEqual(node?.hashes, [{ alg: 'SHA-256', content: sha256(join(ROOTFS, 'usr/local/bin/node')) }]);
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  assert.equal(node?.version, /^ARG NODE_IMAGE=\S+:([\d.]+)-/m.exec(dockerfile)?.[1]);
  const libraries = node?.components?.map(({ name }) => name) ?? [];
  for (const name of ['openssl', 'uv', 'v8', 'zlib']) assert.ok(libraries.includes(name), `${libraries}`);
  const files = readdirSync(join(PROXY, 'prebuilds'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.node'),
  );
  assert.deepEqual(
    components.filter(({ type }) => type === 'file').map(({ name, hashes }) => [name, hashes?.[0]?.content]),
    files.map((path) => [`prebuilds/${path}`, sha256(join(PROXY, 'prebuilds', path))]),
  );
});

test('every other component is Debian itself, and the document has each once', () => {
  const rest = components.filter(({ type, purl = '' }) => !/^pkg:(deb|npm)\//.test(purl) && type !== 'file');
  assert.deepEqual(
    rest.map(({ type, name }) => `${type} ${name}`),
    ['operating-system debian', 'platform node'],
  );
  const references = (JSON.parse(text) as { components: { 'bom-ref': string }[] }).components.map(
    (each) => each['bom-ref'],
  );
  assert.equal(new Set(references).size, references.length);
});

test('no program of the image belongs to nothing: each file below /usr and /opt is of a component', () => {
  const lists = readdirSync(join(ROOTFS, 'var/lib/dpkg/info')).filter((name) => name.endsWith('.list'));
  const owned = new Set(
    lists.flatMap((name) => readFileSync(join(ROOTFS, 'var/lib/dpkg/info', name), 'utf8').split('\n')),
  );
  const own =
    /^\/(opt\/kube-netlink-proxy\/|usr\/local\/(bin\/(node|kube-proxy|kube-netlink-proxy|iptables-flavour)$|sbin\/|lib\/iptables-))/;
  const programs = readdirSync(join(ROOTFS, 'usr'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOTFS.length));
  // Debian has merged /usr: packages name /bin and /lib.
  const names = (path: string) => [path, path.replace(/^\/usr\/(bin|sbin|lib|lib64)\//, '/$1/')];
  const unknown = programs.filter((path) => !own.test(path) && !names(path).some((name) => owned.has(name)));
  // Caches and what the installation of packages makes.
  assert.deepEqual(
    unknown.filter(
      (path) => !/^\/usr\/(share\/(info|locale|man|doc)\/|lib\/locale\/)|\.(pyc|cache)$/.test(path),
    ),
    [],
  );
});

test('it follows the schema of CycloneDX', async () => {
  assert.equal(await invalidInCycloneDx(text), null);
});

test('equal contents give equal bytes', () => {
  assert.equal(bill(), text);
});
