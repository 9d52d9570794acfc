// Writes the "newc" cpio format (Documentation/driver-api/early-userspace/buffer-format.rst): an initramfs.

const DIRECTORY = 0o040755;
const EXECUTABLE = 0o100755;
const SYMLINK = 0o120777;

/** @typedef {{ path: string, mode: number, body: Buffer }} Entry */

/**
 * @param {string} path relative to the initramfs's root
 * @returns {Entry}
 */
export const directory = (path) => ({ path, mode: DIRECTORY, body: Buffer.alloc(0) });

/**
 * @param {string} path
 * @param {Buffer | string} body
 * @returns {Entry}
 */
export const file = (path, body) => ({ path, mode: EXECUTABLE, body: Buffer.from(body) });

/**
 * @param {string} path
 * @param {string} target
 * @returns {Entry}
 */
export const symlink = (path, target) => ({ path, mode: SYMLINK, body: Buffer.from(target) });

/**
 * @param {readonly Entry[]} entries a folder before what is in it
 * @returns {Buffer}
 */
export function archive(entries) {
  const trailer = { path: 'TRAILER!!!', mode: 0, body: Buffer.alloc(0) };
  return Buffer.concat([...entries, trailer].flatMap((entry, index) => member(entry, index + 1)));
}

/**
 * @param {Entry} entry
 * @param {number} inode
 */
function member({ path, mode, body }, inode) {
  const links = mode === DIRECTORY ? 2 : 1;
  // inode, mode, uid, gid, links, mtime, size, device (4 numbers), length of the name with its NUL, checksum (unused)
  const fields = [inode, mode, 0, 0, links, 0, body.length, 0, 0, 0, 0, Buffer.byteLength(path) + 1, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}${path}\0`;
  return [padded(Buffer.from(header)), padded(body)];
}

/**
 * Headers and bodies both start at multiples of 4 bytes.
 *
 * @param {Buffer} bytes
 */
function padded(bytes) {
  const missing = -bytes.length & 3;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}
