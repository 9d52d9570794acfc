// `npm run bench`: installs missing packages, builds, and runs the benchmark, in a VM for IPVS and on this machine's kernel for
// the rest.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HELP, parseOptions } from './bench/options.mjs';
import { CHECKOUT } from './lib/checkout.mjs';
import { Failure, reportFailures } from './lib/failure.mjs';
import { BUILD_PACKAGES, ensurePackages, WITNESS_PACKAGES } from './lib/packages.mjs';
import { nodeScript } from './lib/steps.mjs';
import { readyTestMachine } from './vm/testMachines.mjs';

const COMMAND = [process.execPath, join(CHECKOUT, 'dist/bench/main.js')];

// 10 000 Services with 10 endpoints in the guest's kernel, in the proxy, and in the API server.
const GUEST = ['--memory', '4096', '--timeout', '14400'];

process.exitCode = await reportFailures('bench', () => bench(process.argv.slice(2)));

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
async function bench(args) {
  const options = parseOptions(args);
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  ensurePackages({ ...BUILD_PACKAGES, ...WITNESS_PACKAGES });
  const { name: machine } = await readyTestMachine(options.machine);
  build();
  const inVm =
    machine === 'namespace' ? [] : nodeScript('scripts/vm.mjs', '--machine', machine, ...GUEST, '--');
  if (options.against)
    return measure([...inVm, ...COMMAND, ...options.measured, ...options.shown], 'inherit');
  const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-bench-'));
  try {
    const reports = [];
    for (const { title, command, scenarios } of await runsOf(options.scenarios, inVm)) {
      process.stderr.write(`== ${title}: ${scenarios.join(', ')}\n`);
      const progress = ['--progress', process.stderr.isTTY ? 'bar' : 'lines', '-o', 'json'];
      const selected = ['--scenarios', scenarios.join(','), ...progress];
      const report = join(folder, `${title}.json`);
      const status = await measure([...command, ...options.measured, ...selected], report);
      if (status !== 0) return status;
      reports.push(report);
    }
    return await measure([...COMMAND, ...reports, ...options.shown], 'inherit');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Builds with all output on standard error, because standard output is for the result. */
function build() {
  const [program = '', ...args] = nodeScript('scripts/build.mjs', '--install');
  const { status } = spawnSync(program, args, { cwd: CHECKOUT, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Failure('the build failed; its messages are above');
}

/**
 * The runs of the command: one here and one in the VM, or all here. A target has the result of the first that measured it.
 *
 * @param {readonly string[] | undefined} wanted scenarios; undefined for all
 * @param {readonly string[]} inVm starts a command in the VM; empty if this machine's kernel has IPVS
 */
async function runsOf(wanted, inVm) {
  // The build has made it.
  const { OF_IPVS, SCENARIOS, SIZELESS } = await import(
    pathToFileURL(join(CHECKOUT, 'dist/bench/scenarios.js')).href
  );
  /** @type {string[]} */
  const all = SCENARIOS.map((/** @type {{ name: string }} */ { name }) => name);
  const unknown = wanted?.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Failure(`--scenarios must be of ${all.join(', ')}; found ${unknown}`);
  const selected = all.filter((name) => wanted?.includes(name) ?? true);
  // Namespaces of this machine's kernel need root, which User Mode Linux does not.
  const divided = inVm.length > 0 && process.getuid?.() === 0;
  if (!divided) return [{ title: 'all', command: [...inVm, ...COMMAND], scenarios: selected }];
  const runs = [
    {
      title: 'on this machine',
      command: COMMAND,
      scenarios: selected.filter((name) => !OF_IPVS.has(name)),
    },
    {
      title: 'in the VM',
      command: [...inVm, ...COMMAND],
      scenarios: selected.filter((name) => OF_IPVS.has(name) || SIZELESS.has(name)),
    },
  ];
  return runs.filter(({ scenarios }) => scenarios.length > 0);
}

/**
 * Runs a command.
 *
 * @param {readonly string[]} command
 * @param {string} output a file for its standard output, or `inherit`
 * @returns {Promise<number>} its exit status
 */
async function measure([program = '', ...args], output) {
  const child = spawn(program, args, {
    stdio: ['ignore', output === 'inherit' ? 'inherit' : 'pipe', 'inherit'],
  });
  // Ctrl-C ends the command, which then cleans up; its status follows.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    const ended = once(child, 'close');
    const text = child.stdout ? await child.stdout.setEncoding('utf8').toArray() : [];
    const [status] = /** @type {[number | null]} */ (await ended);
    if (output !== 'inherit') writeFileSync(output, text.join(''));
    return status ?? 1;
  } finally {
    process.off('SIGINT', ignore);
  }
}
