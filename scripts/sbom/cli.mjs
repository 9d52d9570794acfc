// The command line of `npm run task -- sbom`.

import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../lib/checkout.mjs';
import { capture } from '../lib/commands.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { documentOf } from './cycloneDx.mjs';
import { imageContents } from './image.mjs';
import { packageContents } from './package.mjs';

const HELP = `Usage: npm run task -- sbom [OPTIONS]

Writes a bill of materials (CycloneDX 1.6, JSON) to standard output: of the package as npm publishes it, after npm run task -- bundle
and npm run task -- prebuild; or of an image. Equal contents give equal bytes.

  --image FOLDER   of the image whose root filesystem is in this folder; npm run task -- image writes .cache/image/unpacked/rootfs.
                   Needs a machine of the image's architecture, because the image's Node.js names its own libraries.
  --output FILE    write to this file
  --help           print this text

The time in it is SOURCE_DATE_EPOCH, or the time of the commit.
`;

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('sbom', () => {
    const { help, image, output } = parse(args);
    if (help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (image !== undefined && !existsSync(image)) throw new Failure(`there is no folder ${image}`);
    const seconds = time();
    const contents = image === undefined ? packageContents(CHECKOUT) : imageContents(resolve(image));
    const text = `${JSON.stringify(documentOf(contents, seconds), null, 2)}\n`;
    if (output === undefined) process.stdout.write(text);
    else writeFileSync(output, text);
    return 0;
  });
}

/** @param {readonly string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        image: { type: 'string' },
        output: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}

/** In s since the epoch. */
function time() {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined) {
    if (!/^\d+$/.test(given))
      throw new Failure(`SOURCE_DATE_EPOCH must be a number of seconds, found ${given}`);
    return Number(given);
  }
  const { ok, stdout } = capture('git', ['-C', join(CHECKOUT), 'log', '-1', '--format=%ct']);
  if (!ok) throw new Failure('this is no git checkout: set SOURCE_DATE_EPOCH');
  return Number(stdout.toString());
}
