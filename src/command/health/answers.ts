// The health server: /healthz, which also requires an eligible node and a complete pass, /livez, and our own /readyz for rollouts. All
// accept any method.
import { type Handler, json, type Response, routes } from '../servers/handler.js';
import type { ProbeName } from './probeCounts.js';
import type { HealthState } from './proxyHealth.js';

/** The handler of the health server. `count` is called for each response, with its status. */
export function healthHandler(
  health: () => HealthState,
  count: (probe: ProbeName, status: number) => void,
): Handler {
  const probe = (name: ProbeName) => () => {
    const state = health();
    const response = name === 'healthz' ? healthz(state) : livez(state);
    count(name, response.status);
    return response;
  };
  const readyz = () => readiness(health());
  return routes({ '/healthz': probe('healthz'), '/livez': probe('livez'), '/readyz': readyz });
}

/** Whether a rollout may go on: everything is programmed. The autoscaler's taint and a deletion of the Node concern only load balancers. */
function readiness(state: HealthState): Response {
  const { nodeSeen, synced } = state;
  return render(state, state.healthy && nodeSeen && synced, 'healthy', { program: 'kube-netlink-proxy' });
}

function healthz(state: HealthState): Response {
  const { nodeEligible, synced } = state;
  return render(state, state.healthy && nodeEligible && synced, 'healthy', { nodeEligible });
}

function livez(state: HealthState): Response {
  return render(state, state.alive, 'alive', {});
}

/**
 * The fields in kube-proxy's order, `unread` if an input is unreadable, and `stalled` if the main thread does not move. In a good response, lastUpdated is the current
 * time, because older clients check only this field.
 *
 * @param asked what the field `healthy` says
 */
function render(
  state: HealthState,
  good: boolean,
  asked: 'healthy' | 'alive',
  extra: { nodeEligible?: boolean; program?: string },
): Response {
  const status = state.families.map((of) => [
    `IPv${of.family}`,
    { lastUpdated: formatTime(of.lastUpdated), healthy: of[asked] },
  ]);
  return json(
    good ? 200 : 503,
    JSON.stringify({
      lastUpdated: formatTime(good ? state.now : state.lastUpdated),
      currentTime: formatTime(state.now),
      ...extra,
      healthy: state[asked],
      ...(status.length > 0 ? { status: Object.fromEntries(status) } : {}),
      ...(state.unread.length > 0 ? { unread: state.unread } : {}),
      ...(state.stalled ? { stalled: true } : {}),
    }),
  );
}

/** RFC 3339 like Go's time.Time in JSON: without trailing zeros in the fraction; year 1 for undefined. */
export function formatTime(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '0001-01-01T00:00:00Z';
  return new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}
