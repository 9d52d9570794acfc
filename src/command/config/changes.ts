// What a change of the configuration file means for a running agent: which fields are applied in place, and which wait for its next
// start. Pure.
import { leaves, whyIgnored } from './ignored.js';
import type { KnownModes } from './modes.js';
import type { Configuration } from './schema.js';

/**
 * The effect of a change of each field: these are applied in place; fields without effect (`whyIgnored`) need nothing; every other field
 * waits for the next start, because it moves traffic, or is read once. A field that is new in the schema therefore waits.
 */
export const APPLIED_IN_PLACE: readonly string[] = ['logging.verbosity'];

/** The fields in which two configurations differ, by path. */
interface ConfigurationChange {
  readonly applied: readonly string[];
  readonly waiting: readonly string[];
}

/** Compares the configuration in force with the one that the file has now. */
export function changedFields(
  inForce: Configuration,
  found: Configuration,
  modes: KnownModes,
): ConfigurationChange {
  const [before, after] = [leaves(inForce), leaves(found)];
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path) && whyIgnored(path, modes) === undefined,
  );
  return {
    applied: changed.filter((path) => APPLIED_IN_PLACE.includes(path)),
    waiting: changed.filter((path) => !APPLIED_IN_PLACE.includes(path)),
  };
}

/** The configuration in force, with the fields that are applied in place as they were found. */
export function withAppliedFields(inForce: Configuration, found: Configuration): Configuration {
  const result = structuredClone(inForce);
  for (const path of APPLIED_IN_PLACE) {
    const steps = path.split('.');
    const last = steps.pop() as string;
    const holder = (of: Configuration) =>
      steps.reduce<unknown>((at, step) => (at as Fields)[step], of) as Fields;
    holder(result)[last] = holder(found)[last];
  }
  return result;
}

type Fields = Record<string, unknown>;
