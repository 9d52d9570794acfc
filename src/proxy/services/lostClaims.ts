// The claims of a Service that other Services win, for reports: a Service may lose as many as it has frontends.

import type { Service } from '../objects/types.js';
import { type Claim, type Claims, claimOf, describeClaim } from './claims.js';
import { frontendsOf } from './frontends.js';

/** The Service that wins a claim. */
interface Winner {
  /** `namespace/name`. */
  readonly service: string;
  /** Why it wins, in words that follow its name: `which is older`. */
  readonly why: string;
}

/** The claims that a Service loses. */
export interface LostClaims {
  /** The first ones as text, with the Services that win. */
  readonly first: ReadonlyMap<string, Winner>;
  /** Number of the others. */
  readonly more: number;
}

/** Number of claims that are listed; of more, their number. */
const MOST_LISTED = 20;

/**
 * The claims that a Service loses.
 *
 * @param object the Service; undefined if it has none
 */
export function lostClaimsOf(
  service: string,
  object: Service | undefined,
  claims: Pick<Claims, 'holder' | 'whyWon'>,
): LostClaims {
  if (!object) return NOTHING;
  const first = new Map<string, Winner>();
  /** A Service may name an address several times. */
  const lost = new Set<Claim>();
  for (const { family, port, frontends } of frontendsOf(object)) {
    for (const frontend of frontends) {
      const claim = claimOf(frontend, family, port.protocol);
      const holder = claims.holder(claim);
      if (holder !== undefined && holder !== service && !lost.has(claim)) {
        lost.add(claim);
        if (first.size < MOST_LISTED) {
          const why = claims.whyWon(claim, service);
          first.set(describeClaim(frontend, family, port.protocol), { service: holder, why });
        }
      }
    }
  }
  return { first, more: lost.size - first.size };
}

const NOTHING: LostClaims = { first: new Map(), more: 0 };
