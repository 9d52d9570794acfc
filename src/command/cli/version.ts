// The version of package.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../kernel/packageRoot.js';

/** `0.1.0`. */
export const VERSION: string = (
  JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }
).version;
