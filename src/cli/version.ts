// The version of package.json.
import { readFileSync } from 'node:fs';

/** `0.1.0`. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
