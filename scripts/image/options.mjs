// The command line of `npm run image`.

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Failure } from '../lib/failure.mjs';

/** Default name of the image; its tag is the version in package.json. */
const NAME = 'localhost/kube-netlink-proxy';

export const HELP = `Usage: npm run image -- [OPTIONS]

Builds the container image of the Dockerfile with buildah, as root. With Docker, "docker build ." does the same.

  --arch ARCH        x64 or arm64 (default: this machine's). Another processor than this machine's needs QEMU's user mode,
                     registered with the kernel; a machine without it prints the commands
  --tag NAME         name of the image (default ${NAME}:VERSION, the version of package.json)
  --stand-in-bases   build the two base images from Debian's packages and npm's build of Node instead of pulling
                     them, for machines without access to a registry. Do not distribute these images.
  --export FOLDER    also unpack the image's root filesystem to FOLDER/rootfs, and its configuration to
                     FOLDER/config.json; the folder is emptied first. If it has the same image already, nothing
                     is built
  --storage FOLDER   buildah's storage (default: buildah's default)
  --help             print this text
`;

/** @typedef {'x64' | 'arm64'} Arch as in process.arch */

/**
 * @typedef {object} ImageOptions
 * @property {boolean} help
 * @property {Arch} arch
 * @property {string} tag
 * @property {boolean} standInBases
 * @property {string | undefined} exportFolder absolute
 * @property {string | undefined} storage absolute
 */

/**
 * @param {readonly string[]} args
 * @param {string} version
 * @returns {ImageOptions}
 */
export function parseOptions(args, version) {
  const values = read(args);
  return {
    help: values.help,
    arch: archNamed(values.arch ?? process.arch),
    tag: values.tag ?? `${NAME}:${version}`,
    standInBases: values['stand-in-bases'],
    exportFolder: values.export === undefined ? undefined : resolve(values.export),
    storage: values.storage === undefined ? undefined : resolve(values.storage),
  };
}

/**
 * @param {string} name
 * @returns {Arch}
 */
function archNamed(name) {
  if (name === 'x64' || name === 'arm64') return name;
  throw new Failure(`--arch must be x64 or arm64, found ${name}`);
}

/**
 * @param {readonly string[]} args
 */
function read(args) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        arch: { type: 'string' },
        tag: { type: 'string' },
        'stand-in-bases': { type: 'boolean', default: false },
        export: { type: 'string' },
        storage: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}
