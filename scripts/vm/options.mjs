// The command line of `npm run vm`.

import { resolve } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { isBuiltName, KERNEL_NAMES, UML_KERNEL_NAMES } from './kernelNames.mjs';
import { testMachineNamed } from './testMachines.mjs';

export const HELP = `Usage: npm run vm -- [OPTIONS] [--] CMD ARGS…

Runs CMD as root on a kernel with IPVS and dummy interfaces, and exits with its status. The test machine is the first of
these that is available:

  namespace   this machine's kernel in a new network namespace, if it has both and you are root: the fastest, but
              writes to files are real
  uml         User Mode Linux: a kernel that runs as a process, without KVM and without root. It has one CPU. It is the
              kernel that --kernel built has built, if it is in the cache; otherwise Debian's package of Linux 6.12,
              which is half as quick, and has only iptables-legacy and no conntrack zones
  qemu        Debian's kernel in QEMU without KVM: a complete machine, but six to eight times slower

User Mode Linux and QEMU see this machine's files at the same paths, and start in the same folder with the same
environment. Writes of CMD stay in the guest's memory and are lost at the end. The only network is lo, and standard
input is empty.

  --timeout SECONDS   end CMD after this time, with status 124 (default 1800)
  --memory MIB        memory of the guest, including the files that CMD writes (default 2048)
  --writable DIR      let CMD write to this folder of this machine; may be repeated
  --machine NAME      namespace, uml or qemu
  --vm                same as --machine qemu
  --cpus COUNT        number of CPUs; implies QEMU (default 2)
  --kernel NAME       the kernel of a suite of Debian: ${KERNEL_NAMES.join(', ')} (of bookworm); or the first part
                      of a version in this machine's package sources, for example 6.12 (default: linux-image-amd64
                      of these sources). Implies QEMU, unless --machine uml, which has ${UML_KERNEL_NAMES.join(', ')}.
                      built: of Debian's package of the source, with all that the tests need, built in some minutes;
                      built-without-xtables: the same without xtables and ipset
  --help              print this text

Each kernel is downloaded or built once in .cache/vm; delete that folder to update them.
Status 125 means that the VM failed, 128+N that signal N killed CMD.
`;

/**
 * @typedef {object} VmOptions
 * @property {boolean} help
 * @property {import('./testMachines.mjs').TestMachineName | undefined} machine
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
  '--machine': (options, value) => {
    options.machine = testMachineNamed('--machine', value);
  },
};

/** @type {Record<string, (options: VmOptions) => void>} */
const FLAGS = {
  '--vm': (options) => {
    options.machine = 'qemu';
  },
  '--help': (options) => {
    options.help = true;
  },
};

/**
 * Reads options up to the first other word, which begins CMD.
 *
 * @param {readonly string[]} args
 * @returns {VmOptions}
 */
export function parseOptions(args) {
  /** @type {VmOptions} */
  const options = {
    help: false,
    machine: undefined,
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
  if (isBuiltName(options.kernel)) options.machine ??= 'uml';
  if (options.cpus !== undefined || options.kernel !== undefined) options.machine ??= 'qemu';
  checkMachine(options);
  return options;
}

/** @param {VmOptions} options */
function checkMachine({ machine, cpus, kernel }) {
  if (machine === 'qemu') return;
  if (cpus !== undefined) throw new Failure(`--cpus needs --machine qemu, found --machine ${machine}`);
  if (kernel === undefined) return;
  if (machine !== 'uml')
    throw new Failure(`--kernel needs --machine qemu or uml, found --machine ${machine}`);
  if (!UML_KERNEL_NAMES.some((name) => name === kernel))
    throw new Failure(`--kernel of --machine uml must be ${UML_KERNEL_NAMES.join(', ')}, found ${kernel}`);
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
    throw new Failure(`${name} must be an integer greater than 0, found ${value}`);
  return Number(value);
}
