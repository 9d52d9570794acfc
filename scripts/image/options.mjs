// The command line of `npm run image`.

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Failure } from '../lib/failure.mjs';

/** Default name of the image; its tag is the version in package.json. */
const NAME = 'localhost/kube-netlink-proxy';

export const HELP = `Usage: npm run image -- [OPTIONS]

Builds the container image of the Dockerfile with buildah, as root. With Docker, "docker build ." does the same.

  --tag NAME         name of the image (default ${NAME}:VERSION, the version of package.json)
  --stand-in-bases   build the two base images from Debian's packages and npm's build of Node instead of pulling
                     them, for machines without access to a registry. Do not distribute these images.
  --export FOLDER    also unpack the image's root filesystem to FOLDER/rootfs, and its configuration to
                     FOLDER/config.json; the folder is emptied first. If it has the same image already, nothing
                     is built
  --storage FOLDER   buildah's storage (default: buildah's default)
  --help             print this text
`;

/**
 * @typedef {object} ImageOptions
 * @property {boolean} help
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
    tag: values.tag ?? `${NAME}:${version}`,
    standInBases: values['stand-in-bases'],
    exportFolder: values.export === undefined ? undefined : resolve(values.export),
    storage: values.storage === undefined ? undefined : resolve(values.storage),
  };
}

/**
 * @param {readonly string[]} args
 */
function read(args) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
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
