// Extracts vmlinux from the compressed kernel image, once, so that booting does not need to.

import { readFileSync, writeFileSync } from 'node:fs';
import { unpackXz } from './xz.mjs';

// Offsets of Documentation/arch/x86/boot.rst; those of the payload start at the end of the setup sectors.
const SETUP_SECTORS = 0x1f1;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;
const XZ_MAGIC = Buffer.from('fd377a585a00', 'hex');
// The uncompressed size, which the kernel's build appends to the payload.
const SIZE_BYTES = 4;

/**
 * In emulation the image takes 3 s to decompress itself, more than the rest of booting. QEMU boots vmlinux directly (PVH),
 * which Debian's kernels support.
 *
 * @param {string} image
 * @param {string} target
 * @returns {boolean} whether it succeeded; false for an image with another compression
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
