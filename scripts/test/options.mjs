// The command line of `npm test`.

import { parseArgs } from 'node:util';
import { Failure } from '../lib/failure.mjs';
import { testMachineNamed } from '../vm/testMachines.mjs';
import { ALL_CELLS, cellsNamed } from './matrix.mjs';
import { FEATURES, PREPARED } from './needs.mjs';
import { TIERS } from './tiers.mjs';

/** @param {(tier: import('./tiers.mjs').Tier) => boolean} meant */
const namesOf = (meant) =>
  TIERS.filter(meant)
    .map((tier) => tier.name)
    .join(', ');

export const HELP = `Usage: npm test -- [OPTIONS] [FILTER]…

Installs missing packages, builds, and runs the tests: with --all (npm run test:all) all of them, otherwise those that tell in 20
minutes whether this checkout works, with a sample of the rows of long tables. A test that needs a kernel runs in the first test machine with the
necessary features: a network namespace of this machine, User Mode Linux, QEMU (see npm run vm -- --help). Files for which
only QEMU is left run with --all, with --machine qemu, or if a filter names them.
Batches run in parallel; the output of each is printed at its end.
Fails if a test fails, is skipped or is a todo, or if a tier has no tests.
The last line is "N passed, N failed, N skipped"; the lines before it count the tests by test machine. The table of --matrix
follows it.

  --only TIER     run only this tier; may be repeated. In the order of their start:
                  ${namesOf((tier) => tier.only === undefined)};
                  with --all also: ${namesOf((tier) => tier.only === 'all')};
                  only by name: ${namesOf((tier) => tier.only === 'named')}
  --all           run all rows of all files of these tiers, in User Mode Linux on a kernel that is built meanwhile
                  (6 minutes on 2 CPUs, once)
  --rest          with --all: leave out the files that npm test runs whole
  --minutes N     end after this time, with the preparation. Files that have not ended are listed as NOT RUN, which is no failure
  --seed NUMBER   select other rows of long tables (default 1)
  --machine NAME  run all kernel tests in namespace, uml or qemu; fails if a test needs a feature that it lacks
  --matrix CELLS  run the kernel tests (tier kernel, unless --only) on several kernels, and print a table. A cell is a test
                  machine with a kernel of Debian, or namespace for this machine's kernel; cells are separated by commas.
                  It runs the files whose features its kernel has. all: ${ALL_CELLS.slice(0, 4).join(', ')},
                  ${ALL_CELLS.slice(4).join(', ')}
  FILTER          run only test files with this text in their path
  --help          print this text

A test file says what it needs in its first comment, for example: // Needs: ipvs, dummy device, command
A file runs on this machine unless it names a feature of a kernel, which all do in the tiers
${namesOf((tier) => tier.kernel === true)}:
  ${Object.keys(FEATURES).join(', ')}
It may name what is prepared:
${Object.entries(PREPARED)
  .map(([name, what]) => `  ${name.padEnd(10)} ${what}`)
  .join('\n')}
`;

/**
 * @typedef {object} TestOptions
 * @property {boolean} help
 * @property {boolean} all
 * @property {boolean} rest
 * @property {number} minutes time limit of the whole run; infinite if there is none
 * @property {number} seed
 * @property {readonly import('./tiers.mjs').Tier[]} tiers
 * @property {string[]} filters
 * @property {import('../vm/testMachines.mjs').TestMachineName | undefined} machine
 * @property {readonly import('./matrix.mjs').Cell[] | undefined} matrix
 */

/**
 * @param {readonly string[]} args
 * @returns {TestOptions}
 */
export function parseOptions(args) {
  const { values, positionals } = read(args);
  const only = values.only;
  const unknown = only?.find((name) => !TIERS.some((tier) => tier.name === name));
  if (unknown !== undefined) throw new Failure(`there is no tier ${unknown} (see --help)`);
  if (values.rest && !values.all) throw new Failure('--rest needs --all');
  const matrix = matrixOf(values);
  const isUsual = (/** @type {import('./tiers.mjs').Tier} */ tier) =>
    matrix !== undefined
      ? tier.name === 'kernel'
      : tier.only === undefined || (values.all && tier.only === 'all');
  return {
    help: values.help,
    all: values.all,
    rest: values.rest,
    minutes: values.minutes === undefined ? Number.POSITIVE_INFINITY : minutesOf(values.minutes),
    seed: seedOf(values.seed),
    matrix,
    tiers: TIERS.filter((tier) => (only === undefined ? isUsual(tier) : only.includes(tier.name))),
    filters: positionals,
    machine: values.machine === undefined ? undefined : testMachineNamed('--machine', values.machine),
  };
}

/** @param {string} value */
function minutesOf(value) {
  if (!/^\d{1,4}$/.test(value))
    throw new Failure(`--minutes must be a number of at most 4 digits, found ${value}`);
  return Number(value);
}

/** @param {string} value */
function seedOf(value) {
  if (!/^\d{1,9}$/.test(value))
    throw new Failure(`--seed must be a number of at most 9 digits, found ${value}`);
  return Number(value);
}

/** @param {{ matrix?: string | undefined, machine?: string | undefined, only?: string[] | undefined }} values */
function matrixOf({ matrix, machine, only = [] }) {
  if (matrix === undefined) return undefined;
  if (machine !== undefined) throw new Failure('--matrix and --machine exclude each other');
  const other = only.find((name) => !TIERS.find((tier) => tier.name === name)?.kernel);
  if (other !== undefined) throw new Failure(`--matrix needs a tier of kernel tests, found ${other}`);
  return cellsNamed('--matrix', matrix);
}

/**
 * @param {readonly string[]} args
 */
function read(args) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true },
        machine: { type: 'string' },
        matrix: { type: 'string' },
        all: { type: 'boolean', default: false },
        rest: { type: 'boolean', default: false },
        minutes: { type: 'string' },
        seed: { type: 'string', default: '1' },
        help: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}
