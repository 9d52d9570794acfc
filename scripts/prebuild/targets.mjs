// The platforms that have a prebuilt binary.

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {'x64' | 'arm64'} arch as in process.arch
 * @property {'glibc' | 'musl'} libc
 * @property {string} triple for the compiler, with the oldest glibc that the binary needs
 */

/** @type {readonly Target[]} glibc 2.28: Debian 10, RHEL 8 and all later ones; Node.js itself needs it since version 18. */
export const TARGETS = [
  { name: 'linux-x64-glibc', arch: 'x64', libc: 'glibc', triple: 'x86_64-linux-gnu.2.28' },
  { name: 'linux-arm64-glibc', arch: 'arm64', libc: 'glibc', triple: 'aarch64-linux-gnu.2.28' },
  { name: 'linux-x64-musl', arch: 'x64', libc: 'musl', triple: 'x86_64-linux-musl' },
  { name: 'linux-arm64-musl', arch: 'arm64', libc: 'musl', triple: 'aarch64-linux-musl' },
];

/**
 * The binary's path, relative to the checkout, by the rules of prebuildify and node-gyp-build.
 *
 * @param {Target} target
 */
export const pathOf = ({ arch, libc }) => `prebuilds/linux-${arch}/kube-netlink-proxy.${libc}.node`;
