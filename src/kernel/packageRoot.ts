// The folder of the package, wherever its modules are: compiled one by one, or bundled into the package's command.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = 'kube-netlink-proxy';

/** The file of this module; of a program that was bundled, that of the bundle. */
export function moduleFile(): string {
  // A bundle of the CommonJS format has no URL.
  const url: string | undefined = import.meta.url;
  return url === undefined ? __filename : fileURLToPath(url);
}

/** The folder of the package's package.json, above this module; undefined in a bundle that another package has. */
export function findPackageRoot(): string | undefined {
  let folder = dirname(moduleFile());
  while (!isRoot(folder)) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder;
}

/** The same, where the package's own program runs. Throws an Error if it is not there. */
export function packageRoot(): string {
  const root = findPackageRoot();
  if (root === undefined) throw new Error(`no package.json of ${NAME} above ${moduleFile()}`);
  return root;
}

function isRoot(folder: string): boolean {
  const file = join(folder, 'package.json');
  return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === NAME;
}
