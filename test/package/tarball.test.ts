// The tarball: its files, and the types and modules that its description promises.
// Needs: package
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../support/paths.js';
import { printedOnSIGUSR1 } from '../support/processes/inspector.js';
import { emptyProject, install, type Outcome, type Project, succeed, tarball } from './installedPackage.js';

let project: Project;
before(() => {
  project = emptyProject('node24');
  succeed(install(project, 'npm11', '--ignore-scripts'));
});
after(() => project.remove());

/** Runs a development dependency of this repository. */
function tool(path: string, ...args: readonly string[]): Outcome {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const command = [join(ROOT, 'node_modules', path), ...args];
  return spawnSync(process.execPath, command, { cwd: project.folder, encoding: 'utf8', env: environment });
}

/** Paths in the package, without those of the packages that it depends on. */
function files(): string[] {
  const names = readdirSync(project.installed, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(project.installed, name)).isFile()).sort();
}

const description = () => JSON.parse(readFileSync(join(project.installed, 'package.json'), 'utf8'));

test('it holds modules, types, the command, sources of the addon, binaries and licenses', () => {
  const kinds = [
    /^(LICENSE|NOTICE|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|package\.json)$/,
    /^docs\/[^/]+\.(md|svg)$|^docs\/decisions\/[^/]+\.md$|^(deploy|examples)\/.+\.(md|ya?ml|ts|json|conf)$/,
    /^deploy\/apparmor\/kube-netlink-proxy$/,
    /^dist\/src\/.*\.(js|d\.ts)$/,
    /^dist\/command\/(main\.js|parts\/[^/]+\.js|LICENSES|kube-netlink-proxy\.8)$/,
    /^native\/.*\.(cc|h)$|^native\/(addon\.gypi|sources\.txt|units\.mjs)$/,
    /^prebuilds\/linux-(x64|arm64)\/[^/]+\.node$/,
    /^scripts\/build-from-source\.(mjs|lock\.json)$/,
  ];
  const paths = files();
  assert.deepEqual(
    paths.filter((path) => !kinds.some((kind) => kind.test(path))),
    [],
  );
  assert.deepEqual(
    paths.filter(
      (path) => /fuzz|test|\.map$|binding\.gyp$/.test(path) && !/^docs\//.test(path) && !isFake(path),
    ),
    [],
  );
  // One of them was once left out.
  for (const path of ['LICENSE', 'NOTICE', 'dist/command/LICENSES', 'scripts/build-from-source.lock.json'])
    assert.ok(paths.includes(path), path);
});

test('the links of its README, and of the documents of the library, lead to files in it', () => {
  const paths = ['README.md', 'docs/library.md', 'docs/cookbook.md'];
  const broken = paths.flatMap((path) => {
    const text = readFileSync(join(project.installed, path), 'utf8').replaceAll(
      /^( *)```[\s\S]*?^\1```$/gm,
      '',
    );
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].map(([, link = '']) => link);
    const files = links.filter((link) => !/^\w+:/.test(link)).map((link) => join(dirname(path), link));
    return files
      .filter((file) => !existsSync(join(project.installed, file)))
      .map((file) => `${path}: ${file}`);
  });
  assert.deepEqual(broken, []);
});

/** Fakes of the kernel are a part of the library. */
const isFake = (path: string) => path.startsWith('dist/src/kernel/testing/');

test('it holds every module that the exports import, and no other', () => {
  const { exports } = description();
  const open = Object.values<string>(exports).map((path) => normalize(path));
  const imported = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (imported.has(path)) continue;
    imported.add(path);
    if (path.endsWith('.js')) open.push(path.replace(/\.js$/, '.d.ts'));
    const folder = dirname(path);
    const relative = importsOf(path).filter((specifier) => specifier.startsWith('.'));
    open.push(...relative.map((specifier) => join(folder, specifier)));
  }
  const modules = files().filter((path) => path.startsWith('dist/src/'));
  assert.deepEqual(modules, [...imported].sort());
});

test('every module of the library imports only packages that its description names', () => {
  const { dependencies, peerDependencies } = description();
  const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const missing = files()
    .filter((path) => path.startsWith('dist/src/'))
    .flatMap((path) => importsOf(path).map((specifier) => ({ path, specifier })))
    .filter(({ specifier }) => !/^\.|^node:/.test(specifier) && !known.has(specifier));
  assert.deepEqual(missing, []);
});

test('no module names a source map, because there is none', () => {
  const named = files().filter((path) => {
    const text = /\.js$/.test(path) ? readFileSync(join(project.installed, path), 'utf8') : '';
    return /^\/\/# sourceMappingURL=/m.test(text);
  });
  assert.deepEqual(named, []);
  // The modules of the checkout name theirs again.
  assert.match(
    readFileSync(join(ROOT, 'dist/src/proxy/index.js'), 'utf8'),
    /\n\/\/# sourceMappingURL=index\.js\.map\n?$/,
  );
});

test('a global installation has the man page that the command writes', () => {
  const prefix = join(project.folder, 'global');
  succeed(install(project, 'npm11', '--ignore-scripts', '--global', '--prefix', prefix));
  const page = readFileSync(join(prefix, 'share/man/man8/kube-netlink-proxy.8'), 'utf8');
  assert.match(page, /^\.TH KUBE\\-NETLINK\\-PROXY 8 /);
  assert.equal(page, succeed(project.run('node', join(prefix, 'bin/kube-netlink-proxy'), 'man')));
});

function importsOf(path: string): string[] {
  const text = readFileSync(join(project.installed, path), 'utf8');
  const statements = /(?:^(?:import|export|\}).*\bfrom |^import |\b(?:import|require)\()['"]([^'"\n]+)['"]/gm;
  return [...text.matchAll(statements)].map(([, name = '']) => name);
}

test('only node-gyp-build is installed with it; the others are optional', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = description();
  assert.deepEqual(Object.keys(dependencies), ['node-gyp-build']);
  assert.deepEqual(Object.keys(peerDependenciesMeta), Object.keys(peerDependencies));
});

test('the licenses of all packages in the command are there', () => {
  const licenses = readFileSync(join(project.installed, 'dist/command/LICENSES'), 'utf8');
  for (const name of ['pino', 'prom-client', 'yaml', 'https-proxy-agent', '@opentelemetry/api']) {
    assert.match(licenses, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC|Apache-2\\.0)\\)$`, 'm'));
  }
});

test('publint has nothing to say', async () => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: project.installed, strict: true });
  assert.deepEqual(messages, []);
});

test('the types of every export are right: Are the types wrong?', () => {
  // ES modules only; require() of them works in every supported Node.
  const outcome = tool(
    '@arethetypeswrong/cli/dist/index.js',
    tarball(),
    '--profile',
    'esm-only',
    '--no-emoji',
    // Otherwise the width of the terminal selects the form of the table.
    ...['--format', 'ascii'],
  );
  const said = succeed(outcome);
  for (const resolution of ['node16 (from ESM)', 'bundler']) {
    const right = said.split('\n').filter((line) => line.startsWith(`${resolution}: OK`));
    assert.equal(right.length, Object.keys(description().exports).length, said);
  }
});

const COMPILED = [
  { module: 'node16', resolution: 'node16' },
  { module: 'esnext', resolution: 'bundler' },
];

for (const { module, resolution } of COMPILED) {
  test(`programs that import every export compile with moduleResolution ${resolution}`, () => {
    // Without --skipLibCheck: no export needs the types of a package that is optional.
    compile(resolution, Object.keys(description().exports), [
      '--module',
      module,
      '--moduleResolution',
      resolution,
    ]);
  });
}

/** Compiles a program that imports the exports, in a project that has no other types than Node's. */
function compile(name: string, subpaths: readonly string[], options: readonly string[]): void {
  const folder = join(project.folder, name);
  const types = join(folder, 'node_modules/@types');
  mkdirSync(types, { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(types, 'node'));
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'));
  const imports = subpaths.map(
    (subpath, i) => `import * as subpath${i} from 'kube-netlink-proxy${subpath.slice(1)}';`,
  );
  const use = `export const subpaths: object[] = [${subpaths.map((_, i) => `subpath${i}`).join(', ')}];`;
  // Without types, an argument of any type would be right.
  const wrong = `import { openIpvs } from 'kube-netlink-proxy/ipvs';
    // @ts-expect-error: the argument is an object.
    void openIpvs(1);`;
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'program.ts'), [...imports, use, wrong].join('\n'));
  const common = ['--strict', '--noEmit', '--target', 'es2023', '--types', 'node', '--typeRoots', types];
  succeed(tool('typescript/bin/tsc', ...common, ...options, join(folder, 'program.ts')));
}

test('SIGUSR1 opens no inspector in its command', async () => {
  const command = join(project.installed, 'dist/command/main.js');
  assert.doesNotMatch(await printedOnSIGUSR1(command), /Debugger listening/);
});
