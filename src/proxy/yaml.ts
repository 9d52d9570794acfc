// Loads the YAML library on first use: a process that uses no YAML saves its memory (9 MB) and load time.
import { createRequire } from 'node:module';
import { optionalPackage } from './optionalPackage.js';

type Yaml = typeof import('yaml');

const require = createRequire(import.meta.url);

/** The library; always the same object. Throws an Error if it is not installed. */
export function yaml(): Yaml {
  return optionalPackage('yaml', 'reading YAML', () => require('yaml') as Yaml);
}
