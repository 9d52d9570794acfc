// Platforms of images, and whether this machine can run their programs.

import { existsSync } from 'node:fs';
import { Failure } from '../lib/failure.mjs';

/** @typedef {import('./options.mjs').Arch} Arch */

/** @type {Readonly<Record<Arch, string>>} Names of the processors in images and in Debian. */
export const DEBIAN_ARCH = { x64: 'amd64', arm64: 'arm64' };

/** @type {Readonly<Record<Arch, string>>} Names of the processors in QEMU. */
const QEMU_ARCH = { x64: 'x86_64', arm64: 'aarch64' };

const REGISTRY = '/proc/sys/fs/binfmt_misc';

/**
 * Throws a Failure unless this machine runs programs for the processor: steps of the build run programs of the image.
 *
 * @param {Arch} arch
 */
export function assertRunnable(arch) {
  const name = `qemu-${QEMU_ARCH[arch]}`;
  if (arch === process.arch || existsSync(`${REGISTRY}/${name}`)) return;
  const commands = [
    'apt-get install qemu-user-static',
    `mountpoint -q ${REGISTRY} || mount -t binfmt_misc none ${REGISTRY}`,
    `cat /usr/lib/binfmt.d/${name}.conf >${REGISTRY}/register`,
  ];
  throw new Failure(
    `this machine cannot run programs for ${arch}. QEMU can; as root:\n${commands.map((line) => `  ${line}\n`).join('')}`,
  );
}
