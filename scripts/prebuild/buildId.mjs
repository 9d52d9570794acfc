// The build id of a binary: a note in it by which reports of a crash name it. Zig 0.11 accepts the linker's option for it and does
// not pass it on, so that the note is a part of the sources, and its value is written after the link.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Failure } from '../lib/failure.mjs';

/** Bytes of a SHA-1. */
const LENGTH = 20;

/**
 * An ELF note of the type NT_GNU_BUILD_ID (3), whose value is zero. Readers find it by its type. The linker deletes notes in a section
 * with the usual name (.note.gnu.build-id) from its input.
 */
export const BUILD_ID_SOURCE = `#include <cstdint>

struct Note {
  std::uint32_t name_size, value_size, type;
  char name[4];
  std::uint8_t value[${LENGTH}];
};
__attribute__((section(".note.build-id"), used, aligned(4))) static const Note kBuildId = {
    4, ${LENGTH}, 3, {'G', 'N', 'U', 0}, {}};
`;

/** The note before its value, in the byte order of the platforms, which is little endian. */
const HEAD = Buffer.from([4, 0, 0, 0, LENGTH, 0, 0, 0, 3, 0, 0, 0, 0x47, 0x4e, 0x55, 0]);

/**
 * Writes the build id of a binary that was just linked: the SHA-1 of all its bytes, of which the id itself is zero. Equal sources
 * have equal ids.
 *
 * @param {string} path
 */
export function writeBuildId(path) {
  const bytes = readFileSync(path);
  const note = Buffer.concat([HEAD, Buffer.alloc(LENGTH)]);
  const place = bytes.indexOf(note);
  if (place < 0) throw new Failure(`${path} has no note for its build id`);
  bytes.set(createHash('sha1').update(bytes).digest(), place + HEAD.length);
  writeFileSync(path, bytes);
}
