// Resolves conflicts between Services that claim the same address and port, or the same node port: the oldest Service
// wins. This happens once, before a mode plans.
import type { Family } from '../net/address.js';
import { joinHostPort } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';

/** A Service that claims addresses and ports. */
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
  /** Key → claimants, the oldest first. To save memory, a single claimant, the usual case, is not in a list. */
  readonly #claimants = new Map<string, Claimant | readonly Claimant[]>();

  /**
   * Replaces the keys that a Service claims.
   *
   * @param before those that it claimed until now; none for a new Service. They are not recorded here, to save memory
   * @param now those that it claims from now on; none if it was deleted
   * @returns other Services that claim one of its previous or new keys: they may win or lose a claim
   */
  replace(claimant: Claimant, before: Iterable<string>, now: Iterable<string>): Set<string> {
    const others = new Set<string>();
    for (const key of before) this.#remove(key, claimant.service, others);
    for (const key of now) this.#add(key, claimant, others);
    return others;
  }

  /** The Service that wins a key; undefined if none claims it. */
  holder(key: string): string | undefined {
    return this.#listOf(key)[0]?.service;
  }

  /** Those of a Service's keys that another one wins → the name of the winner. */
  lost(service: string, keys: Iterable<string>): Map<string, string> {
    const lost = new Map<string, string>();
    for (const key of keys) {
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
