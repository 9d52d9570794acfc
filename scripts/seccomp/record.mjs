// Records the system calls of the agents that end-to-end tests start: strace executes each, and traces all its threads and
// programs.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCommand, buildNative, buildTypeScript } from '../lib/build.mjs';
import { CHECKOUT } from '../lib/checkout.mjs';
import { succeeds } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { COMPILER_PACKAGES, ensurePackages, WITNESS_PACKAGES } from '../lib/packages.mjs';
import { heading } from '../lib/steps.mjs';
import { ensureSeccompLauncher, SECCOMP_PACKAGES } from '../test/seccompLauncher.mjs';
import { TEST_MACHINES } from '../vm/testMachines.mjs';
import { callsIn, filesIn } from './traces.mjs';

/** @typedef {import('./runs.mjs').Run} Run */

const ROOTFS = join(CHECKOUT, '.cache/image/unpacked/rootfs');
const COMMAND = join(CHECKOUT, 'dist/command/main.js');

/** The tracer is a grandchild, so that the agent has the process id that the test knows. */
const STRACE = 'strace -D -f -qq -s 200 -e signal=none';

/**
 * The command of strace. On User Mode Linux an agent whose every call is traced does not end its first pass within a minute. There, only calls
 * that no other run has recorded stop it: the kernel's own filter lets the others pass.
 *
 * @param {Run} run
 * @param {readonly string[]} known the names that other runs have recorded
 */
function straceOf({ machine }, known) {
  if (machine !== 'uml' || known.length === 0) return STRACE;
  const passed = known.filter((name) => name !== 'execve');
  return `${STRACE} --seccomp-bpf -e trace=!${passed.join()}`;
}

/** Mounts that the programs of the image need, in a root of its own: strace is not in the image, and follows into it. */
const ENTER_IMAGE = `
mount -t tmpfs tmpfs "$LAYERS"
mkdir "$LAYERS/upper" "$LAYERS/work" "$LAYERS/root"
mount -t overlay -o "lowerdir=$ROOTFS,upperdir=$LAYERS/upper,workdir=$LAYERS/work" overlay "$LAYERS/root"
for folder in /proc /sys /dev /tmp /run "$PWD"; do
  mkdir -p "$LAYERS/root$folder"
  mount --rbind "$folder" "$LAYERS/root$folder"
done`;

/**
 * @param {Run} run
 * @param {readonly string[]} known the names that other runs have recorded
 * @param {string | undefined} keep a folder for the output of strace
 * @returns {Promise<{ programs: string, calls: string[], files: string[] }>} the versions of the programs, the names of their calls, and
 *     the files of the image and of the kernel that they opened
 */
export async function record(run, known, keep) {
  prepare(run);
  const folder = mkdtempSync(join(tmpdir(), 'knp-record-'));
  try {
    const traces = join(folder, 'traces');
    const layers = join(folder, 'layers');
    for (const path of [traces, layers]) mkdirSync(path);
    const launcher = join(folder, 'launcher');
    writeFileSync(
      launcher,
      run.image ? inImage(straceOf(run, known), traces, layers) : onMachine(straceOf(run, known), traces),
    );
    chmodSync(launcher, 0o755);
    heading(`recording ${run.name}: ${run.tests.join(', ')}`);
    const script = run.image ? `ROOTFS=${ROOTFS} LAYERS=${layers}\n${ENTER_IMAGE}\n${RUN_TESTS}` : RUN_TESTS;
    const tests = run.tests.map((name) => `dist/test/e2e/${name}.test.js`);
    const environment = { ...process.env, KNP_LAUNCHER: launcher, KNP_COMMAND: COMMAND };
    const machine = [
      'scripts/vm.mjs',
      '--machine',
      run.machine,
      '--timeout',
      '3000',
      '--writable',
      folder,
      '--',
    ];
    const args = [...machine, 'sh', '-euc', script, 'sh', process.execPath, ...tests];
    if (!succeeds(process.execPath, args, { cwd: CHECKOUT, env: environment })) {
      throw new Failure(`the tests of ${run.name} failed; their output is above`);
    }
    if (keep !== undefined) cpSync(traces, join(keep, run.name), { recursive: true });
    return {
      programs: readFileSync(join(folder, 'programs'), 'utf8').trim(),
      calls: callsIn(traces),
      files: run.image ? filesIn(traces, pathInContainer) : [],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {Run} run */
function prepare({ image, machine }) {
  ensurePackages({
    ...COMPILER_PACKAGES,
    ...WITNESS_PACKAGES,
    ...SECCOMP_PACKAGES,
    ...TEST_MACHINES[machine].packages,
  });
  if (image && !existsSync(ROOTFS))
    throw new Failure(`there is no ${ROOTFS}: run \`npm run task -- image\` first`);
  ensureSeccompLauncher();
  buildNative();
  buildTypeScript();
  buildCommand();
}

/** Runs the tests; strace writes the last lines after the agent has ended. */
const RUN_TESTS = `
status=0
node=$1; shift
"$node" --test --test-concurrency=1 --test-reporter=spec "$@" || status=$?
"$KNP_LAUNCHER" "$node" -p '\`Node \${process.version}, glibc \${process.report.getReport().header.glibcVersionRuntime}\`' \\
  >"$(dirname "$KNP_LAUNCHER")/programs"
sleep 2
exit $status`;

/**
 * @param {string} strace
 * @param {string} traces
 */
const onMachine = (strace, traces) => `#!/bin/sh
exec ${strace} -o "${traces}/$$" "$@"
`;

/**
 * The agent's Node.js is the image's.
 *
 * @param {string} strace
 * @param {string} traces
 * @param {string} layers
 */
const inImage = (strace, traces, layers) => `#!/bin/sh
case $1 in */bin/node) shift; set -- /usr/local/bin/node "$@";; esac
exec ${strace} -o "${traces}/$$" chroot "${layers}/root" "$@"
`;

/** The folder of the proxy in the image, where the tests use that of this checkout. */
const INSTALLED = '/opt/kube-netlink-proxy';
const OWN = /^\/(dist\/command|node_modules\/node-gyp-build|package\.json$)/;

/**
 * @param {string} path that a program in the root filesystem of the image has opened
 * @returns {string | undefined} the path in a container; undefined for files of the tests
 */
function pathInContainer(path) {
  if (path.startsWith(CHECKOUT)) {
    const inside = path.slice(CHECKOUT.length);
    return OWN.test(inside) ? `${INSTALLED}${inside}` : undefined;
  }
  return path.startsWith(`${tmpdir()}/`) ? undefined : path;
}
