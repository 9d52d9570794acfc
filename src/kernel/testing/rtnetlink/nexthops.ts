// Nexthop objects in memory, with the kernel's rules.
import { constants } from 'node:os';
import { canonicalAddressAsIs, familyOf } from '../../net/address.js';
import type { Link, NewNextHopObject, NextHopObject, NextHopObjectId } from '../../rtnetlink/types.js';
import type { Refusal } from '../client.js';
import {
  GROUP_FOR_NEXTHOP,
  LINK_OF_NEXTHOP_DOWN,
  NEXTHOP_FOR_GROUP,
  NO_SUCH_NEXTHOP,
  noLink,
  REFUSALS,
} from './refusals.js';

const { EEXIST, ENOENT } = constants.errno;

/** What nexthop objects depend on, and what depends on them. */
interface NextHopSurroundings {
  link(name: string): Link | undefined;
  /** Whether a gateway is a neighbour by a link. */
  reaches(gateway: string, link: string, onLink: boolean): boolean;
  /** Deletes the routes by an object. */
  deleted(id: number): void;
}

/** A nexthop object whose link has a name. */
type Given = NewNextHopObject & { readonly link?: string };

/** The nexthop objects of a network namespace. */
export class FakeNextHops {
  readonly #objects = new Map<number, NextHopObject>();
  readonly #around: NextHopSurroundings;

  constructor(around: NextHopSurroundings) {
    this.#around = around;
  }

  list(): NextHopObject[] {
    return [...this.#objects.values()].sort((a, b) => a.id - b.id);
  }

  get(id: number): NextHopObject | undefined {
    return this.#objects.get(id);
  }

  write(verb: 'add' | 'replace', object: NewNextHopObject): Refusal | undefined {
    const given = object as Given;
    const held = this.#objects.get(given.id);
    const refused = this.#refusalOf(given);
    if (refused) return refused;
    if (verb === 'add' && held) return EEXIST;
    if (held && !held.group && given.group) return GROUP_FOR_NEXTHOP;
    if (held?.group && !given.group) return NEXTHOP_FOR_GROUP;
    this.#objects.set(given.id, completed(given));
    return undefined;
  }

  delete({ id }: NextHopObjectId): Refusal | undefined {
    if (!this.#objects.delete(id)) return ENOENT;
    this.#around.deleted(id);
    for (const { group, ...object } of this.list()) {
      const left = group?.filter((member) => member.id !== id);
      if (left?.length === 0) this.delete(object);
      else if (left) this.#objects.set(object.id, { ...object, group: left } as NextHopObject);
    }
    return undefined;
  }

  /** Deletes the objects by links that are down or gone. */
  prune(): void {
    for (const object of this.list()) {
      const { link } = object;
      if (link !== undefined && !this.#around.link(String(link))?.up) this.delete(object);
    }
  }

  #refusalOf({ link, gateway, flags, group, blackhole, family = 4 }: Given): Refusal | undefined {
    if (group) return group.every(({ id }) => this.#objects.has(id)) ? undefined : NO_SUCH_NEXTHOP;
    if (blackhole && !this.#around.link('lo')?.up) return REFUSALS[family].linkDown;
    if (link === undefined) return undefined;
    const found = this.#around.link(link);
    if (!found) return noLink(link);
    if (!found.up) return LINK_OF_NEXTHOP_DOWN;
    const onLink = flags?.includes('onlink') ?? false;
    if (gateway === undefined || this.#around.reaches(gateway, link, onLink)) return undefined;
    return REFUSALS[familyOf(gateway)].noWay;
  }
}

/** An object with the defaults of the kernel. */
function completed(given: Given): NextHopObject {
  const { id, link, gateway, group, resilient, family = 4, protocol = 'unspec', blackhole, fdb } = given;
  const onLink = given.flags?.includes('onlink');
  return {
    id,
    protocol,
    // Of a way without a gateway, the link is the end.
    scope: group || blackhole || fdb ? 'global' : gateway === undefined ? 'host' : 'link',
    flags: onLink ? ['onlink'] : [],
    ...(!group && { family: gateway === undefined ? family : familyOf(gateway) }),
    ...(link !== undefined && { link }),
    ...(gateway !== undefined && { gateway: canonicalAddressAsIs(gateway) ?? gateway }),
    ...(blackhole && { blackhole }),
    ...(fdb && { fdb }),
    ...(group && { group: group.map((member) => ({ id: member.id, weight: member.weight ?? 1 })) }),
    ...(resilient && { resilient: { buckets: 1, idleTimer: 120, unbalancedTimer: 0, ...resilient } }),
  } as unknown as NextHopObject;
}
