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

/** @typedef {'built' | 'built-without-xtables'} BuiltName */
/** @typedef {KernelName | BuiltName} UmlKernelName */

/** @type {'built'} The kernel of User Mode Linux that is built from source, see builtKernel.mjs. */
export const BUILT = 'built';

/** @type {'built-without-xtables'} The same without xtables and ipset. */
export const BUILT_WITHOUT_XTABLES = 'built-without-xtables';

/** @type {(name: string | undefined) => name is BuiltName} */
export const isBuiltName = (name) => name === BUILT || name === BUILT_WITHOUT_XTABLES;

/** @type {readonly UmlKernelName[]} Those, and suites with the package user-mode-linux. */
export const UML_KERNEL_NAMES = [BUILT, BUILT_WITHOUT_XTABLES, 'bookworm', 'trixie', 'sid'];

/** @type {(name: string) => name is KernelName} */
export const isKernelName = (name) => Object.hasOwn(SUITE_OF, name);

/**
 * The suite whose User Mode Linux is the usual one. Linux 6.12: the tests take two thirds of their time on Debian 12's 6.1. Later suites
 * have no legacy tables of iptables, and no NAT in nf_tables.
 *
 * @type {KernelName}
 */
export const USUAL_SUITE = 'trixie';
