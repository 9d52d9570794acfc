// The YAML library, loaded when the first YAML text is read or written: a process that reads JSON alone, or nothing, saves
// its memory (9 MB) and its time to load.
import { createRequire } from 'node:module';

type Yaml = typeof import('yaml');

const require = createRequire(import.meta.url);

/** The library; every call gives the same one. */
export function yaml(): Yaml {
  return require('yaml') as Yaml;
}
