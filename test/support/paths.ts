// Where things are, seen from compiled tests.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(from: string): string {
  return existsSync(join(from, 'package.json')) ? from : findRoot(dirname(from));
}

/** The checkout. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));
