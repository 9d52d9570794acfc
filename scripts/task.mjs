// `npm run task -- NAME ARGS…`: runs one of the commands that package.json does not name. Without a name, it lists them.

import { Failure, reportFailures } from './lib/failure.mjs';

/** @type {Readonly<Record<string, readonly [what: string, script: string, ...args: string[]]>>} */
const TASKS = {
  'build:native': ['the addon, if its sources have changed → build/Release/', 'build-native.mjs'],
  'build:ts': [
    'TypeScript, what has changed → dist/',
    '../node_modules/typescript/bin/tsc',
    ...['-p', 'tsconfig.json'],
  ],
  bundle: ['the command of the package → dist/command/', 'bundle.mjs'],
  prebuild: ['the binaries of the package for all platforms → prebuilds/; --help', 'prebuild.mjs'],
  image: [
    'the container image for its tests, without a registry → .cache/image/unpacked/; --help',
    'image.mjs',
  ],
  sbom: ['the bill of materials of the package, or with --image of an image; --help', 'sbom.mjs'],
  chart: ['the chart and the index of a Helm repository → dist/chart/; --help', 'chart.mjs'],
  release: ['check, pin, publish: docs/release.md; --help', 'release.mjs'],
  api: ['the API reports, one for each export of the package → docs/api/', 'api.mjs'],
  docs: ['pages of every export, from the doc comments → dist/docs/', 'docs.mjs'],
  layouts: ['the layouts of records, for C++ → native/*/layouts.h', 'layouts.mjs'],
  seccomp: [
    'record: the system calls of agents in every mode → deploy/seccomp/; write, check; --help',
    'seccomp.mjs',
  ],
  schedulers: ['the load figures of docs/schedulers.md, from a simulation; --help', 'schedulers.mjs'],
  'flow-table': [
    'what long and short connections cost in nftables mode, with and without a flow table',
    'flowTable.mjs',
  ],
  judge: [
    'histories of a cluster with faults on a proxy, and a verdict on what clients saw; --help',
    'judge.mjs',
  ],
  'count-functions': [
    'the functions and files that one added endpoint calls, in each mode; --help',
    'countFunctions.mjs',
  ],
  'nft-tests': ["nft's own tests, which are not ours to keep: PATH [--reasons]", 'nftTests.mjs'],
  all: [
    'types of the scripts, lint, format, the tests of npm test with all kernel tests in QEMU, and the image',
    'all.mjs',
  ],
};

const LIST = `Usage: npm run task -- NAME [ARGS…]

${Object.entries(TASKS)
  .map(([name, [what]]) => `  ${name.padEnd(16)} ${what}\n`)
  .join('')}`;

process.exitCode = await reportFailures('task', async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || name === '--help') {
    process.stdout.write(LIST);
    return 0;
  }
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined;
  if (!task) throw new Failure(`there is no task ${name}; npm run task lists them`);
  const [, script, ...first] = task;
  // The script reads its arguments as if it had been started itself, and sets the exit status.
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...first, ...args);
  await import(new URL(script, import.meta.url).href);
  return Number(process.exitCode ?? 0);
});
