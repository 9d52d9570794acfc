// Paths for compiled tests.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(from: string): string {
  return existsSync(join(from, 'package.json')) ? from : findRoot(dirname(from));
}

/** The root of the repository. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));
