// Paths for compiled tests.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(from: string): string {
  return existsSync(join(from, 'package.json')) ? from : findRoot(dirname(from));
}

/** The root of the repository. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/**
 * The path of something below `.cache/` that `npm test` prepares for the files whose line `// Needs: …` names it. Throws an error that
 * names the command if it is missing.
 */
export function prepared(path: string): string {
  const found = join(ROOT, '.cache', path);
  if (existsSync(found)) return found;
  const file = process.argv[1]?.match(/test\/.*(?=\.test\.js$)/)?.[0].replace(/^test\/\w+\//, '') ?? 'FILE';
  throw new Error(`${found} is missing; this prepares it and runs the test: npm test -- ${file}`);
}
