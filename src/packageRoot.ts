// The folder of the package, wherever its modules are: compiled one by one, or bundled into one file.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, above this file. */
export const PACKAGE_ROOT: string = folderAbove(dirname(fileURLToPath(import.meta.url)));

function folderAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
  return folderAbove(parent);
}
