// Sends requests over a route to a Service, and checks the servers that respond.
import { dial, type Route } from './route.js';

/** The results of a number of requests. */
export interface Tally {
  /** Number of responses by server; includes expected servers without responses. */
  readonly counts: ReadonlyMap<string, number>;
  /** Source addresses that the servers saw. */
  readonly sources: ReadonlySet<string>;
  /** A sentence for each failure. */
  readonly failures: readonly string[];
}

/**
 * Sends requests one after another, each over a new connection. Only expected servers may respond, each to an equal
 * share of the requests, according to round robin.
 */
export async function request(route: Route, times: number, expected: readonly string[]): Promise<Tally> {
  const counts = new Map(expected.map((name) => [name, 0]));
  const sources = new Set<string>();
  const failures: string[] = [];
  for (let i = 0; i < times; i++) {
    const outcome = await dial(route);
    if ('error' in outcome) {
      failures.push(`${route.name}: request ${i + 1} of ${times} failed: ${outcome.error}`);
      continue;
    }
    counts.set(outcome.by, (counts.get(outcome.by) ?? 0) + 1);
    sources.add(outcome.sees);
  }
  return { counts, sources, failures: [...failures, ...unfairness(route, counts, times, expected)] };
}

function unfairness(
  route: Route,
  counts: ReadonlyMap<string, number>,
  times: number,
  expected: readonly string[],
): string[] {
  const share = Math.floor(times / expected.length);
  return [...counts].flatMap(([name, count]) => {
    if (!expected.includes(name))
      return [`${route.name}: ${name} responded to ${count} requests; expected: none`];
    if (count >= share) return [];
    return [`${route.name}: ${name} responded to ${count} of ${times} requests; expected: ${share}`];
  });
}
