// The file of the addon: where it is, in a checkout, an installed package and a bundle.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { findPackageRoot, moduleFile } from '../packageRoot.js';

/** Names a copy of the file, wherever it is. */
const VARIABLE = 'KUBE_NETLINK_PROXY_ADDON';

/**
 * Loads the file that the variable KUBE_NETLINK_PROXY_ADDON names; else the one that was built from source in `build/` of the
 * package, or the one in its `prebuilds/` for this platform. A module that is part of a bundle loads a copy of the latter beside the
 * bundle. Throws an Error that says how to get the file if there is none, or if it cannot be loaded.
 */
export function loadAddonFile(): unknown {
  // As a method: webpack takes an imported createRequire() and every require() for its own.
  const load = module.createRequire(moduleFile());
  const root = findPackageRoot();
  const file = process.env[VARIABLE];
  if (file) return loadFile(load, resolve(file), `${VARIABLE} must name a file of its prebuilds/`);
  if (root === undefined) return loadBeside(load);
  try {
    return load('node-gyp-build')(root);
  } catch (cause) {
    throw notLoaded(`of ${root}`, cause, advice(root));
  }
}

/** A bundle may know neither its own place nor that of the package: then the script that Node was started with is in its folder. */
function loadBeside(load: NodeJS.Require): unknown {
  const folders = new Set([moduleFile(), process.argv[1]].flatMap((file) => (file ? [dirname(file)] : [])));
  const names = ['glibc', 'musl'].map((library) => `kube-netlink-proxy.${library}.node`);
  const copies = [...folders].flatMap((folder) => names.map((name) => join(folder, name))).filter(existsSync);
  const copied = `copy kube-netlink-proxy/prebuilds/linux-${process.arch}/*.node beside it, or keep kube-netlink-proxy out of the bundle`;
  const [first, second] = copies;
  if (first === undefined) {
    throw notLoaded(`of the bundle in ${[...folders].join(' or ')}`, new Error('there is none'), copied);
  }
  try {
    return loadFile(load, first, copied);
  } catch (error) {
    if (second === undefined) throw error;
    return loadFile(load, second, copied);
  }
}

function loadFile(load: NodeJS.Require, file: string, advice: string): unknown {
  try {
    return load(file);
  } catch (cause) {
    throw notLoaded(file, cause, advice);
  }
}

function notLoaded(which: string, cause: unknown, advice: string): Error {
  // The other lines repeat the platform and the folder, or the stack of require().
  const [reason] = (cause as Error).message.split('\n');
  return new Error(`the native addon ${which} cannot be loaded: ${reason}; ${advice}`, { cause });
}

/** A checkout builds the addon with its own scripts. An installed package has one script, which fetches what the build needs. */
function advice(root: string): string {
  const isCheckout = existsSync(join(root, 'scripts', 'build-native.mjs'));
  if (isCheckout) return 'build it with `npm run task -- build:native` (needs g++, make and python3)';
  const script = join(root, 'scripts', 'build-from-source.mjs');
  return `build it with \`node ${script}\` (needs npm, g++, make and python3)`;
}
