// The command line of `npm test`.

import { parseArgs } from 'node:util';
import { Failure } from '../lib/failure.mjs';
import { vehicleNamed } from '../vm/vehicles.mjs';
import { TIERS } from './tiers.mjs';

/** @param {(tier: import('./tiers.mjs').Tier) => boolean} meant */
const namesOf = (meant) =>
  TIERS.filter(meant)
    .map((tier) => tier.name)
    .join(', ');

export const HELP = `Usage: npm test -- [OPTIONS] [FILTER]…

Installs what is missing, builds, and runs the tests. Those that need a kernel run on the first that has what
they need: this machine's own, in a network namespace; User Mode Linux; QEMU (see npm run vm -- --help).
Two batches or more run at a time; the output of each is shown when it has ended.
Fails if a test failed, was skipped or is yet to be written, or if a tier held no test.
The last line is "N passed, N failed, N skipped"; the lines before it say how many tests ran where.

  --only TIER     run only this tier; may be given several times. In the order in which they start:
                  ${namesOf((tier) => !tier.apart)};
                  only when named: ${namesOf((tier) => tier.apart === true)}
  --vehicle NAME  run all tests that need a kernel in namespace, uml or qemu; fails where that lacks what one needs
  FILTER          run only test files with this text in their path, and the tiers that have such files
  --help          show this text
`;

/**
 * @typedef {object} TestOptions
 * @property {boolean} help
 * @property {readonly import('./tiers.mjs').Tier[]} tiers
 * @property {string[]} filters
 * @property {import('../vm/vehicles.mjs').VehicleName | undefined} vehicle
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
  return {
    help: values.help,
    tiers: TIERS.filter((tier) => (only === undefined ? !tier.apart : only.includes(tier.name))),
    filters: positionals,
    vehicle: values.vehicle === undefined ? undefined : vehicleNamed('--vehicle', values.vehicle),
  };
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
        vehicle: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}
