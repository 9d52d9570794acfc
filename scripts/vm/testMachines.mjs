// The test machines: kernels with IPVS and dummy interfaces. This machine's kernel, User Mode Linux, QEMU.

import { existsSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages, isObtainable, QEMU_PACKAGES, UML_PACKAGES } from '../lib/packages.mjs';
import { ensureKernel, ensureSuiteKernel } from './kernel.mjs';
import { isKernelName, UML_KERNEL_NAMES } from './kernelNames.mjs';
import { runMachine } from './machine.mjs';
import { IPVS_TRIAL, runInNamespace, serves } from './namespace.mjs';
import { QEMU } from './qemu.mjs';
import { UML, umlNamespacesServe } from './uml.mjs';
import { ensureUmlKernel } from './umlKernel.mjs';

const CACHE = join(CHECKOUT, '.cache/vm');

/** @typedef {import('../lib/packages.mjs').Requirements} Requirements */
/** @typedef {import('./machine.mjs').MachineJob & { kernel: string | undefined }} TestMachineJob */

/**
 * @typedef {object} TestMachine
 * @property {string} title for people
 * @property {() => boolean | Promise<boolean>} serves whether it is available on this machine
 * @property {Requirements} packages the packages that it needs
 * @property {(job: TestMachineJob) => Promise<number>} run runs the job, with these packages; its exit status
 */

/** @type {Readonly<Record<'namespace' | 'uml' | 'qemu', TestMachine>>} The fastest first. */
export const TEST_MACHINES = {
  namespace: {
    title: 'a network namespace',
    serves: () => serves('true'),
    packages: {},
    run: runInNamespace,
  },
  uml: { title: 'User Mode Linux', serves: umlServes, packages: UML_PACKAGES, run: runInUml },
  qemu: {
    title: 'QEMU',
    serves: () => process.arch === 'x64',
    packages: QEMU_PACKAGES,
    run: (job) => runMachine(QEMU, qemuKernel(job.kernel), job),
  },
};

/** @typedef {keyof typeof TEST_MACHINES} TestMachineName */

/** @type {readonly TestMachineName[]} */
export const TEST_MACHINE_NAMES = /** @type {TestMachineName[]} */ (Object.keys(TEST_MACHINES));

/**
 * @param {string} option the option whose value it is
 * @param {string} value
 * @returns {TestMachineName}
 */
export function testMachineNamed(option, value) {
  const name = TEST_MACHINE_NAMES.find((known) => known === value);
  if (name === undefined)
    throw new Failure(`${option} must be ${TEST_MACHINE_NAMES.join(', ')}, found ${value}`);
  return name;
}

/**
 * A test machine whose packages are installed: the named one, or the first that is available. It tries the kernel with the packages
 * that show its state.
 *
 * @param {TestMachineName | undefined} named
 * @returns {Promise<TestMachineName>}
 */
export async function readyTestMachine(named) {
  const name = named ?? (await firstTestMachine());
  ensurePackages(TEST_MACHINES[name].packages);
  return name;
}

/** @returns {Promise<TestMachineName>} */
async function firstTestMachine() {
  for (const name of TEST_MACHINE_NAMES) {
    if (name === 'namespace' && !serves(IPVS_TRIAL)) continue;
    if (await TEST_MACHINES[name].serves()) return name;
  }
  throw new Failure(`the VM runs only on x86-64, not on ${process.arch}`);
}

/**
 * The packages of the test machines that tests use on this machine. A test whose features User Mode Linux lacks may need QEMU too, which
 * is known only when the tools are installed that try the features.
 *
 * @param {boolean} every whether all test machines are used
 * @returns {Requirements}
 */
export function testMachinePackages(every) {
  if (process.arch !== 'x64') return {};
  const uml = isObtainable(UML_PACKAGES) && umlNamespacesServe();
  return { ...(uml ? UML_PACKAGES : {}), ...(every ? QEMU_PACKAGES : {}) };
}

/**
 * @param {string | undefined} name a suite, or the first part of a version
 * @returns {import('./kernel.mjs').Kernel}
 */
function qemuKernel(name) {
  return name !== undefined && isKernelName(name)
    ? ensureSuiteKernel(CACHE, name)
    : ensureKernel(CACHE, name);
}

/**
 * @param {TestMachineJob} job
 * @returns {Promise<number>}
 */
function runInUml(job) {
  const suite = UML_KERNEL_NAMES.find((name) => name === job.kernel);
  return runMachine(UML, ensureUmlKernel(CACHE, suite), job);
}

/** Checks this by booting it, once for each pair of kernels: containers may forbid tracing of processes. */
async function umlServes() {
  if (process.arch !== 'x64' || !isObtainable(UML_PACKAGES) || !umlNamespacesServe()) return false;
  ensurePackages(UML_PACKAGES);
  try {
    const stamp = join(CACHE, `uml-${ensureUmlKernel(CACHE).release}-boots-on-${release()}`);
    if (existsSync(stamp)) return true;
    if (!(await boots())) return false;
    writeFileSync(stamp, '');
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`User Mode Linux does not run here, QEMU serves instead: ${error.message}\n`);
    return false;
  }
}

async function boots() {
  const place = { folder: CHECKOUT, checkout: CHECKOUT, writable: [] };
  const limits = { timeoutSeconds: 60, memoryMib: 512, cpus: undefined, kernel: undefined };
  return (await runInUml({ command: ['true'], ...place, ...limits })) === 0;
}
