// Resolves conflicts between Services that claim the same address and port, or the same node port: the oldest Service
// wins. This happens once, before a mode plans.
import { type Family, joinHostPort, numberOfIPv4 } from '../net/address.js';
import type { Protocol } from '../net/protocol.js';
import { firstOf, listOf, type OneOrMore, oneOrMore } from './oneOrMore.js';
import type { Frontend } from './types.js';

/** A Service that claims addresses and ports. */
export interface Claimant {
  /** `namespace/name`. */
  readonly service: string;
  /** Creation time, in ms since 1970. */
  readonly createdAt: number;
}

/** The key of a claim: a number for IPv4 and for node ports, because each Service has some; text for IPv6. */
export type Claim = number | string;

/** Two bits of a key. */
const PROTOCOLS: Readonly<Record<Protocol, number>> = { tcp: 0, udp: 1, sctp: 2 };

/** The key of the claim for a frontend: its address and port or, for a node port, its family and port; and the protocol. */
export function claimOf({ kind, address, port }: Frontend, family: Family, protocol: Protocol): Claim {
  // Negative, and thus never the number of an address.
  if (kind === 'nodePort') return -(port * 8 + PROTOCOLS[protocol] * 2 + (family === 6 ? 1 : 0));
  return addressClaim(address, port, protocol);
}

/** The key of the claim for a canonical address and port. */
export function addressClaim(address: string, port: number, protocol: Protocol): Claim {
  const number = numberOfIPv4(address);
  if (number === undefined) return `${joinHostPort(address, port)}/${protocol}`;
  // 50 bits, so that the number is exact.
  return (number * 2 ** 16 + port) * 4 + PROTOCOLS[protocol];
}

/** The claim for a frontend as text: `10.96.0.10:53/udp`, `IPv4 node port 30080/tcp`. */
export function describeClaim({ kind, address, port }: Frontend, family: Family, protocol: Protocol): string {
  return kind === 'nodePort'
    ? `IPv${family} node port ${port}/${protocol}`
    : `${joinHostPort(address, port)}/${protocol}`;
}

/** The claims of all Services. */
export class Claims {
  /** Claimants, the oldest first. */
  readonly #claimants = new Map<Claim, OneOrMore<Claimant>>();
  #contested = 0;

  /** Whether several Services claim the same key. If none do, nobody loses a claim. */
  get contested(): boolean {
    return this.#contested > 0;
  }

  /**
   * Replaces the keys that a Service claims.
   *
   * @param before those that it claimed until now; none for a new Service. They are not recorded here, to save memory
   * @param now those that it claims from now on; none if it was deleted
   * @returns other Services that claim one of its previous or new keys: they may win or lose a claim
   */
  replace(claimant: Claimant, before: Iterable<Claim>, now: Iterable<Claim>): ReadonlySet<string> {
    const others: string[] = [];
    for (const claim of before) this.#remove(claim, claimant.service, others);
    for (const claim of now) this.#add(claim, claimant, others);
    return others.length === 0 ? NOBODY : new Set(others);
  }

  /** The Service that wins a claim; undefined if none claims it. */
  holder(claim: Claim): string | undefined {
    return firstOf(this.#claimants.get(claim))?.service;
  }

  #add(claim: Claim, claimant: Claimant, others: string[]): void {
    const known = this.#claimants.get(claim);
    if (known === undefined) {
      this.#claimants.set(claim, claimant);
      return;
    }
    const before = listOf(known);
    // A Service may have an address twice.
    if (before.some(({ service }) => service === claimant.service)) return;
    for (const { service } of before) others.push(service);
    this.#set(claim, before, [...before, claimant].sort(byAge));
  }

  #remove(claim: Claim, service: string, others: string[]): void {
    const before = listOf(this.#claimants.get(claim));
    const rest = before.filter((claimant) => claimant.service !== service);
    for (const claimant of rest) others.push(claimant.service);
    this.#set(claim, before, rest);
  }

  #set(claim: Claim, before: readonly Claimant[], now: readonly Claimant[]): void {
    this.#contested += Number(now.length > 1) - Number(before.length > 1);
    if (now.length === 0) this.#claimants.delete(claim);
    else this.#claimants.set(claim, oneOrMore(now));
  }
}

const NOBODY: ReadonlySet<string> = new Set();

/** Services of equal age are ordered by name. */
function byAge(a: Claimant, b: Claimant): number {
  return a.createdAt - b.createdAt || (a.service < b.service ? -1 : 1);
}
