// The package as npm publishes it, installed into an empty project on a machine with a compiler.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from '../support/paths.js';

const PROJECT = mkdtempSync(join(tmpdir(), 'knp-package-'));
const INSTALLED = join(PROJECT, 'node_modules/kube-netlink-proxy');

// Unoptimized: the addon is compiled twice.
const BUILD = { CXXFLAGS: '-O0', npm_config_jobs: String(availableParallelism()) };

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(cwd: string, command: string, ...args: readonly string[]): Outcome {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  return spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...environment, ...BUILD } });
}

function succeed(outcome: Outcome): string {
  assert.equal(outcome.status, 0, outcome.stdout + outcome.stderr);
  return outcome.stdout;
}

/** Lists the links of this machine with the installed package. */
function listLinks(): Outcome {
  const script = `
    import { openRtnetlink } from 'kube-netlink-proxy/rtnetlink';
    import { openIpvs } from 'kube-netlink-proxy/ipvs';
    import { FakeKernel } from 'kube-netlink-proxy/testing';
    const { openIpset } = await import('kube-netlink-proxy/ipset');
    const { openConntrack } = await import('kube-netlink-proxy/conntrack');
    const { createProxy } = await import('kube-netlink-proxy');
    const links = await (await openRtnetlink()).listLinks();
    const fakes = (await new FakeKernel().rtnetlink.listLinks()).map(({ name }) => name);
    console.log(links.map(({ name }) => name).includes('lo'), fakes.join());
    console.log([openIpvs, openIpset, openConntrack, createProxy].map((each) => typeof each).join());`;
  return run(PROJECT, process.execPath, '--input-type=module', '-e', script);
}

const WORKS = 'true lo\nfunction,function,function,function\n';

before(() => {
  succeed(run(ROOT, 'npm', 'pack', '--pack-destination', PROJECT));
  writeFileSync(join(PROJECT, 'package.json'), '{ "private": true }');
  succeed(
    run(PROJECT, 'sh', '-c', 'npm install --prefer-offline --no-audit --no-fund ./kube-netlink-proxy-*.tgz'),
  );
});

after(() => rmSync(PROJECT, { recursive: true, force: true }));

test('an installed package is built from its sources and works', () => {
  assert.equal(succeed(listLinks()), WORKS);
});

test('without the addon, the command that the error names builds it', () => {
  rmSync(join(INSTALLED, 'build'), { recursive: true });
  const missing = listLinks();
  assert.notEqual(missing.status, 0);
  const [, command = ''] =
    /the native addon cannot be loaded from \S+: build it with `([^`]+)`/.exec(missing.stderr) ?? [];
  assert.notEqual(command, '', missing.stderr);
  succeed(run(PROJECT, 'sh', '-c', command));
  assert.equal(succeed(listLinks()), WORKS);
});

test('the package holds what is needed, and no tests, fuzzers or tools of development', () => {
  const [packed] = JSON.parse(succeed(run(ROOT, 'npm', 'pack', '--dry-run', '--json'))) as {
    files: { path: string }[];
  }[];
  const paths = packed?.files.map(({ path }) => path) ?? [];
  assert.ok(paths.includes('binding.gyp') && paths.includes('native/sources.txt'));
  assert.ok(paths.includes('dist/src/cli/main.js') && paths.includes('NOTICE') && paths.includes('LICENSE'));
  assert.deepEqual(
    paths.filter((path) => !/^(dist\/src|native|prebuilds)\/|^[^/]+$/.test(path) || /fuzz|test\//.test(path)),
    [],
  );
});
