// The command line of `npm run vm`.

import { resolve } from 'node:path';
import { Failure } from '../lib/failure.mjs';

export const HELP = `Usage: npm run vm -- [OPTIONS] [--] CMD ARGS…

Runs CMD as root on a kernel with IPVS and the dummy device, and exits with its status.

The kernel is Debian's, in QEMU without KVM; it sees this machine's files at the same paths and starts in the
same folder with the same environment. What CMD writes stays in the guest's memory and is gone at the end.
There is no network but lo, and standard input is empty. Where this machine's own kernel has IPVS and the
dummy device and you are root, a fresh network namespace serves instead: quicker, but files are then written
for real.

  --timeout SECONDS   end CMD after this long, with status 124 (default 1800)
  --memory MIB        the guest's memory, files that CMD writes included (default 2048)
  --cpus COUNT        virtual processors (default 2)
  --writable DIR      let CMD write to this folder of this machine; may be given several times
  --kernel PREFIX     a kernel of this machine's package sources, as 6.12 (default: linux-image-amd64's)
  --vm                boot the VM even where a network namespace would do
  --help              show this text

The kernel is downloaded once into .cache/vm; delete that folder to get a newer one.
Status 125 says that the VM itself failed, 128+N that CMD died of signal N.
`;

/**
 * @typedef {object} VmOptions
 * @property {boolean} help
 * @property {boolean} forceVm
 * @property {number} timeoutSeconds
 * @property {number} memoryMib
 * @property {number} cpus
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
};

/** @type {Record<string, (options: VmOptions) => void>} */
const FLAGS = {
  '--vm': (options) => {
    options.forceVm = true;
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
    forceVm: false,
    timeoutSeconds: 1800,
    memoryMib: 2048,
    cpus: 2,
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
