// Operations with the names of links, of which they may have indexes.
import { constants } from 'node:os';
import { WRITTEN_KIND_NAMES } from '../../rtnetlink/links/kinds/index.js';
import type { Link, LinkReference, RtnetlinkOperation } from '../../rtnetlink/types.js';

const { EINVAL, ENODEV } = constants.errno;

/** Finds a link by its name or its index. */
type FindLink = (link: LinkReference) => Link | undefined;

/** An object whose links have names. */
export type Named<T extends { readonly link?: LinkReference; readonly master?: LinkReference | null }> = T & {
  readonly link?: string;
  readonly master?: string | null;
};

/** An operation that names links by their names only, not by alternative ones; the errno of an index that no link has. */
export function namedOperation(operation: RtnetlinkOperation, find: FindLink): RtnetlinkOperation | number {
  let errno = 0;
  const nameOf = (value: unknown, refusal: number): unknown => {
    if (typeof value === 'string') return find(value)?.name ?? value;
    if (typeof value !== 'number') return value;
    const name = find(value)?.name;
    if (name === undefined) errno ||= refusal;
    return name;
  };
  /** A copy of the object whose fields of these names are names of links. */
  const named = <T>(object: T, fields: readonly string[], refusal: number = ENODEV): T => {
    if (typeof object !== 'object' || object === null) return object;
    const copy = { ...object } as Record<string, unknown>;
    for (const field of fields) if (field in copy) copy[field] = nameOf(copy[field], refusal);
    return copy as T;
  };
  const result = inOperation(operation, named);
  return errno || result;
}

type WithNames = <T>(object: T, fields: readonly string[], refusal?: number) => T;

function inOperation(operation: RtnetlinkOperation, named: WithNames): RtnetlinkOperation {
  if ('address' in operation) return { ...operation, address: named(operation.address, ['link']) } as never;
  if ('neighbour' in operation)
    return { ...operation, neighbour: named(operation.neighbour, ['link']) } as never;
  if ('bridgeVlan' in operation)
    return { ...operation, bridgeVlan: named(operation.bridgeVlan, ['link']) } as never;
  if ('entry' in operation) {
    return { ...operation, entry: named(operation.entry, ['link', 'outputLink']) } as never;
  }
  if ('nextHop' in operation) return { ...operation, nextHop: named(operation.nextHop, ['link']) } as never;
  if ('route' in operation) {
    const route = named(operation.route, ['link']);
    const hops = route.nextHops?.map((hop) => named(hop, ['link']));
    return { ...operation, route: { ...route, ...(hops && { nextHops: hops }) } };
  }
  if (!('settings' in operation) || operation.settings === undefined) return operation;
  const settings = named(named(operation.settings as object, ['link']), ['master'], EINVAL);
  const links = { bond: ['activePort', 'primary'], bridgePort: ['backupPort'] } as const;
  const kinds: Record<string, unknown> = {};
  for (const name of [...WRITTEN_KIND_NAMES, 'bridgePort'] as const) {
    const own = settings[name as keyof typeof settings] as object | undefined;
    if (own) kinds[name] = named(own, links[name as keyof typeof links] ?? ['link']);
  }
  return { ...operation, settings: { ...settings, ...kinds } } as RtnetlinkOperation;
}

/** A copy, which the caller may change. */
export function copyOf(link: Link | undefined): Link | undefined {
  return link && { ...link };
}

type VerbOf<Name, Kind extends string> = Name extends `${infer Verb}${Kind}` ? Verb : never;

/** `addRoute` → `add`. */
export function verb<Name extends string, Kind extends string>(name: Name, kind: Kind): VerbOf<Name, Kind> {
  return name.slice(0, -kind.length) as VerbOf<Name, Kind>;
}
