// Progress of long scripts: a heading for each step, with the time since the start, in s.

import { spawnSync } from 'node:child_process';
import { CHECKOUT } from './checkout.mjs';
import { Failure } from './failure.mjs';

// The start of the first script, in ms since the epoch, for the scripts that it starts, also in the VM.
const START_VARIABLE = 'KNP_STEPS_START';
const start = Number(process.env[START_VARIABLE] ?? Date.now());
process.env[START_VARIABLE] = String(start);

/**
 * @param {string} what
 */
export function heading(what) {
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  process.stdout.write(`== ${seconds.padStart(6)} s  ${what}\n`);
}

/**
 * Runs a command in the checkout with our output.
 *
 * @param {string} what the step, for the heading and for its failure
 * @param {readonly string[]} command
 */
export function step(what, command) {
  heading(what);
  const [program = '', ...args] = command;
  const done = spawnSync(program, args, { cwd: CHECKOUT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (done.error) throw new Failure(`${what}: cannot start ${program}: ${done.error.message}`);
  if (done.status !== 0) throw new Failure(`${what} failed (${done.signal ?? `status ${done.status}`})`);
}

/**
 * The command line of one of our scripts or of a development dependency.
 *
 * @param {string} script relative to the checkout
 * @param {readonly string[]} args
 * @returns {string[]}
 */
export const nodeScript = (script, ...args) => [process.execPath, script, ...args];
