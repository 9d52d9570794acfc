// Encodes a configuration as KubeProxyConfiguration v1alpha1, in JSON or YAML.
import { writeFileSync } from 'node:fs';
import { yaml } from '../yaml.js';
import { fileError } from './goSyntax.js';
import { API_VERSION, CONFIGURATION, type Configuration, KIND } from './schema.js';

/** The configuration as v1alpha1 JSON, with `apiVersion`, `kind` and every field, as `/configz` shows it. */
export function externalConfiguration(configuration: Configuration): Record<string, unknown> {
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    ...(CONFIGURATION.encode(configuration) as Record<string, unknown>),
  };
}

/** The configuration as YAML, fields in alphabetical order. */
export function formatConfiguration(configuration: Configuration): string {
  return yaml().stringify(externalConfiguration(configuration), {
    version: '1.1',
    sortMapEntries: true,
    lineWidth: 0,
  });
}

/** Writes the configuration to a file, and overwrites it (`--write-config-to`). Throws kube-proxy's error. */
export function writeConfiguration(path: string, configuration: Configuration): void {
  try {
    writeFileSync(path, formatConfiguration(configuration));
  } catch (error) {
    throw new Error(fileError(error, path), { cause: error });
  }
}
