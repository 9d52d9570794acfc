// The command line of `npm test`.

import { parseArgs } from 'node:util';
import { Failure } from '../lib/failure.mjs';
import { TIERS } from './tiers.mjs';

/** @param {(tier: import('./tiers.mjs').Tier) => boolean} meant */
const namesOf = (meant) =>
  TIERS.filter(meant)
    .map((tier) => `${tier.name}${tier.vm ? ' (VM)' : ''}`)
    .join(', ');

export const HELP = `Usage: npm test -- [--only TIER]… [FILTER]…

Installs what is missing, builds, and runs the tests; those of the kernel in one VM (see npm run vm -- --help).
Fails if a test failed, was skipped or is yet to be written, or if a tier held no test.
The last line is "N passed, N failed, N skipped".

  --only TIER   run only this tier; may be given several times. In the order in which they run:
                ${namesOf((tier) => !tier.apart)};
                only when named: ${namesOf((tier) => tier.apart === true)}
  FILTER        run only test files with this text in their path, and the tiers that have such files
  --help        show this text
`;

/**
 * @param {readonly string[]} args
 * @returns {{ help: boolean, tiers: readonly import('./tiers.mjs').Tier[], filters: string[] }}
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
  };
}

/**
 * @param {readonly string[]} args
 */
function read(args) {
  try {
    return parseArgs({
      args: [...args],
      options: { only: { type: 'string', multiple: true }, help: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Failure(`${/** @type {Error} */ (error).message} (see --help)`);
  }
}
