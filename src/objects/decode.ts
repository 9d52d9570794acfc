// Untrusted data → the objects we work with, and what is wrong with it. A part that breaks a rule is left out by name;
// the rest of the object, and every other object, stays.
import type { Problem } from '../errors.js';
import { Fields, isRecord } from '../fields.js';
import { decodeEndpointSlice } from './endpointSlice.js';
import { decodeNode } from './node.js';
import { decodeService } from './service.js';
import type { KubernetesObject } from './types.js';

/** What came of one piece of data. */
export interface Decoded {
  /** Absent for a kind we do not read, and when too much is wrong to use the object at all. */
  readonly object?: KubernetesObject;
  readonly problems: readonly Problem[];
}

const READERS: Readonly<Record<string, (name: ObjectName, fields: Fields) => KubernetesObject | undefined>> =
  {
    'v1/Service': decodeService,
    'v1/Node': decodeNode,
    'discovery.k8s.io/v1/EndpointSlice': decodeEndpointSlice,
  };

/** Name and namespace of an object, `default` where none is given, as kubectl does. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** Reads one object of any kind; kinds we have no use for give nothing and no problem. */
export function decodeObject(raw: unknown): Decoded {
  if (!isRecord(raw)) {
    return { problems: [{ object: 'document', field: '', rule: 'must be an object', value: raw }] };
  }
  const read = READERS[`${String(raw['apiVersion'])}/${String(raw['kind'])}`];
  if (!read) return { problems: misspelledKind(raw) };
  const problems: Problem[] = [];
  const kind = String(raw['kind']);
  const metadata = isRecord(raw['metadata']) ? raw['metadata'] : {};
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : 'default';
  const shown = kind === 'Node' ? name : `${namespace}/${name}`;
  const fields = new Fields(name === '' ? `nameless ${kind}` : `${kind} ${shown}`, problems, raw);
  if (name === '') {
    fields.report('metadata.name', 'must not be empty');
    return { problems };
  }
  const object = read({ namespace, name }, fields);
  return object ? { object, problems } : { problems };
}

/** A kind we read under an apiVersion we do not is a mistake worth telling; any other kind is somebody else's. */
function misspelledKind(raw: Readonly<Record<string, unknown>>): Problem[] {
  const kind = String(raw['kind']);
  const known = Object.keys(READERS).find((reader) => reader.endsWith(`/${kind}`));
  if (!known) return [];
  const apiVersion = known.slice(0, -kind.length - 1);
  return [
    { object: kind, field: 'apiVersion', rule: `must be ${apiVersion}`, value: raw['apiVersion'] ?? '' },
  ];
}
