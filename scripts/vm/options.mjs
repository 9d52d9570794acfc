// The command line of `npm run vm`.

import { resolve } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { vehicleNamed } from './vehicles.mjs';

export const HELP = `Usage: npm run vm -- [OPTIONS] [--] CMD ARGS…

Runs CMD as root on a kernel with IPVS and the dummy device, and exits with its status.

  namespace   this machine's own kernel in a fresh network namespace, where it has both and you are root: the
              quickest, but files are written for real
  uml         User Mode Linux, Debian's package: a kernel that runs as a process, without KVM and without root.
              One processor, iptables of the legacy kind only, no conntrack zones
  qemu        Debian's kernel in QEMU without KVM: a whole machine, but everything in it is six to eight times
              slower

The first of these that this machine can have is used. User Mode Linux and QEMU see this machine's files at the
same paths and start in the same folder with the same environment. What CMD writes stays in the guest's memory
and is gone at the end. There is no network but lo, and standard input is empty.

  --timeout SECONDS   end CMD after this long, with status 124 (default 1800)
  --memory MIB        the guest's memory, files that CMD writes included (default 2048)
  --writable DIR      let CMD write to this folder of this machine; may be given several times
  --vehicle NAME      namespace, uml or qemu
  --vm                as --vehicle qemu
  --cpus COUNT        processors of a QEMU machine, and choose QEMU (default 2)
  --kernel PREFIX     a kernel of this machine's package sources, as 6.12, and choose QEMU (default:
                      linux-image-amd64's)
  --help              show this text

QEMU's kernel is downloaded once into .cache/vm; delete that folder to get a newer one.
Status 125 says that the VM itself failed, 128+N that CMD died of signal N.
`;

/**
 * @typedef {object} VmOptions
 * @property {boolean} help
 * @property {import('./vehicles.mjs').VehicleName | undefined} vehicle
 * @property {number} timeoutSeconds
 * @property {number} memoryMib
 * @property {number | undefined} cpus
 * @property {string[]} writable absolute paths
 * @property {string | undefined} kernel
 * @property {string[]} command
 */

/** @type {Record<string, (options: VmOptions, value: string) => void>} Options that take a value. */
const VALUED = {
  '--timeout': (options, value) => {
    options.timeoutSeconds = count('--timeout', value);
  },
  '--memory': (options, value) => {
    options.memoryMib = count('--memory', value);
  },
  '--cpus': (options, value) => {
    options.cpus = count('--cpus', value);
  },
  '--writable': (options, value) => {
    options.writable.push(resolve(value));
  },
  '--kernel': (options, value) => {
    options.kernel = value;
  },
  '--vehicle': (options, value) => {
    options.vehicle = vehicleNamed('--vehicle', value);
  },
};

/** @type {Record<string, (options: VmOptions) => void>} */
const FLAGS = {
  '--vm': (options) => {
    options.vehicle = 'qemu';
  },
  '--help': (options) => {
    options.help = true;
  },
};

/**
 * Reads options up to the first word that is none: the rest is CMD's own.
 *
 * @param {readonly string[]} args
 * @returns {VmOptions}
 */
export function parseOptions(args) {
  /** @type {VmOptions} */
  const options = {
    help: false,
    vehicle: undefined,
    timeoutSeconds: 1800,
    memoryMib: 2048,
    cpus: undefined,
    writable: [],
    kernel: undefined,
    command: [],
  };
  const rest = [...args];
  while (rest[0]?.startsWith('-')) {
    const word = rest.shift() ?? '';
    if (word === '--') break;
    readOption(options, word, rest);
  }
  options.command = rest;
  if (options.cpus !== undefined || options.kernel !== undefined) options.vehicle ??= 'qemu';
  if (options.vehicle !== 'qemu' && (options.cpus ?? options.kernel) !== undefined)
    throw new Failure(`--cpus and --kernel are for --vehicle qemu, found --vehicle ${options.vehicle}`);
  return options;
}

/**
 * @param {VmOptions} options
 * @param {string} word
 * @param {string[]} rest
 */
function readOption(options, word, rest) {
  const [name = '', inline] = word.split(/=(.*)/s);
  const flag = FLAGS[name];
  if (flag && inline === undefined) return flag(options);
  const valued = VALUED[name];
  if (!valued) throw new Failure(`unknown option ${word} (see --help)`);
  const value = inline ?? rest.shift();
  if (!value) throw new Failure(`${name} needs a value (see --help)`);
  valued(options, value);
}

/**
 * @param {string} name
 * @param {string} value
 */
function count(name, value) {
  if (!/^[1-9]\d{0,6}$/.test(value))
    throw new Failure(`${name} must be a whole number above 0, found ${value}`);
  return Number(value);
}
