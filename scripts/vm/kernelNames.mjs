// The names of kernels: suites of Debian.

/** @typedef {'bookworm' | 'backports' | 'trixie' | 'sid'} KernelName */

/** @type {Readonly<Record<KernelName, string>>} The suite whose kernel it is. */
export const SUITE_OF = {
  bookworm: 'bookworm',
  backports: 'bookworm-backports',
  trixie: 'trixie',
  sid: 'sid',
};

/** @type {readonly KernelName[]} The older first. */
export const KERNEL_NAMES = /** @type {KernelName[]} */ (Object.keys(SUITE_OF));

/** @type {readonly KernelName[]} Suites with the package user-mode-linux. */
export const UML_KERNEL_NAMES = ['bookworm', 'trixie', 'sid'];

/** @type {(name: string) => name is KernelName} */
export const isKernelName = (name) => Object.hasOwn(SUITE_OF, name);
