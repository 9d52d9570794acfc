// Resolves conflicts between Services that claim the same address and port, or the same node port: a cluster IP wins over a
// load-balancer IP, and that over an external IP; among equals, the oldest Service wins. This happens once, before a mode plans.
import { type Family, joinHostPort, numberOfIPv4 } from '../../kernel/net/address.js';
import type { Protocol } from '../../kernel/net/protocol.js';
import { firstOf, listOf, type OneOrMore, oneOrMore } from './oneOrMore.js';
import type { Frontend, FrontendKind } from './types.js';

/** A Service that claims addresses and ports. */
export interface Claimant {
  /** `namespace/name`. */
  readonly service: string;
  /** Creation time, in ms since 1970. */
  readonly createdAt: number;
}

/**
 * The claims of a Service with their ranks, 0 for the strongest: those of cluster IPs and node ports, of load-balancer IPs, of
 * external IPs. The API server allocates the first and asks for a right to set the second; anybody may name any address as the
 * third.
 */
export type RankedClaims = ReadonlyMap<Claim, number>;

/** The rank of each kind of frontend in {@link RankedClaims}. */
export const RANKS: Readonly<Record<FrontendKind, number>> = {
  clusterIP: 0,
  nodePort: 0,
  loadBalancerIP: 1,
  externalIP: 2,
};

/** The addresses of a rank that is stronger than another: node ports have one rank. */
const RANK_NAMES: readonly string[] = ['cluster IP', 'load-balancer IP'];

/** A claimant with the rank of a claim. */
interface RankedClaimant {
  readonly claimant: Claimant;
  readonly rank: number;
}

/** The key of a claim: a number for IPv4 and for node ports, because each Service has some; text for IPv6. */
export type Claim = number | string;

/** Two bits of a key. */
const PROTOCOLS: Readonly<Record<Protocol, number>> = { tcp: 0, udp: 1, sctp: 2 };

/** The key of the claim for a frontend: its address and port or, for a node port, its family and port; and the protocol. */
export function claimOf({ kind, address, port }: Frontend, family: Family, protocol: Protocol): Claim {
  return kind === 'nodePort' ? nodePortClaim(port, family, protocol) : addressClaim(address, port, protocol);
}

/** The key of the claim for a node port. */
export function nodePortClaim(port: number, family: Family, protocol: Protocol): Claim {
  // Negative, and thus never the number of an address.
  return -(port * 8 + PROTOCOLS[protocol] * 2 + (family === 6 ? 1 : 0));
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
  /** Claimants, the strongest first. One of the first rank is stored as it is: most claims are such. */
  readonly #claimants = new Map<Claim, OneOrMore<Claimant | RankedClaimant>>();
  #contested = 0;

  /** Whether several Services claim the same key. If none do, nobody loses a claim. */
  get contested(): boolean {
    return this.#contested > 0;
  }

  /**
   * Replaces the keys that a Service claims.
   *
   * @param had those that it claimed until now; none for a new Service. They are not recorded here, to save memory
   * @param has those that it claims from now on; none if it was deleted
   * @param renewed its creation time has changed, and with it the order of age
   * @returns other Services that claim a key which is won by another Service now
   */
  replace(claimant: Claimant, had: RankedClaims, has: RankedClaims, renewed = false): ReadonlySet<string> {
    const others = new Set<string>();
    const { service } = claimant;
    const ranked = (rank: number) => (rank === 0 ? claimant : { claimant, rank });
    for (const [claim, before] of had) {
      const rank = has.get(claim);
      if (rank !== before || renewed) this.#remove(claim, service, others);
      if (rank !== undefined && (rank !== before || renewed)) this.#add(claim, ranked(rank), others);
    }
    for (const [claim, rank] of has) {
      if (!had.has(claim)) this.#add(claim, ranked(rank), others);
    }
    return others.size === 0 ? NOBODY : others;
  }

  /** The Service that wins a claim; undefined if none claims it. */
  holder(claim: Claim): string | undefined {
    const first = firstOf(this.#claimants.get(claim));
    return first && claimantOf(first).service;
  }

  /** Why the winner of a claim is before another Service that claims it, in words that follow the winner's name. */
  whyWon(claim: Claim, loser: string): string {
    const claimants = listOf(this.#claimants.get(claim));
    const own = claimants.find((each) => claimantOf(each).service === loser);
    const [first = own] = claimants;
    if (!first || !own) return 'which was the first to claim it';
    if (rankOf(first) < rankOf(own)) return `as its ${RANK_NAMES[rankOf(first)]}`;
    return claimantOf(first).createdAt < claimantOf(own).createdAt
      ? 'which is older'
      : 'which is as old, and whose name is before in the alphabet';
  }

  #add(claim: Claim, claimant: Claimant | RankedClaimant, others: Set<string>): void {
    const known = this.#claimants.get(claim);
    if (known === undefined) {
      this.#claimants.set(claim, claimant);
      return;
    }
    const before = listOf(known);
    const place = before.findIndex((each) => byStrength(claimant, each) < 0);
    if (place === 0) addServices(before, others);
    this.#set(claim, before, before.toSpliced(place < 0 ? before.length : place, 0, claimant));
  }

  #remove(claim: Claim, service: string, others: Set<string>): void {
    const before = listOf(this.#claimants.get(claim));
    const place = before.findIndex((each) => claimantOf(each).service === service);
    const rest = before.toSpliced(place, place < 0 ? 0 : 1);
    if (place === 0) addServices(rest, others);
    this.#set(claim, before, rest);
  }

  #set(
    claim: Claim,
    before: readonly (Claimant | RankedClaimant)[],
    now: readonly (Claimant | RankedClaimant)[],
  ): void {
    this.#contested += Number(now.length > 1) - Number(before.length > 1);
    if (now.length === 0) this.#claimants.delete(claim);
    else this.#claimants.set(claim, oneOrMore(now));
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function addServices(claimants: readonly (Claimant | RankedClaimant)[], to: Set<string>): void {
  for (const each of claimants) to.add(claimantOf(each).service);
}

function claimantOf(each: Claimant | RankedClaimant): Claimant {
  return 'claimant' in each ? each.claimant : each;
}

function rankOf(each: Claimant | RankedClaimant): number {
  return 'claimant' in each ? each.rank : 0;
}

/** By rank, then by age; Services of equal age are ordered by name. */
function byStrength(a: Claimant | RankedClaimant, b: Claimant | RankedClaimant): number {
  const [first, second] = [claimantOf(a), claimantOf(b)];
  return (
    rankOf(a) - rankOf(b) || first.createdAt - second.createdAt || (first.service < second.service ? -1 : 1)
  );
}
