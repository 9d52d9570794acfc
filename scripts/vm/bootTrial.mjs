// Whether User Mode Linux boots on this machine, and with what help: found by booting it, once for each kernel and processor.

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { run } from '../lib/commands.mjs';
import { Failure } from '../lib/failure.mjs';
import { ensurePackages } from '../lib/packages.mjs';
import { onlyWhenChanged } from '../lib/whenChanged.mjs';
import { runMachine } from './machine.mjs';
import { UML } from './uml.mjs';

/**
 * @typedef {import('./kernel.mjs').Kernel} Kernel
 *
 * @typedef {object} Trial
 * @property {boolean} filled whether the areas of its calls of ptrace must be filled up, see ptraceArea.c
 * @property {string} [failure] why it does not boot
 */

const SOURCE = 'scripts/vm/ptraceArea.c';
// Of userspace() in arch/um/os-Linux/skas/process.c, when the host refuses the area.
const AREA_REFUSED = /ptrace set fp regs failed/;

/**
 * A kernel that boots here, or the reason why it does not.
 *
 * @param {string} cache
 * @param {Kernel} kernel
 * @returns {Promise<{ kernel: Kernel, failure: string | undefined }>}
 */
export async function tryUml(cache, kernel) {
  const path = join(cache, `uml-${kernel.release}-on-${identity(kernel)}.json`);
  const known = knownTrial(path);
  const trial = known ?? (await boot(cache, kernel));
  if (!known) {
    // In one step: other runs read it meanwhile.
    const written = `${path}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify(trial)}\n`);
    renameSync(written, path);
  }
  return { kernel: trial.filled ? filling(cache, kernel) : kernel, failure: trial.failure };
}

/** Time for which a failure is remembered, in ms: a busy machine, or a cache that is not complete, may have been its cause. */
const FAILURE_KEPT = 3_600_000;

/**
 * @param {string} path
 * @returns {Trial | undefined}
 */
export function knownTrial(path) {
  const written = statSync(path, { throwIfNoEntry: false });
  if (!written) return undefined;
  /** @type {Trial} */
  const trial = JSON.parse(readFileSync(path, 'utf8'));
  return trial.failure === undefined || Date.now() - written.mtimeMs < FAILURE_KEPT ? trial : undefined;
}

/**
 * Containers may forbid the tracing of processes, and kernels may not know the processor.
 *
 * @param {string} cache
 * @param {Kernel} kernel
 * @returns {Promise<Trial>}
 */
async function boot(cache, kernel) {
  const failure = await failureOf(kernel);
  if (failure === undefined) return { filled: false };
  if (!AREA_REFUSED.test(failure)) return { filled: false, failure };
  const still = await failureOf(filling(cache, kernel));
  return still === undefined ? { filled: true } : { filled: true, failure: still };
}

/**
 * @param {Kernel} kernel
 * @returns {Promise<string | undefined>}
 */
async function failureOf(kernel) {
  const place = { folder: CHECKOUT, checkout: CHECKOUT, writable: [] };
  const limits = { timeoutSeconds: 60, memoryMib: 512, cpus: undefined };
  try {
    const status = await runMachine(UML, kernel, { command: ['true'], ...place, ...limits });
    return status === 0 ? undefined : `the program true ended with ${status}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message;
  }
}

/**
 * @param {string} cache
 * @param {Kernel} kernel
 * @returns {Kernel}
 */
export function filling(cache, kernel) {
  const output = join(cache, 'ptraceArea.so');
  onlyWhenChanged({ output, inputs: [SOURCE], with: process.arch, force: false }, () => {
    ensurePackages({ 'g++': 'g++' });
    run('gcc', ['-O2', '-shared', '-fPIC', '-o', output, join(CHECKOUT, SOURCE)]);
  });
  return { ...kernel, preload: output };
}

/**
 * The kernel, the host's and the processor, whose features decide on the state of a process.
 *
 * @param {Kernel} kernel
 */
function identity({ image }) {
  const processor = readFileSync('/proc/cpuinfo', 'utf8').match(/^(model name|flags)\s*:.*$/gm);
  const parts = [image, release(), ...(processor ?? []).slice(0, 2)];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);
}
