// The claims of a Service that other Services win, for reports: a Service may lose as many as it has frontends.
import type { Service } from '../objects/types.js';
import { StepCounter, type Steps } from '../steps.js';
import { type Claim, type Claims, claimOf, describeClaim } from './claims.js';
import { frontendsOf } from './frontends.js';

/** The claims that a Service loses. */
export interface LostClaims {
  /** The first ones as text → `namespace/name` of the Service that wins. */
  readonly first: ReadonlyMap<string, string>;
  /** Number of the others. */
  readonly more: number;
}

/** Number of claims that are listed; of more, their number. */
export const MOST_LISTED = 20;

/**
 * The claims that a Service loses, in steps.
 *
 * @param object the Service; undefined if it has none
 */
export function* lostClaimsOf(
  service: string,
  object: Service | undefined,
  claims: Pick<Claims, 'holder'>,
): Steps<LostClaims> {
  if (!object) return NOTHING;
  const counter = new StepCounter();
  const first = new Map<string, string>();
  /** A Service may name an address several times. */
  const lost = new Set<Claim>();
  for (const { family, port, frontends } of frontendsOf(object)) {
    for (const frontend of frontends) {
      const claim = claimOf(frontend, family, port.protocol);
      const holder = claims.holder(claim);
      if (holder !== undefined && holder !== service && !lost.has(claim)) {
        lost.add(claim);
        if (first.size < MOST_LISTED) first.set(describeClaim(frontend, family, port.protocol), holder);
      }
      if (counter.isFull()) yield;
    }
  }
  return { first, more: lost.size - first.size };
}

const NOTHING: LostClaims = { first: new Map(), more: 0 };
