// The problems of Services that only all objects together show: addresses that others have, and too many endpoints.
import type { Problem } from '../../kernel/errors.js';
import { MOST_PAIRS } from '../services/endpointLimit.js';
import type { LostClaims } from '../services/lostClaims.js';
import type { ServicePlanInput } from '../services/types.js';

/** A problem for each of the first addresses and ports that another Service has, and one for all others. */
export function conflictsOf(service: string, { first, more }: LostClaims): Problem[] {
  if (first.size === 0) return [];
  const about = aboutOf(service);
  const [namespace = ''] = service.split('/');
  const problems = [...first].map(
    ([claim, { service: holder, why }]): Problem => ({
      ...about,
      rule: `${claim} is served by Service ${holder}, ${why}`,
      // Those who read the events of this namespace must not learn what is in another one.
      ...(holder.startsWith(`${namespace}/`)
        ? {}
        : { publicRule: `${claim} is served by another Service, ${why}` }),
    }),
  );
  if (more > 0) problems.push({ ...about, rule: `has ${more} more addresses and ports that others serve` });
  return problems;
}

/** The problem of a Service whose endpoints are not all used; none if they are. */
export function excessOf(service: string, input: Pick<ServicePlanInput, 'beyond'> | undefined): Problem[] {
  if (!input?.beyond) return [];
  const { counted, pairs, unused } = input.beyond;
  const rule =
    `must have at most ${MOST_PAIRS} ${counted} × endpoints: ${unused} endpoint${unused === 1 ? '' : 's'} of its ` +
    `EndpointSlices ${unused === 1 ? 'is' : 'are'} not used`;
  return [{ ...aboutOf(service), value: pairs, rule }];
}

function aboutOf(service: string): Omit<Problem, 'rule'> {
  const [namespace = '', name = ''] = service.split('/');
  return {
    object: `Service ${service}`,
    field: 'spec',
    kind: 'Service',
    reference: { apiVersion: 'v1', kind: 'Service', namespace, name },
  };
}
