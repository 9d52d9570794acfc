// User Mode Linux: a Linux kernel that runs as a process of this machine. User code runs at full speed, a system call
// takes 15 to 30 µs, and there is one CPU.

import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { capture, fullPath } from '../lib/commands.mjs';
import { processorFor } from './processor.mjs';
import { LIBRARIES } from './umlKernel.mjs';

// The PID namespace ends all processes of the machine with its first. The mount namespace has a tmpfs for the machine's
// memory, which is a file: /dev/shm is often too small, or mounted noexec.
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const SET_UP =
  'mkdir memory && mount -t tmpfs -o mode=700,size=100% tmpfs memory && TMPDIR=$PWD/memory && export TMPDIR && exec "$@"';

/** @type {import('./machine.mjs').Kind} */
export const UML = {
  guest: 'uml.sh',
  modules: ['overlay'],
  async start(kernel, job, place) {
    if (kernel.libraries !== undefined) symlinkSync(kernel.libraries, join(place.folder, LIBRARIES));
    // Relative names: the kernel splits its command line at spaces.
    const args = [
      ...[`mem=${job.memoryMib}M`, 'initrd=initramfs', 'uml_dir=memory/', 'umid=machine'],
      ...['quiet', 'noreboot', 'panic=-1', 'oops=panic'],
      ...(kernel.options ?? []),
      ...['con=null', 'con0=null,fd:1', 'console=tty0', 'ssl=null', 'ssl0=fd:3', 'ssl1=fd:4', 'ssl2=fd:5'],
    ];
    // At every page fault and system call, the kernel and its processes alternate. On one CPU this takes a third of the
    // time, because no other CPU must wake up.
    const processor = String(await processorFor(basename(kernel.image)));
    // The machine must never outlive this process.
    const uml = spawn(
      'setpriv',
      [
        ...['--pdeathsig', 'KILL'],
        ...['unshare', ...asRoot(), ...NAMESPACES],
        ...['taskset', '--cpu-list', processor],
        ...['sh', '-c', SET_UP, 'sh'],
        ...(kernel.preload === undefined ? [] : ['env', `LD_PRELOAD=${kernel.preload}`]),
        ...[kernel.image, ...args],
      ],
      {
        cwd: place.folder,
        env: { PATH: fullPath() },
        // Node.js implements these pipes as Unix sockets, which the serial lines need because they also read.
        stdio: ['ignore', place.log, place.log, 'pipe', 'pipe', 'pipe'],
      },
    );
    const sockets = /** @type {import('node:net').Socket[]} */ (uml.stdio.slice(3));
    return { process: uml, ports: sockets.map((socket) => Promise.resolve(socket)) };
  },
};

/** @returns {string[]} options of unshare that allow any user to create the other namespaces */
function asRoot() {
  return process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
}

/** Whether this machine allows us to create the namespaces, found by trying. */
export function umlNamespacesServe() {
  return capture('unshare', [...asRoot(), ...NAMESPACES, 'true']).ok;
}
