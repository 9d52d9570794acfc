// The end of a machine: the command ended, the machine died, the time limit, or a signal.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open, watch as watchFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../lib/failure.mjs';
import { copyPort, readLines } from './ports.mjs';

const TIMED_OUT = 124;

// Booting takes 2 to 4 s, and several times as long if all CPUs are busy.
const BOOT_SECONDS = 120;
const CONSOLE_TAIL = 30;
// Lines of kernel/panic.c and of the handlers of faults in arch/. A kernel may hang after them, whatever it was told to do.
const PANIC = /Kernel panic - not syncing|\bOops\b|BUG: unable to handle/;

/**
 * @typedef {object} Watch
 * @property {import('node:child_process').ChildProcess} process the machine's
 * @property {string} consoleLog
 * @property {AbortController} start aborted when the guest has started the command
 * @property {AbortSignal} over ends all that waits
 */

/**
 * Copies the command's output to ours until the end; the caller kills the machine.
 *
 * @param {import('./machine.mjs').Running} machine
 * @param {number} timeoutSeconds
 * @param {string} consoleLog
 * @param {AbortSignal} over aborted when the machine has ended
 * @param {Promise<number>} interrupted of {@link interruption}
 * @returns {Promise<number>} the exit status
 */
export function outcome(machine, timeoutSeconds, consoleLog, over, interrupted) {
  /** @type {Watch} */
  const watch = { process: machine.process, consoleLog, start: new AbortController(), over };
  return Promise.race([
    commandEnd(watch, machine.ports),
    machineEnd(watch),
    panic(watch),
    bootLimit(watch),
    timeLimit(watch, timeoutSeconds),
    interrupted,
  ]);
}

/**
 * @param {Watch} watch
 * @param {readonly Promise<import('node:net').Socket>[]} ports stdout, stderr, status
 * @returns {Promise<number>}
 */
async function commandEnd(watch, ports) {
  const [stdout, stderr, status] = await Promise.all(ports);
  if (!stdout || !stderr || !status) throw new Error('the machine has three ports');
  const copies = [copyPort(stdout, process.stdout), copyPort(stderr, process.stderr)];
  const [code = '', ...moved] = await new Promise((resolve) => {
    readLines(status, (line) => {
      const [word, ...numbers] = line.split(' ');
      if (word === 'started') watch.start.abort();
      if (word === 'ended') resolve(numbers);
    });
  });
  // The ports are not synchronized: the status may overtake the end of the output.
  await Promise.all(copies.map((copy, index) => copy.reached(Number(moved[index] || 0))));
  return Number(code);
}

/**
 * @param {Watch} watch
 * @returns {Promise<never>}
 */
async function machineEnd(watch) {
  await once(watch.process, 'exit', { signal: watch.over });
  throw machineFailure(watch, stage(watch));
}

/** @param {Watch} watch */
const stage = ({ start }) =>
  start.signal.aborted ? 'the machine stopped before the command ended' : 'the machine did not boot';

/**
 * A panic, when it is printed.
 *
 * @param {Watch} watch
 * @returns {Promise<never>}
 */
async function panic(watch) {
  const log = await open(watch.consoleLog);
  const changes = watchFile(watch.consoleLog, { signal: watch.over })[Symbol.asyncIterator]();
  try {
    let text = '';
    // The watch begins with the first wait, so that nothing is printed between it and a look at the file.
    for (let change = changes.next(); ; change = changes.next()) {
      change.catch(() => {}); // it may be rejected when nothing waits for it any more
      text = text.slice(text.lastIndexOf('\n') + 1) + (await log.readFile('utf8'));
      if (PANIC.test(text)) throw machineFailure(watch, stage(watch));
      await change;
    }
  } finally {
    await log.close();
  }
}

/**
 * @param {Watch} watch
 * @returns {Promise<never>}
 */
async function bootLimit(watch) {
  await delay(BOOT_SECONDS * 1000, undefined, { signal: watch.over });
  if (watch.start.signal.aborted) return new Promise(() => {});
  throw machineFailure(watch, `the machine did not boot within ${BOOT_SECONDS} s`);
}

/**
 * With the first line of a panic, and the lines before it, which have the cause; what follows is registers and stacks.
 *
 * @param {Watch} watch
 * @param {string} what
 */
function machineFailure(watch, what) {
  const lines = readFileSync(watch.consoleLog, 'utf8').trimEnd().split('\n');
  const first = lines.findIndex((line) => PANIC.test(line));
  const said = first === -1 ? lines : lines.slice(0, first + 1);
  const end = said.slice(-CONSOLE_TAIL).map((line) => `  ${line}`);
  const reason = first === -1 ? '' : `: ${lines[first]?.trim()}`;
  return new Failure(`${what}${reason}; the end of its console:\n${end.join('\n')}`);
}

/**
 * The limit is that of the command, without booting.
 *
 * @param {Watch} watch
 * @param {number} seconds
 * @returns {Promise<number>}
 */
async function timeLimit(watch, seconds) {
  const { signal: started } = watch.start;
  if (!started.aborted) await once(started, 'abort', { signal: watch.over });
  await delay(seconds * 1000, undefined, { signal: watch.over });
  process.stderr.write(`vm: stopped after the time limit of ${seconds} s (--timeout)\n`);
  return TIMED_OUT;
}

/**
 * A signal, or the closing of our output by its reader. Call it before a machine has anything to clean up.
 *
 * @param {AbortSignal} over ends the waiting
 * @returns {Promise<number>} the exit status
 */
export function interruption(over) {
  return new Promise((resolve) => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
      const stop = () => resolve(128 + constants.signals[signal]);
      process.once(signal, stop);
      over.addEventListener('abort', () => process.off(signal, stop));
    }
    for (const stream of [process.stdout, process.stderr]) {
      stream.on('error', () => resolve(128 + constants.signals.SIGPIPE));
    }
  });
}
