// One QEMU machine from start to end, and its arguments.

import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fullPath } from '../lib/commands.mjs';
import { makeInitramfs } from './initramfs.mjs';
import { jobScript } from './job.mjs';
import { outcome } from './outcome.mjs';
import { openPort } from './ports.mjs';

/**
 * @typedef {import('./kernel.mjs').Kernel} Kernel
 * @typedef {import('./job.mjs').Job & { timeoutSeconds: number, memoryMib: number, cpus: number }} MachineJob
 */

/**
 * Boots the kernel, runs the job, copies its output to ours, and ends the machine.
 *
 * @param {Kernel} kernel
 * @param {MachineJob} job
 * @returns {Promise<number>} the exit status
 */
export async function runMachine(kernel, job) {
  const folder = mkdtempSync(join(tmpdir(), 'kube-netlink-proxy-vm-'));
  const initramfs = join(folder, 'initramfs');
  const consoleLog = join(folder, 'console');
  const ports = await Promise.all(['stdout', 'stderr', 'status'].map((name) => openPort(folder, name)));
  try {
    writeFileSync(initramfs, makeInitramfs(kernel, jobScript(job, kernel.modules)));
    const log = openSync(consoleLog, 'a');
    const args = machineArguments(kernel, job, {
      initramfs,
      consoleLog,
      ports: ports.map((port) => port.path),
    });
    // QEMU must not outlive us, however we end.
    const qemu = spawn('setpriv', ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...args], {
      env: { ...process.env, PATH: fullPath() },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    try {
      return await outcome(qemu, ports, job.timeoutSeconds, consoleLog);
    } finally {
      qemu.kill('SIGKILL');
    }
  } finally {
    for (const port of ports) port.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {Kernel} kernel
 * @param {MachineJob} job
 * @param {{ initramfs: string, consoleLog: string, ports: readonly string[] }} files
 * @returns {string[]}
 */
function machineArguments(kernel, job, files) {
  const shares = [
    ['root', '/', ',readonly=on'],
    ...job.writable.map((path, index) => [`writable${index}`, path, '']),
  ];
  return [
    // Never KVM: where the device is there, a stock kernel may still hang on it.
    ...['-machine', 'q35', '-accel', 'tcg,thread=multi', '-cpu', 'max'],
    ...['-smp', String(job.cpus), '-m', String(job.memoryMib)],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-kernel', kernel.image, '-initrd', files.initramfs],
    ...['-append', 'console=ttyS0 panic=-1 oops=panic quiet mitigations=off'],
    ...[
      '-chardev',
      `file,id=console,path=${optionValue(files.consoleLog)},append=on`,
      '-serial',
      'chardev:console',
    ],
    ...shares.flatMap(([tag, path = '', mode]) => [
      '-fsdev',
      `local,id=${tag},path=${optionValue(path)},security_model=none,multidevs=remap${mode}`,
      '-device',
      `virtio-9p-pci,fsdev=${tag},mount_tag=${tag}`,
    ]),
    ...['-device', 'virtio-serial-pci'],
    ...files.ports.flatMap((path, index) => [
      '-chardev',
      `socket,id=port${index + 1},path=${optionValue(path)}`,
      '-device',
      `virtserialport,chardev=port${index + 1},nr=${index + 1}`,
    ]),
  ];
}

/**
 * A comma in an option's value is written twice.
 *
 * @param {string} path
 */
function optionValue(path) {
  return path.replaceAll(',', ',,');
}
