// Encodes a configuration as KubeProxyConfiguration v1alpha1, in JSON or YAML.
import { writeFileSync } from 'node:fs';
import { yaml } from '../../proxy/yaml.js';
import { fileError } from './goSyntax.js';
import { type KnownModes, modeNamed } from './modes.js';
import { API_VERSION, CONFIGURATION, type Configuration, KIND } from './schema.js';

/**
 * The configuration as v1alpha1 JSON, with `apiVersion`, `kind` and every field, as `/configz` shows it. kube-proxy has the periods and
 * `masqueradeAll` once, for the mode that it runs in: in the sections of other modes, they are zero.
 */
export function externalConfiguration(
  configuration: Configuration,
  modes: KnownModes,
): Record<string, unknown> {
  const encoded = CONFIGURATION.encode(configuration) as Readonly<Record<string, unknown>>;
  const own = modeNamed(configuration.mode || modes.blank, modes)?.sections;
  const others = new Map<string, object>();
  const clear = (section: string, zero: object) =>
    others.set(section, { ...(others.get(section) ?? (encoded[section] as object)), ...zero });
  for (const { sections } of Object.values(modes.definitions)) {
    if (sections.periods !== own?.periods) clear(sections.periods, { syncPeriod: '0s', minSyncPeriod: '0s' });
    if (sections.masqueradeAll !== own?.masqueradeAll)
      clear(sections.masqueradeAll, { masqueradeAll: false });
  }
  return { apiVersion: API_VERSION, kind: KIND, ...encoded, ...Object.fromEntries(others) };
}

/** The configuration as YAML, fields in alphabetical order. */
export function formatConfiguration(configuration: Configuration, modes: KnownModes): string {
  return yaml().stringify(externalConfiguration(configuration, modes), {
    version: '1.1',
    sortMapEntries: true,
    lineWidth: 0,
  });
}

/** Writes the configuration to a file, and overwrites it (`--write-config-to`). Throws kube-proxy's error. */
export function writeConfiguration(path: string, configuration: Configuration, modes: KnownModes): void {
  try {
    writeFileSync(path, formatConfiguration(configuration, modes));
  } catch (error) {
    throw new Error(fileError(error, path), { cause: error });
  }
}
