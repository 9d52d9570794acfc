// Where a command can run on a kernel with IPVS and the dummy device: this machine's own kernel, User Mode Linux, QEMU.

import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages, isObtainable, QEMU_PACKAGES, UML_PACKAGES } from '../lib/packages.mjs';
import { ensureKernel } from './kernel.mjs';
import { runMachine } from './machine.mjs';
import { namespacesServe, namespaceServes, runInNamespace } from './namespace.mjs';
import { QEMU } from './qemu.mjs';
import { UML, umlKernel, umlServes } from './uml.mjs';

const CACHE = join(CHECKOUT, '.cache/vm');

/** @typedef {import('./machine.mjs').MachineJob & { kernel: string | undefined }} VehicleJob */

/**
 * @typedef {object} Vehicle
 * @property {string} title for people
 * @property {() => boolean} serves whether this machine can have it and it has IPVS and the dummy device
 * @property {() => boolean} usable whether this machine can have it
 * @property {(job: VehicleJob) => number | Promise<number>} run gets what is missing, then runs the job; exit status
 */

/** @type {Readonly<Record<'namespace' | 'uml' | 'qemu', Vehicle>>} In the order in which they are tried. */
export const VEHICLES = {
  namespace: {
    title: "this machine's kernel",
    serves: namespaceServes,
    usable: namespacesServe,
    run: runInNamespace,
  },
  uml: {
    title: 'User Mode Linux',
    serves: umlIsObtainable,
    usable: umlIsObtainable,
    run(job) {
      ensurePackages(UML_PACKAGES);
      return runMachine(UML, umlKernel(), job);
    },
  },
  qemu: {
    title: 'QEMU',
    serves: () => process.arch === 'x64',
    usable: () => process.arch === 'x64',
    run(job) {
      ensurePackages(QEMU_PACKAGES);
      return runMachine(QEMU, ensureKernel(CACHE, job.kernel), job);
    },
  },
};

/** @typedef {keyof typeof VEHICLES} VehicleName */

/** @type {readonly VehicleName[]} */
export const VEHICLE_NAMES = /** @type {VehicleName[]} */ (Object.keys(VEHICLES));

function umlIsObtainable() {
  return umlServes() && isObtainable(UML_PACKAGES);
}

/**
 * The vehicle for a command that needs IPVS and the dummy device.
 *
 * @param {VehicleName | undefined} named the vehicle that a person named
 * @returns {VehicleName}
 */
export function chooseVehicle(named) {
  const chosen = named ?? VEHICLE_NAMES.find((name) => VEHICLES[name].serves());
  if (chosen === undefined) throw new Failure(`the VM runs on x86-64 machines only, not on ${process.arch}`);
  if (!VEHICLES[chosen].usable()) throw new Failure(`this machine cannot run ${VEHICLES[chosen].title}`);
  return chosen;
}
