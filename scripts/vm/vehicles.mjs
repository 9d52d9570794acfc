// The vehicles: kernels with IPVS and dummy interfaces. This machine's kernel, User Mode Linux, QEMU.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages, isObtainable, QEMU_PACKAGES, UML_PACKAGES } from '../lib/packages.mjs';
import { ensureKernel } from './kernel.mjs';
import { runMachine } from './machine.mjs';
import { IPVS_TRIAL, runInNamespace, serves } from './namespace.mjs';
import { QEMU } from './qemu.mjs';
import { UML, umlKernel, umlNamespacesServe } from './uml.mjs';

const CACHE = join(CHECKOUT, '.cache/vm');

/** @typedef {import('./machine.mjs').MachineJob & { kernel: string | undefined }} VehicleJob */

/**
 * @typedef {object} Vehicle
 * @property {string} title for people
 * @property {() => boolean | Promise<boolean>} serves whether it is available on this machine
 * @property {(job: VehicleJob) => Promise<number>} run installs missing packages, and runs the job; its exit status
 */

/** @type {Readonly<Record<'namespace' | 'uml' | 'qemu', Vehicle>>} The fastest first. */
export const VEHICLES = {
  namespace: { title: 'a network namespace', serves: () => serves('true'), run: runInNamespace },
  uml: { title: 'User Mode Linux', serves: umlServes, run: runInUml },
  qemu: {
    title: 'QEMU',
    serves: () => process.arch === 'x64',
    run(job) {
      ensurePackages(QEMU_PACKAGES);
      return runMachine(QEMU, ensureKernel(CACHE, job.kernel), job);
    },
  },
};

/** @typedef {keyof typeof VEHICLES} VehicleName */

/** @type {readonly VehicleName[]} */
export const VEHICLE_NAMES = /** @type {VehicleName[]} */ (Object.keys(VEHICLES));

/**
 * @param {string} option the option whose value it is
 * @param {string} value
 * @returns {VehicleName}
 */
export function vehicleNamed(option, value) {
  const name = VEHICLE_NAMES.find((known) => known === value);
  if (name === undefined) throw new Failure(`${option} must be ${VEHICLE_NAMES.join(', ')}, found ${value}`);
  return name;
}

/**
 * The first available vehicle.
 *
 * @returns {Promise<VehicleName>}
 */
export async function chooseVehicle() {
  for (const name of VEHICLE_NAMES) {
    if (name === 'namespace' && !serves(IPVS_TRIAL)) continue;
    if (await VEHICLES[name].serves()) return name;
  }
  throw new Failure(`the VM runs only on x86-64, not on ${process.arch}`);
}

/**
 * @param {VehicleJob} job
 * @returns {Promise<number>}
 */
function runInUml(job) {
  ensurePackages(UML_PACKAGES);
  return runMachine(UML, umlKernel(), job);
}

/** Checks this by booting it, once for each pair of kernels: containers may forbid tracing of processes. */
async function umlServes() {
  if (process.arch !== 'x64' || !isObtainable(UML_PACKAGES) || !umlNamespacesServe()) return false;
  ensurePackages(UML_PACKAGES);
  const stamp = join(CACHE, `uml-${umlKernel().release}-boots-on-${release()}`);
  if (existsSync(stamp)) return true;
  if (!(await boots())) return false;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(stamp, '');
  return true;
}

async function boots() {
  const place = { folder: CHECKOUT, checkout: CHECKOUT, writable: [] };
  const limits = { timeoutSeconds: 60, memoryMib: 512, cpus: undefined, kernel: undefined };
  try {
    return (await runInUml({ command: ['true'], ...place, ...limits })) === 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`User Mode Linux does not run here, QEMU serves instead: ${error.message}\n`);
    return false;
  }
}
