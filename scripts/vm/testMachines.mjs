// The test machines: kernels with IPVS and dummy interfaces. This machine's kernel, User Mode Linux, QEMU.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages, isObtainable, QEMU_PACKAGES, UML_PACKAGES } from '../lib/packages.mjs';
import { tryUml } from './bootTrial.mjs';
import { ensureBuiltKernel, hasBuiltKernel } from './builtKernel.mjs';
import { ensureKernel, ensureSuiteKernel } from './kernel.mjs';
import { BUILT, isBuiltName, isKernelName, USUAL_SUITE } from './kernelNames.mjs';
import { runMachine } from './machine.mjs';
import { IPVS_TRIAL, runInNamespace, serves } from './namespace.mjs';
import { QEMU } from './qemu.mjs';
import { UML, umlNamespacesServe } from './uml.mjs';
import { ensureUmlKernel } from './umlKernel.mjs';

const CACHE = join(CHECKOUT, '.cache/vm');
const NO_IPVS = "this machine's kernel has no IPVS or no dummy interfaces, or we are not root";
const ONLY_X64 = `it runs only on x86-64, not on ${process.arch}`;

/** @typedef {import('../lib/packages.mjs').Requirements} Requirements */
/** @typedef {import('./machine.mjs').MachineJob & { kernel: string | undefined }} TestMachineJob */

/**
 * @typedef {object} TestMachine
 * @property {string} title for people
 * @property {() => Promise<string | undefined>} lacks why it is not available on this machine; undefined if it is
 * @property {Requirements} packages the packages that it needs
 * @property {(job: TestMachineJob) => Promise<number>} run runs the job, with these packages; its exit status
 */

/** @type {Readonly<Record<'namespace' | 'uml' | 'qemu', TestMachine>>} The fastest first. */
export const TEST_MACHINES = {
  namespace: {
    title: 'a network namespace',
    lacks: async () => (serves('true') ? undefined : 'only root can have one'),
    packages: {},
    run: runInNamespace,
  },
  uml: { title: 'User Mode Linux', lacks: umlLacks, packages: UML_PACKAGES, run: runInUml },
  qemu: {
    title: 'QEMU',
    lacks: async () => (process.arch === 'x64' ? undefined : ONLY_X64),
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
 * @typedef {object} Choice
 * @property {TestMachineName} name
 * @property {string} why for people, in a line
 */

/**
 * A test machine whose packages are installed: the named one, or the first that is available. It tries the kernel with the packages
 * that show its state.
 *
 * @param {TestMachineName | undefined} named
 * @returns {Promise<Choice>}
 */
export async function readyTestMachine(named) {
  const choice = named === undefined ? await firstTestMachine() : { name: named, why: 'it was named' };
  ensurePackages(TEST_MACHINES[choice.name].packages);
  return choice;
}

/** @returns {Promise<Choice>} */
async function firstTestMachine() {
  const reasons = [];
  for (const name of TEST_MACHINE_NAMES) {
    const { title, lacks } = TEST_MACHINES[name];
    const reason = name === 'namespace' && !serves(IPVS_TRIAL) ? NO_IPVS : await lacks();
    if (reason === undefined) return { name, why: reasons.join('; ') || "this machine's kernel has IPVS" };
    reasons.push(`not in ${title}: ${reason.split('\n', 1)[0]}`);
  }
  throw new Failure(reasons.join('; '));
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

/** The kernel of User Mode Linux if none is named: the one that was built, which is twice as quick, or that of a package. */
export const usualUmlKernel = () => (hasBuiltKernel(CACHE) ? BUILT : USUAL_SUITE);

/** @param {string} [name] of {@link UML_KERNEL_NAMES} */
function triedUmlKernel(name = usualUmlKernel()) {
  mkdirSync(CACHE, { recursive: true });
  const kernel = isKernelName(name)
    ? ensureUmlKernel(CACHE, name)
    : ensureBuiltKernel(CACHE, isBuiltName(name) ? name : BUILT);
  return tryUml(CACHE, kernel);
}

/**
 * @param {TestMachineJob} job
 * @returns {Promise<number>}
 */
async function runInUml(job) {
  const { kernel, failure } = await triedUmlKernel(job.kernel);
  if (failure !== undefined) throw new Failure(failure);
  return runMachine(UML, kernel, job);
}

/** @type {Promise<string | undefined> | undefined} Found once for a run. */
let umlAnswer;

function umlLacks() {
  umlAnswer ??= findUmlLack();
  return umlAnswer;
}

/** @returns {Promise<string | undefined>} */
async function findUmlLack() {
  if (process.arch !== 'x64') return ONLY_X64;
  if (!isObtainable(UML_PACKAGES)) return `there are no packages ${Object.keys(UML_PACKAGES).join(', ')}`;
  if (!umlNamespacesServe()) return 'this machine refuses new namespaces';
  ensurePackages(UML_PACKAGES);
  try {
    return (await triedUmlKernel()).failure;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message;
  }
}
