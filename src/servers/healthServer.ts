// What the health server answers: /healthz, which also asks whether the node is to stay, and /livez. Any method.
import { type Answer, type Handler, json, routes } from './answer.js';
import type { HealthState, ProxyHealth } from './health.js';

/** Counts answers: the path without its slash, and the status. */
export type CountProbe = (probe: 'healthz' | 'livez', status: number) => void;

/** The handler of the health server. */
export function healthHandler(health: Pick<ProxyHealth, 'state'>, count: CountProbe): Handler {
  const probe = (name: 'healthz' | 'livez') => () => {
    const state = health.state();
    const answer = name === 'healthz' ? healthz(state) : livez(state);
    count(name, answer.status);
    return answer;
  };
  return routes({ '/healthz': probe('healthz'), '/livez': probe('livez') });
}

function healthz(state: HealthState): Answer {
  const { nodeEligible } = state;
  return render(state, state.healthy && nodeEligible, { nodeEligible });
}

function livez(state: HealthState): Answer {
  return render(state, state.healthy, {});
}

/** The fields in kube-proxy's order, and `unread` where something is. A good answer says that it was updated just now: older readers look at nothing else. */
function render(state: HealthState, good: boolean, extra: { nodeEligible?: boolean }): Answer {
  const status = state.families.map(({ family, lastUpdated, healthy }) => [
    `IPv${family}`,
    { lastUpdated: formatTime(lastUpdated), healthy },
  ]);
  return json(
    good ? 200 : 503,
    JSON.stringify({
      lastUpdated: formatTime(good ? state.now : state.lastUpdated),
      currentTime: formatTime(state.now),
      ...extra,
      healthy: state.healthy,
      ...(status.length > 0 ? { status: Object.fromEntries(status) } : {}),
      ...(state.unread.length > 0 ? { unread: state.unread } : {}),
    }),
  );
}

/** RFC 3339 as Go's time.Time has it in JSON: no more fractional digits than there are; year 1 for no time at all. */
export function formatTime(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '0001-01-01T00:00:00Z';
  return new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}
