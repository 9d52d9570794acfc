// Prepares the tests of the published package: packs it, and installs the Nodes, the npms and the loaders that run it.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../lib/checkout.mjs';
import { installPinned } from '../lib/pinned.mjs';
import { step } from '../lib/steps.mjs';

/** @type {import('../lib/packages.mjs').Requirements} Load the package on other architectures and C libraries. */
export const LOADER_PACKAGES = {
  binutils: 'readelf',
  // Runs programs for arm64, with their C and C++ libraries.
  'qemu-user-static': 'qemu-aarch64-static',
  'libc6-arm64-cross': '/usr/aarch64-linux-gnu/lib/libc.so.6',
  'libstdc++6-arm64-cross': '/usr/aarch64-linux-gnu/lib/libstdc++.so.6',
  'libgcc-s1-arm64-cross': '/usr/aarch64-linux-gnu/lib/libgcc_s.so.1',
  'libatomic1-arm64-cross': '/usr/aarch64-linux-gnu/lib/libatomic.so.1',
  // The loader of musl, and a compiler for it.
  'musl-tools': 'musl-gcc',
};

// The tests read these folders.
const NODES = '.cache/nodes';
const BUNDLERS = '.cache/bundlers';
const PACKED = '.cache/package';

/** Packs the package as `npm publish` would. */
export function preparePackage() {
  const title = 'npm packages: every Node.js and npm that the package is tested with (about 250 MB)';
  installPinned({ folder: 'test/package/nodes', place: NODES, title });
  installPinned({
    folder: 'test/package/bundlers',
    place: BUNDLERS,
    title: 'npm packages: the bundlers and test runners that the package is tested with (about 150 MB)',
  });
  rmSync(join(CHECKOUT, PACKED), { recursive: true, force: true });
  mkdirSync(join(CHECKOUT, PACKED), { recursive: true });
  step('npm pack', ['npm', 'pack', '--silent', '--foreground-scripts', '--pack-destination', PACKED]);
}
