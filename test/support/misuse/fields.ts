// What the types of arguments do not say: fields that no valid call has, and the names of fields in errors.
import type { Door } from './doors.js';
import type { VerbType } from './types.js';
import type { Place } from './values.js';

/** Fields of a type that the verb refuses, whatever their value. */
export const REFUSED: Readonly<Record<string, RegExp>> = {
  // A range is no entry, and an added entry has no attributes that were listed.
  'ipset.test': /^\[1\]\.last/,
  'ipset.add': /^\[1\]\.attributes/,
};

/** Times that the kernel has in smaller units than the library: fractions are valid. */
const FRACTIONS = /\.(forwardDelay|helloTime|maxAge|ageingTime|multicast\w+Interval|rtt|rttVariance)$/;

/** Whether a value of no type that the place has is valid all the same. */
export function isValid({ path }: Place, value: unknown): boolean {
  return value === 1.5 && FRACTIONS.test(path);
}

/** The name of an argument in errors, where it has another name than the parameter. */
const OTHER_NAMES: Readonly<Partial<Record<Door, Readonly<Record<string, string>>>>> = {
  ipvs: { id: 'service' },
  // `deleteLink(link)`, as its operation has it.
  rtnetlink: { link: 'name' },
  conntrack: { flows: 'flow', operations: 'operation' },
  netlink: { request: 'message', messages: 'message' },
};

/** The names by which an error may call a place: its own, and those of the fields that it should have. */
export function namesOf(door: Door, { parameters, places }: VerbType, { keys, path }: Place): Set<string> {
  const parameter = parameters[Number(keys[0])] ?? '';
  const own = keys.slice(1).findLast((key) => typeof key === 'string');
  const names = new Set<string>();
  if (own === undefined) {
    names.add(parameter);
    const other = OTHER_NAMES[door]?.[parameter];
    if (other !== undefined) names.add(other);
  } else names.add(String(own));
  // The two numbers of a range are named together.
  if (own === 'first' || own === 'last') names.add(String(keys.at(-2)));
  for (const inner of places.keys()) if (inner.startsWith(path)) names.add(lastName(inner));
  return names;
}

/** `port` of `service.port`, `labels` of `labels[0]`. */
export function lastName(path: string): string {
  return (
    path
      .replaceAll(/\[\d*\]/g, '')
      .split('.')
      .at(-1) ?? ''
  );
}
