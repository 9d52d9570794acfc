// Which Service answers on an address and port, or a node port, that several Services name: the oldest one. This is
// decided once, before any mode plans.
import type { Family } from '../net/address.js';
import { joinHostPort } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';

/** A Service that names addresses and ports. */
export interface Claimant {
  /** `namespace/name`. */
  readonly service: string;
  /** Creation time, in ms since 1970. */
  readonly createdAt: number;
}

/** The key of an address and port: `10.96.0.10:53/udp`. */
export function addressClaim(address: string, port: number, protocol: Protocol): string {
  return `${joinHostPort(address, port)}/${protocol}`;
}

/** The key of a node port: `IPv4 node port 30080/tcp`. */
export function nodePortClaim(family: Family, port: number, protocol: Protocol): string {
  return `IPv${family} node port ${port}/${protocol}`;
}

/** The claims of all Services. */
export class Claims {
  /** Key → claimants, the oldest first. Nearly every key has one claimant, which is then not wrapped in a list. */
  readonly #claimants = new Map<string, Claimant | readonly Claimant[]>();
  /** Service → its claimant and keys. */
  readonly #claims = new Map<string, { readonly claimant: Claimant; readonly keys: ReadonlySet<string> }>();

  /**
   * Replaces the keys that a Service claims; none when it was deleted.
   *
   * @returns other Services that claim one of its keys, now or before: what they answer on may have changed
   */
  replace(claimant: Claimant, keys: ReadonlySet<string>): Set<string> {
    const { service } = claimant;
    const others = new Set<string>();
    for (const key of this.#claims.get(service)?.keys ?? []) this.#remove(key, service, others);
    for (const key of keys) this.#add(key, claimant, others);
    if (keys.size > 0) this.#claims.set(service, { claimant, keys });
    else this.#claims.delete(service);
    return others;
  }

  /** The Service that answers on a key; undefined when none claims it. */
  holder(key: string): string | undefined {
    return this.#listOf(key)[0]?.service;
  }

  /** The keys that a Service claims and an older one holds, with the name of the holder. */
  lost(service: string): Map<string, string> {
    const lost = new Map<string, string>();
    for (const key of this.#claims.get(service)?.keys ?? []) {
      const holder = this.holder(key);
      if (holder !== undefined && holder !== service) lost.set(key, holder);
    }
    return lost;
  }

  #add(key: string, claimant: Claimant, others: Set<string>): void {
    const claimants = this.#listOf(key);
    for (const { service } of claimants) others.add(service);
    this.#claimants.set(key, claimants.length === 0 ? claimant : [...claimants, claimant].sort(byAge));
  }

  #remove(key: string, service: string, others: Set<string>): void {
    const rest = this.#listOf(key).filter((claimant) => claimant.service !== service);
    for (const claimant of rest) others.add(claimant.service);
    const [only, ...more] = rest;
    if (only === undefined) this.#claimants.delete(key);
    else this.#claimants.set(key, more.length === 0 ? only : rest);
  }

  #listOf(key: string): readonly Claimant[] {
    const claimants = this.#claimants.get(key);
    if (claimants === undefined) return [];
    return 'service' in claimants ? [claimants] : claimants;
  }
}

/** Services of equal age are ordered by name. */
function byAge(a: Claimant, b: Claimant): number {
  return a.createdAt - b.createdAt || (a.service < b.service ? -1 : 1);
}
