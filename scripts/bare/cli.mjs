// The command `npm run bare`: makes a root folder with a clone, runs the command in it, and deletes it.

import { CHECKOUT } from '../lib/checkout.mjs';
import { capture } from '../lib/commands.mjs';
import { Failure, reportFailures } from '../lib/failure.mjs';
import { ensurePackages } from '../lib/packages.mjs';
import { enter } from './enter.mjs';
import { HELP, parseOptions } from './options.mjs';
import { deleteRoot, ensureBase, makeRoot } from './root.mjs';

// Like npm run vm: the status of our own failures differs from the command's.
const OWN_FAILURE = 125;

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit status
 */
export function main(args) {
  return reportFailures('bare', () => runBare(args), OWN_FAILURE);
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
async function runBare(args) {
  const { help, fresh, command } = parseOptions(args);
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (command.length === 0) throw new Failure('no command given (see --help)');
  if (process.getuid?.() !== 0) throw new Failure('this needs root: run it with sudo');
  ensurePackages({ debootstrap: 'debootstrap' });
  warnOfChanges();
  const base = ensureBase(fresh);
  const root = makeRoot(base);
  try {
    return await enter(root, command);
  } finally {
    deleteRoot(root);
  }
}

/** The clone has commits only. */
function warnOfChanges() {
  const { stdout } = capture('git', ['-C', CHECKOUT, 'status', '--porcelain']);
  const count = stdout.toString().split('\n').filter(Boolean).length;
  if (count > 0) process.stderr.write(`bare: the clone lacks your uncommitted changes of ${count} paths\n`);
}
