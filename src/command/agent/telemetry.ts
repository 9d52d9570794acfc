// Forwards the events of the proxy to metrics, health, and the health-check ports of Services.
import type { Family } from '../../kernel/net/address.js';
import type { ObjectChange } from '../../proxy/objects/types.js';
import type { SyncSummary } from '../../proxy/reconcile/summary.js';
import type { HealthThread } from '../health/openThread.js';
import type { ProxyHealth } from '../health/proxyHealth.js';
import { ofFamily, startAtZero } from '../servers/kubeProxyMetrics.js';
import type { Metrics } from '../servers/metrics.js';
import { waitOf } from './agentReport.js';
import type { LeftOut } from './leftOut.js';
import type { ProxyListener } from './listeners.js';
import { Refusals } from './refusals.js';
import { ServiceStatus } from './serviceStatus.js';

/** Receivers of the events. */
interface Receivers {
  readonly families: readonly Family[];
  /** The mode counts Service ports without local endpoints; default Services. */
  readonly countsPorts?: true | undefined;
  readonly metrics: Metrics;
  readonly health: ProxyHealth;
  readonly serviceHealth: Pick<HealthThread, 'update'>;
  readonly leftOut: Pick<LeftOut, 'found' | 'mended'>;
}

/** A listener of a proxy that forwards to all receivers. */
export function telemetry(receivers: Receivers): ProxyListener {
  const { families, metrics, health, leftOut, serviceHealth } = receivers;
  const { kubeProxy, own } = metrics;
  const status = new ServiceStatus();
  const changed = new ChangeMetrics(families, metrics);
  /** Another pass was requested since the last one began. */
  let another = false;
  /** A full pass has ended: it has tried everything, and later passes only what it left. */
  let full = false;
  expectFamilies(families, metrics);
  const refusals = new Refusals();
  /** A failure counts as a change that waits: the proxy becomes unhealthy if it lasts too long. */
  const waits = () => {
    for (const family of families) health.queued(family);
  };
  return {
    changed: (changes) => changed.add(changes),
    queued() {
      another = true;
      changed.queued();
      for (const family of families) {
        health.queued(family);
        kubeProxy.lastQueued.setToCurrentTime(ofFamily(family));
      }
    },
    taken() {
      another = false;
      changed.taken();
    },
    planned: (service, frontends) => status.note(service, frontends),
    synced(summary, latency) {
      const { milliseconds, repeated } = summary;
      full ||= summary.full;
      const concern = refusals.after(summary);
      const succeeded = concern === 'none';
      const seconds = (milliseconds.plan + milliseconds.kernel) / 1000;
      const duration = summary.full ? kubeProxy.fullSyncDuration : kubeProxy.partialSyncDuration;
      for (const family of families.map(ofFamily)) {
        kubeProxy.syncDuration.observe(family, seconds);
        duration.observe(family, seconds);
        if (succeeded) kubeProxy.lastSynced.setToCurrentTime(family);
      }
      changed.ended(summary.unknown);
      countItems(summary, own);
      observeStages(summary, latency, own);
      if (repeated !== undefined) own.repeated.set(repeated);
      updateWithoutLocal(status, receivers);
      if (concern === 'all') {
        waits();
        return;
      }
      for (const family of families) {
        if (succeeded) health.updated(family);
        else health.needsNoRestart(family);
      }
      if (succeeded && full) health.completed();
      if (another) waits();
      changed.programmed();
      serviceHealth.update(status.takeHealthCheckChanges());
    },
    incomplete(unread) {
      own.unread.set(unread.length);
      health.setUnread('objects', unread);
    },
    reachChanged({ reachable, sign }) {
      own.unreachableNodes.inc(reachable ? -1 : 1);
      own.reachChanges.inc({ reachable: String(reachable), sign });
    },
    reachJudged: (nodes) => own.judgedNodes.set(nodes),
    problems: (problems) => leftOut.found(problems),
    mended: (problems) => leftOut.mended(problems),
    failed: waits,
  };
}

/** The metrics of items after a pass. */
function countItems({ counts, repaired, repairs, unknown }: SyncSummary, own: Metrics['own']): void {
  own.draining.set(counts['draining'] ?? 0);
  const { drainTimeouts } = counts;
  if (drainTimeouts !== undefined) {
    // The mode counts since its start.
    own.drainTimeouts.reset();
    own.drainTimeouts.inc(drainTimeouts);
  }
  own.repairs.inc(repaired);
  for (const [phase, count] of repairs?.phases ?? []) own.repairedPhases.inc({ phase }, count);
  own.unknown.set(unknown);
}

/**
 * Where the time of a change goes. A pass without changes has none.
 *
 * @param latency since the source reported the oldest change of the pass, in ms
 */
function observeStages({ milliseconds }: SyncSummary, latency: number, own: Metrics['own']): void {
  if (latency === 0) return;
  const { plan, kernel } = milliseconds;
  const stages = { wait: waitOf(milliseconds, latency), plan, kernel, total: latency };
  for (const [stage, time] of Object.entries(stages)) own.changeDuration.observe({ stage }, time / 1000);
}

/** Shows 0 as the times of the last request and the last success, which were not yet, and in the counters of failures and flows. */
function expectFamilies(families: readonly Family[], { kubeProxy }: Pick<Metrics, 'kubeProxy'>): void {
  const { conntrackDeleted, restoreFailures, partialRestoreFailures, lastQueued, lastSynced } = kubeProxy;
  startAtZero(families, lastQueued, lastSynced, conntrackDeleted, restoreFailures, partialRestoreFailures);
}

/** The metrics of changes that no pass has read yet, and of those that are not programmed yet. */
class ChangeMetrics {
  readonly #families: readonly Family[];
  readonly #metrics: Metrics;
  readonly #triggers = new TriggerTimes(Date.now());
  readonly #unapplied = new UnappliedChanges(Date.now);
  #services = 0;
  #slices = 0;

  constructor(families: readonly Family[], metrics: Metrics) {
    this.#families = families;
    this.#metrics = metrics;
  }

  add(changes: readonly ObjectChange[]): void {
    const services = changes.filter(({ object }) => object.kind === 'Service').length;
    const slices = changes.filter(({ object }) => object.kind === 'EndpointSlice').length;
    const { serviceChanges, endpointChanges } = this.#metrics.kubeProxy;
    // kube-proxy counts each change of a Service once per family.
    serviceChanges.inc(services * this.#families.length);
    endpointChanges.inc(slices);
    this.#showPending(this.#services + services, this.#slices + slices);
    for (const change of changes) this.#triggers.note(change);
  }

  /** A pass is wanted. */
  queued(): void {
    this.#unapplied.queued();
    this.#showOldest();
  }

  /** A pass has read the changes. */
  taken(): void {
    this.#triggers.taken();
    this.#unapplied.taken();
    this.#showPending(0, 0);
  }

  #showPending(services: number, slices: number): void {
    this.#services = services;
    this.#slices = slices;
    this.#metrics.kubeProxy.serviceChangesPending.set(services);
    this.#metrics.kubeProxy.endpointChangesPending.set(slices);
  }

  #showOldest(): void {
    this.#metrics.own.oldestUnapplied.set((this.#unapplied.oldest ?? 0) / 1000);
  }

  /** A pass or an audit has ended. `unknown`: number of items whose last operation failed. */
  ended(unknown: number): void {
    this.#unapplied.synced(unknown);
    this.#showOldest();
  }

  /** The changes that a pass had read are in the kernel, except for items that failed. */
  programmed(): void {
    for (const { family, triggeredAt } of this.#triggers.programmed()) {
      const seconds = (Date.now() - triggeredAt) / 1000;
      this.#metrics.kubeProxy.programmingDuration.observe(ofFamily(family), seconds);
    }
  }
}

function updateWithoutLocal(status: ServiceStatus, { families, countsPorts, metrics }: Receivers): void {
  for (const family of families) {
    for (const policy of ['internal', 'external'] as const) {
      const { ports, services } = status.withoutLocal(policy, family);
      const labels = { ...ofFamily(family), traffic_policy: policy };
      metrics.kubeProxy.noLocalEndpoints.set(labels, countsPorts ? ports : services);
    }
  }
}

// The times of endpoint changes that are not programmed yet, from the annotation
// endpoints.kubernetes.io/last-change-trigger-time, for the metric of the network programming latency.

/** The trigger time of a change of endpoints. */
interface Trigger {
  readonly family: Family;
  /** In ms since 1970. */
  readonly triggeredAt: number;
}

/** Trigger times whose changes are not programmed yet. */
export class TriggerTimes {
  readonly #startedAt: number;
  /** Slice → its last trigger time: the annotation remains when another field of the slice changes. */
  readonly #last = new Map<string, number>();
  readonly #waiting = new Map<string, Trigger>();
  /** Triggers of changes that a pass has read. */
  #taken: Trigger[] = [];

  /** @param startedAt start time, in ms since 1970; earlier triggers are ignored */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Records the trigger of a change. */
  note({ type, object }: ObjectChange): void {
    if (object.kind !== 'EndpointSlice') return;
    const id = `${object.namespace}/${object.name}`;
    const { triggerTime, family } = object;
    if (type === 'delete') {
      this.#last.delete(id);
      this.#waiting.delete(id);
      return;
    }
    if (triggerTime === undefined || triggerTime <= this.#startedAt || this.#last.get(id) === triggerTime)
      return;
    this.#last.set(id, triggerTime);
    this.#waiting.set(id, { family, triggeredAt: triggerTime });
  }

  /** A pass has read the waiting changes. */
  taken(): void {
    for (const trigger of this.#waiting.values()) this.#taken.push(trigger);
    this.#waiting.clear();
  }

  /** Returns the triggers whose changes are in the kernel now, each once. */
  programmed(): Trigger[] {
    const triggers = this.#taken;
    this.#taken = [];
    return triggers;
  }
}

// The oldest change that the kernel does not have completely, for the metric of its arrival. Pure; the clock is injected.

/** The changes that are not applied. A change is applied when a pass that read it has ended and no item is unknown. */
export class UnappliedChanges {
  readonly #now: () => number;
  /** Arrival of the oldest change that no pass has read, in ms since 1970. */
  #waiting: number | undefined;
  /** The same of those that a pass has read. */
  #taken: number | undefined;

  /** @param now time of day, in ms since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A change arrived. */
  queued(): void {
    this.#waiting ??= this.#now();
  }

  /** A pass has read the changes that arrived up to now. */
  taken(): void {
    this.#taken ??= this.#waiting;
    this.#waiting = undefined;
  }

  /** A pass or an audit has ended. `unknown`: number of items whose last operation failed. */
  synced(unknown: number): void {
    // A failed item has no time of its own: the oldest of the changes stays until nothing fails.
    if (unknown > 0) this.#taken ??= this.#now();
    else this.#taken = undefined;
  }

  /** Arrival of the oldest change that is not applied, in ms since 1970; undefined if all are. */
  get oldest(): number | undefined {
    return this.#taken ?? this.#waiting;
  }
}
