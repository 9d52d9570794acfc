// Takes the kernel proper (vmlinux) out of its self-unpacking image, once, so that no boot pays for it.

import { readFileSync, writeFileSync } from 'node:fs';
import { unpackXz } from './xz.mjs';

// Offsets of Documentation/arch/x86/boot.rst; the payload's are counted from the end of the setup sectors.
const SETUP_SECTORS = 0x1f1;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;
const XZ_MAGIC = Buffer.from('fd377a585a00', 'hex');
// The size of what is packed, appended to the payload by the kernel's build.
const SIZE_BYTES = 4;

/**
 * In emulation the image takes 3 s to unpack itself, more than all the rest of booting. QEMU boots a vmlinux directly
 * (PVH), which Debian's kernels can do.
 *
 * @param {string} image
 * @param {string} target
 * @returns {boolean} whether it could; false for an image that is packed in another way
 */
export function unpackImage(image, target) {
  const bytes = readFileSync(image);
  const setupEnd = ((bytes[SETUP_SECTORS] || 4) + 1) * 512;
  const start = setupEnd + bytes.readUInt32LE(PAYLOAD_OFFSET);
  const payload = bytes.subarray(start, start + bytes.readUInt32LE(PAYLOAD_LENGTH) - SIZE_BYTES);
  if (!payload.subarray(0, XZ_MAGIC.length).equals(XZ_MAGIC)) return false;
  writeFileSync(target, unpackXz(payload));
  return true;
}
