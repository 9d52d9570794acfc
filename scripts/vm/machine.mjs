// Runs one machine: its initramfs, its output, its time limit. The kinds of machines are in uml.mjs and qemu.mjs.

import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { makeInitramfs } from './initramfs.mjs';
import { jobScript } from './job.mjs';
import { interruption, outcome } from './outcome.mjs';

/**
 * @typedef {import('./job.mjs').Job & { timeoutSeconds: number, memoryMib: number, cpus: number | undefined }} MachineJob
 */

/**
 * @typedef {object} Place where a machine finds its files
 * @property {string} folder the machine's own, removed after its end
 * @property {string} initramfs
 * @property {string} consoleLog
 * @property {number} log the console log, open for writing
 */

/**
 * @typedef {object} Running
 * @property {import('node:child_process').ChildProcess} process SIGKILL ends the machine; it is closed when the machine has ended
 * @property {readonly Promise<import('node:net').Socket>[]} ports stdout, stderr, status
 */

/**
 * @typedef {object} Kind a kind of machine
 * @property {string} guest the file in guest/ that says how the guest reaches the host
 * @property {readonly string[]} modules the kernel modules that the guest needs to reach its root
 * @property {(kernel: import('./kernel.mjs').Kernel, job: MachineJob, place: Place) => Promise<Running>} start
 */

/**
 * Boots the kernel, runs the job, copies its output to ours, and ends the machine.
 *
 * @param {Kind} kind
 * @param {import('./kernel.mjs').Kernel} kernel
 * @param {MachineJob} job
 * @returns {Promise<number>} the exit status
 */
export async function runMachine(kind, kernel, job) {
  const ending = new AbortController();
  const interrupted = interruption(ending.signal);
  const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-vm-'));
  const place = { folder, initramfs: join(folder, 'initramfs'), consoleLog: join(folder, 'console') };
  try {
    writeFileSync(place.initramfs, makeInitramfs(kind, kernel, jobScript(job, kernel.modules)));
    const log = openSync(place.consoleLog, 'a');
    const machine = await kind.start(kernel, job, { ...place, log });
    const closed = once(machine.process, 'close');
    closeSync(log);
    try {
      return await outcome(machine, job.timeoutSeconds, place.consoleLog, ending.signal, interrupted);
    } finally {
      machine.process.kill('SIGKILL');
      // The process is the parent of the machine's last one, which may outlive it for a moment and keep the folder from being removed.
      for (const stream of machine.process.stdio) if (stream instanceof Readable) stream.resume();
      await closed;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    ending.abort();
  }
}
