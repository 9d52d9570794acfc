// An emulated machine: QEMU without KVM. It is slow, but complete: several CPUs, and any kernel of the distribution.

import { spawn } from 'node:child_process';
import { fullPath } from '../lib/commands.mjs';
import { openPort } from './ports.mjs';

const CPUS = 2;

/** @type {import('./machine.mjs').Kind} */
export const QEMU = {
  guest: 'qemu.sh',
  // virtio_console carries the output ports.
  modules: ['virtio_pci', 'virtio_console', '9pnet_virtio', '9p', 'overlay'],
  async start(kernel, job, place) {
    const ports = await Promise.all(
      ['stdout', 'stderr', 'status'].map((name) => openPort(place.folder, name)),
    );
    const args = machineArguments(
      kernel,
      job,
      place,
      ports.map((port) => port.path),
    );
    // QEMU must never outlive this process.
    const qemu = spawn('setpriv', ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...args], {
      env: { ...process.env, PATH: fullPath() },
      stdio: ['ignore', place.log, place.log],
    });
    qemu.once('exit', () => {
      for (const port of ports) port.close();
    });
    return { process: qemu, ports: ports.map((port) => port.connected) };
  },
};

/**
 * @param {import('./kernel.mjs').Kernel} kernel
 * @param {import('./machine.mjs').MachineJob} job
 * @param {import('./machine.mjs').Place} place
 * @param {readonly string[]} ports paths of Unix sockets
 * @returns {string[]}
 */
function machineArguments(kernel, job, place, ports) {
  const shares = [
    ['root', '/', ',readonly=on'],
    ...job.writable.map((path, index) => [`writable${index}`, path, '']),
  ];
  return [
    // Never KVM: even if the device exists, a stock kernel may hang with it.
    ...['-machine', 'q35', '-accel', 'tcg,thread=multi', '-cpu', 'max'],
    ...['-smp', String(job.cpus ?? CPUS), '-m', String(job.memoryMib)],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-kernel', kernel.image, '-initrd', place.initramfs],
    // The kernel checks its timer by counting ticks for a short time; on a busy machine the emulated timer is late.
    ...['-append', 'console=ttyS0 panic=-1 oops=panic quiet mitigations=off no_timer_check'],
    ...[
      '-chardev',
      `file,id=console,path=${optionValue(place.consoleLog)},append=on`,
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
    ...ports.flatMap((path, index) => [
      '-chardev',
      `socket,id=port${index + 1},path=${optionValue(path)}`,
      '-device',
      `virtserialport,chardev=port${index + 1},nr=${index + 1}`,
    ]),
  ];
}

/**
 * Doubles the commas in an option's value.
 *
 * @param {string} path
 */
function optionValue(path) {
  return path.replaceAll(',', ',,');
}
