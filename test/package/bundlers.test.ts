// The package in bundles, in test runners and in threads: the binary is found, or the line of docs/library.md is enough.
// Needs: package
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { prepared } from '../support/paths.js';
import { emptyProject, install, nodePath, type Project, run, succeed } from './installedPackage.js';

const TOOLS = prepared('bundlers/node_modules');

/** Prints true. It has no await on its first level, which a bundle of CommonJS could not have. */
const PROGRAM = `
  import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
  import { FakeIpvs } from 'kube-netlink-proxy/testing';
  const main = async () => {
    const rtnetlink = await openRtnetlink();
    console.log(new FakeIpvs() && (await rtnetlink.listLinks()).some(({ name }) => name === 'lo'));
    await rtnetlink.close();
  };
  main().catch((error) => {
    console.log(error.message);
    process.exitCode = 1;
  });`;

let project: Project;
before(() => {
  project = emptyProject('node24');
  succeed(install(project, 'npm11', '--ignore-scripts'));
  write('program.mjs', PROGRAM);
});
after(() => project.remove());

function write(name: string, text: string): string {
  const path = join(project.folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs a tool's script in the project. */
function tool(script: string, ...args: readonly string[]): string {
  return succeed(run(project.folder, nodePath('node24'), join(TOOLS, script), ...args));
}

const imported = (name: string) => JSON.stringify(join(TOOLS, name));

/** How each bundler makes \`output\` of the program: the words behind its name are those of docs/library.md. */
const BUNDLERS: Readonly<Record<string, (output: string, keepOut: boolean) => void>> = {
  'esbuild to ES modules': (output, keepOut) => esbuild(output, keepOut, 'esm'),
  'esbuild to CommonJS': (output, keepOut) => esbuild(output, keepOut, 'cjs'),
  'webpack to ES modules': (output, keepOut) =>
    webpack(
      output,
      keepOut && 'module-import',
      `experiments: { outputModule: true },`,
      `library: { type: 'module' },`,
    ),
  'webpack to CommonJS': (output, keepOut) => webpack(output, keepOut && 'node-commonjs', '', ''),
  'rollup to ES modules': (output, keepOut) => rollup(output, keepOut, 'es'),
  'rollup to CommonJS': (output, keepOut) => rollup(output, keepOut, 'cjs'),
};

function esbuild(output: string, keepOut: boolean, format: string): void {
  const options = [
    '--bundle',
    '--platform=node',
    `--format=${format}`,
    `--outfile=${output}`,
    '--log-level=error',
  ];
  tool(
    'esbuild/bin/esbuild',
    'program.mjs',
    ...options,
    ...(keepOut ? ['--external:kube-netlink-proxy'] : []),
  );
}

function webpack(output: string, externals: string | false, top: string, inOutput: string): void {
  const config = write(
    'webpack.config.mjs',
    `import webpack from ${imported('webpack/lib/index.js')};
     import { dirname, basename } from 'node:path';
     const output = ${JSON.stringify(output)};
     const config = {
       mode: 'production', target: 'node20', entry: './program.mjs', ${top}
       output: { path: dirname(output), filename: basename(output), ${inOutput} },
       ${externals ? `externalsType: '${externals}', externals: /^kube-netlink-proxy/,` : ''}
     };
     webpack(config, (error, stats) => {
       if (error || stats.hasErrors()) throw error ?? new Error(stats.toString());
     });`,
  );
  succeed(run(project.folder, nodePath('node24'), config));
}

function rollup(output: string, keepOut: boolean, format: string): void {
  const config = write(
    'rollup.config.mjs',
    `import resolve from ${imported('@rollup/plugin-node-resolve/dist/es/index.js')};
     import commonjs from ${imported('@rollup/plugin-commonjs/dist/es/index.js')};
     import { rollup } from ${imported('rollup/dist/es/rollup.js')};
     const bundle = await rollup({
       input: 'program.mjs', plugins: [resolve({ preferBuiltins: true }), commonjs()],
       ${keepOut ? 'external: /^kube-netlink-proxy/,' : ''}
       onwarn() {},
     });
     await bundle.write({ file: ${JSON.stringify(output)}, format: '${format}', inlineDynamicImports: true });`,
  );
  succeed(run(project.folder, nodePath('node24'), config));
}

describe('a bundle', () => {
  let apart: string;
  before(() => {
    apart = mkdtempSync(join(tmpdir(), 'knp-bundle-'));
  });
  after(() => rmSync(apart, { recursive: true }));

  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    const file = name.endsWith('CommonJS') ? 'bundle.cjs' : 'bundle.mjs';
    const start = (path: string, env: NodeJS.ProcessEnv = {}) =>
      run('/', 'env', ...words(env), nodePath('node24'), path);

    it(`of ${name} without the package finds it where it is installed`, () => {
      const output = join(project.folder, 'out', name.replaceAll(' ', '-'), file);
      bundle(output, true);
      assert.equal(succeed(start(output)), 'true\n');
    });

    it(`of ${name} with all of it finds the binary beside it, and tells how to put it there`, () => {
      const folder = join(apart, name.replaceAll(' ', '-'));
      mkdirSync(folder);
      const output = join(folder, file);
      bundle(output, false);
      // On the machine of the bundler, webpack's bundle knows the place of the package.
      const hidden = join(project.folder, 'hidden');
      project.rename(hidden);
      try {
        const missing = start(output);
        assert.equal(missing.status, 1);
        assert.match(
          missing.stdout,
          /the native addon .* cannot be loaded: .*; copy kube-netlink-proxy\/prebuilds\/linux-/,
        );
        const prebuilds = join(hidden, `prebuilds/linux-${process.arch}`);
        const [binary = ''] = readdirSync(prebuilds).filter((each) => each.includes('glibc'));
        const variable = { KUBE_NETLINK_PROXY_ADDON: join(prebuilds, binary) };
        assert.equal(succeed(start(output, variable)), 'true\n');
        for (const each of readdirSync(prebuilds)) copyFileSync(join(prebuilds, each), join(folder, each));
        assert.equal(succeed(start(output)), 'true\n');
      } finally {
        project.rename(project.installed, hidden);
      }
    });
  }
});

function words(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}

const TEST = `
  import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
  test('links are listed', async () => {
    const rtnetlink = await openRtnetlink();
    expect((await rtnetlink.listLinks()).map(({ name }) => name)).toContain('lo');
    await rtnetlink.close();
  });`;

describe('a test of', () => {
  it('jest, which is an ES module, uses the package', () => {
    write('jest.config.json', '{ "testMatch": ["**/*.jest.mjs"], "transform": {} }');
    write('links.jest.mjs', TEST);
    const jest = join(TOOLS, 'jest/bin/jest.js');
    const command = [nodePath('node24'), '--experimental-vm-modules', jest, '--config', 'jest.config.json'];
    const { status, stdout, stderr } = run(project.folder, command[0] ?? '', ...command.slice(1));
    assert.equal(status, 0, stdout + stderr);
    assert.match(stderr, /Tests: +1 passed/);
  });

  it('vitest uses the package', () => {
    write('links.vitest.mjs', TEST);
    write('vitest.config.mjs', `export default { test: { include: ['*.vitest.mjs'], globals: true } };`);
    assert.match(tool('vitest/vitest.mjs', 'run'), /Tests +1 passed/);
  });
});

it('two threads, each of which imports the package, use it at the same time', () => {
  write(
    'threads.mjs',
    `import { Worker, isMainThread, parentPort } from 'node:worker_threads';
     import { fileURLToPath } from 'node:url';
     import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
     if (isMainThread) {
       for (let i = 0; i < 2; i++) new Worker(fileURLToPath(import.meta.url)).on('message', console.log);
     } else {
       const rtnetlink = await openRtnetlink();
       parentPort.postMessage((await rtnetlink.listLinks()).some(({ name }) => name === 'lo'));
       await rtnetlink.close();
     }`,
  );
  assert.equal(succeed(project.run('node', 'threads.mjs')), 'true\ntrue\n');
});

it('a Node that package.json excludes cannot require the package, and the first one that it admits can', () => {
  const script = `console.log(typeof require('kube-netlink-proxy/ipvs').openIpvs)`;
  const required = (node: string) => run(project.folder, nodePath(node), '-e', script);
  const excluded = required('node22.11');
  assert.notEqual(excluded.status, 0);
  assert.match(excluded.stderr, /ERR_REQUIRE_ESM/);
  assert.equal(succeed(required('node22.12')), 'function\n');
});
