// `npm run demo`: installs missing packages, builds, and runs the demo, which shows that no connection is lost.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { buildNative, transpileTypeScript } from './lib/build.mjs';
import { capture } from './lib/commands.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { ensureNodeModules } from './lib/nodeModules.mjs';
import { COMPILER_PACKAGES, ensurePackages, WITNESS_PACKAGES } from './lib/packages.mjs';
import { heading, nodeScript } from './lib/steps.mjs';
import { main as runVm } from './vm/cli.mjs';
import { readyTestMachine, TEST_MACHINES, testMachineNamed } from './vm/testMachines.mjs';

const HELP = `Usage: npm run demo [-- OPTIONS]

Creates a client, two nodes and three web servers in network namespaces, and runs kube-netlink-proxy with
examples/. One connection stays open, and new connections are opened all the time, while an endpoint is removed and
the proxy is killed and restarted. Takes about a minute; the first run takes longer, to install missing packages
(Debian packages, as root or with sudo, and npm packages), to build, and to download a kernel for QEMU.

Runs as root in a new network namespace if this machine's kernel has IPVS, otherwise in a VM. The exit status is 0
only if each response was from an expected server, and the open connection was never lost.

  --machine NAME  namespace, uml or qemu (default: the first that is available; see npm run vm -- --help)
  --vm            same as --machine qemu
  --svg FILE      write the last screen as a picture
  --help          print this text

NO_COLOR=1 disables colours, except in the picture.
`;

// The demo's own limit is 500 s, ten times its duration in QEMU on an idle machine; this limit includes booting.
const LIMIT_SECONDS = '600';

/** @typedef {import('./vm/testMachines.mjs').TestMachineName} TestMachineName */

process.exitCode = await reportFailures('demo', () => demo(process.argv.slice(2)));

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
async function demo(args) {
  const options = parseOptions(args);
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (options.svg !== undefined) return runAndDraw(options.svg, options.machine);
  heading('Debian packages');
  ensurePackages({ ...COMPILER_PACKAGES, ...WITNESS_PACKAGES });
  heading('a kernel with IPVS');
  const { name: machine } = await readyTestMachine(options.machine);
  ensureNodeModules();
  buildNative();
  await transpileTypeScript(['src', 'demo', 'test/laboratory']);
  const slowdown = { machine: TEST_MACHINES[machine].title, loopbackMs: measureLoopback() };
  process.env['KNP_DEMO_HOST'] = JSON.stringify(slowdown);
  // In the VM, standard output is not a terminal, although ours may be one.
  if (process.stdout.isTTY && !process.env['NO_COLOR']) process.env['FORCE_COLOR'] = '1';
  const command = [process.execPath, '--enable-source-maps', 'dist/demo/main.js'];
  return runVm(['--machine', machine, '--timeout', LIMIT_SECONDS, '--', ...command]);
}

/**
 * @param {readonly string[]} args
 */
function parseOptions(args) {
  const options = {
    help: false,
    machine: /** @type {TestMachineName | undefined} */ (undefined),
    svg: /** @type {string | undefined} */ (undefined),
  };
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--help') options.help = true;
    else if (word === '--vm') options.machine = 'qemu';
    else if (word === '--machine') options.machine = testMachineNamed(word, takeValue(word, rest));
    else if (word === '--svg') options.svg = resolve(takeValue(word, rest));
    else throw new Failure(`unknown option ${word} (see --help)`);
  }
  return options;
}

/**
 * @param {string} option
 * @param {string[]} rest
 * @returns {string}
 */
function takeValue(option, rest) {
  const value = rest.shift();
  if (!value) throw new Failure(`${option} needs a value (see --help)`);
  return value;
}

/** @returns {number} the time on this machine, in ms, to compare with the time in the test machine */
function measureLoopback() {
  const [program = '', ...args] = nodeScript('dist/demo/loopbackProcess.js');
  const { ok, stdout, stderr } = capture(program, args);
  if (!ok) throw new Failure(`cannot measure requests over loopback: ${stderr}`);
  return Number(stdout);
}

/**
 * Runs the demo in another process with colours, and writes its last screen as a picture.
 *
 * @param {string} file
 * @param {TestMachineName | undefined} machine
 * @returns {Promise<number>} the exit status
 */
async function runAndDraw(file, machine) {
  if (!existsSync(dirname(file))) throw new Failure(`--svg ${file}: there is no folder ${dirname(file)}`);
  const { NO_COLOR: _plain, ...env } = process.env;
  const [program = '', ...args] = nodeScript('scripts/demo.mjs', ...(machine ? ['--machine', machine] : []));
  const run = spawn(program, args, {
    env: { ...env, FORCE_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  run.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
    output += text;
    process.stdout.write(text);
  });
  const [status] = /** @type {[number | null]} */ (await once(run, 'close'));
  if (status !== 0) return status ?? 1;
  heading(`picture ${file}`);
  const draw = spawn(program, nodeScript('dist/demo/draw.js', file).slice(1), {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  draw.stdin.end(output);
  const [drawn] = /** @type {[number | null]} */ (await once(draw, 'close'));
  return drawn ?? 1;
}
