// Forwards the events of the proxy to the log, metrics, health, and the health-check ports of Services.
import type { Logger } from 'pino';
import type { Family } from '../../kernel/net/address.js';
import type { ObjectChange } from '../../proxy/objects/types.js';
import type { ProxyEvents } from '../../proxy/proxy.js';
import type { SyncSummary } from '../../proxy/reconcile/summary.js';
import type { HealthThread } from '../health/openThread.js';
import type { ProxyHealth } from '../health/proxyHealth.js';
import type { Metrics } from '../servers/metrics.js';
import type { LeftOut } from './leftOut.js';
import { logEvents, logForeignChains } from './logEvents.js';
import { Refusals } from './refusals.js';
import { ServiceStatus } from './serviceStatus.js';
import { TriggerTimes } from './triggerTimes.js';
import { UnappliedChanges } from './unappliedChanges.js';

/** Receivers of the events. */
interface Listeners {
  readonly log: Logger;
  readonly families: readonly Family[];
  /** The mode counts Service ports without local endpoints; default Services. */
  readonly countsPorts?: true | undefined;
  readonly metrics: Metrics;
  readonly health: ProxyHealth;
  readonly serviceHealth: Pick<HealthThread, 'update'>;
  readonly leftOut: Pick<LeftOut, 'found' | 'mended'>;
  /** Base chains of other programs in the tables of the mode. Default: none. */
  readonly foreignChains?: () => readonly string[];
}

/** Event handlers of a proxy that forward to all listeners. */
export function telemetry(listeners: Listeners): ProxyEvents {
  const { log, families, metrics, health } = listeners;
  const status = new ServiceStatus();
  const changed = new ChangeMetrics(families, metrics);
  /** Another pass was requested since the last one began. */
  let another = false;
  /** A full pass has ended: it has tried everything, and later passes only what it left. */
  let full = false;
  const logged = logEvents(log);
  const logForeign = logForeignChains(log, listeners.foreignChains ?? (() => []));
  metrics.expect(families);
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
        metrics.queued(family);
      }
    },
    taken() {
      another = false;
      changed.taken();
    },
    planned: (service, frontends) => status.note(service, frontends),
    synced(summary, latency) {
      logged.synced(summary, latency);
      const { milliseconds, repeated } = summary;
      full ||= summary.full;
      if (summary.full) logForeign();
      const concern = refusals.after(summary);
      const succeeded = concern === 'none';
      const seconds = (milliseconds.plan + milliseconds.kernel) / 1000;
      metrics.synced({ families, seconds, full: summary.full, succeeded });
      changed.ended(summary.unknown);
      countItems(summary, metrics);
      if (repeated !== undefined) metrics.repeated(repeated);
      updateWithoutLocal(status, listeners);
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
      listeners.serviceHealth.update(status.takeHealthCheckChanges());
    },
    ...inputEvents(listeners, logged),
    failed(error) {
      logged.failed(error);
      waits();
    },
    ...(logged.switched && { switched: logged.switched }),
    ...(logged.kept && { kept: logged.kept }),
    ...(logged.unswitched && { unswitched: logged.unswitched }),
    retrying: logged.retrying,
  };
}

/** The metrics of items after a pass. */
function countItems({ counts, repaired, repairs, unknown }: SyncSummary, metrics: Metrics): void {
  metrics.draining(counts['draining'] ?? 0);
  metrics.drainTimeouts(counts['drainTimeouts'] ?? 0);
  metrics.repaired(repaired, repairs?.phases ?? new Map());
  metrics.unknown(unknown);
}

/** The events of invalid and unreadable input. */
function inputEvents(
  { metrics, health, leftOut }: Listeners,
  logged: ProxyEvents,
): Pick<ProxyEvents, 'incomplete' | 'problems' | 'mended'> {
  return {
    incomplete(unread) {
      logged.incomplete?.(unread);
      metrics.unread(unread.length);
      health.setUnread('objects', unread);
    },
    problems(problems) {
      logged.problems(problems);
      leftOut.found(problems);
    },
    mended(problems) {
      logged.mended?.(problems);
      leftOut.mended(problems);
    },
  };
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
    // kube-proxy counts each change of a Service once per family.
    this.#metrics.serviceChanges(services * this.#families.length);
    this.#metrics.endpointChanges(slices);
    this.#services += services;
    this.#slices += slices;
    this.#metrics.pending(this.#services, this.#slices);
    for (const change of changes) this.#triggers.note(change);
  }

  /** A pass is wanted. */
  queued(): void {
    this.#unapplied.queued();
    this.#metrics.oldestUnapplied(this.#unapplied.oldest);
  }

  /** A pass has read the changes. */
  taken(): void {
    this.#triggers.taken();
    this.#unapplied.taken();
    this.#services = 0;
    this.#slices = 0;
    this.#metrics.pending(0, 0);
  }

  /** A pass or an audit has ended. `unknown`: number of items whose last operation failed. */
  ended(unknown: number): void {
    this.#unapplied.synced(unknown);
    this.#metrics.oldestUnapplied(this.#unapplied.oldest);
  }

  /** The changes that a pass had read are in the kernel, except for items that failed. */
  programmed(): void {
    for (const { family, triggeredAt } of this.#triggers.programmed()) {
      this.#metrics.programmed(family, (Date.now() - triggeredAt) / 1000);
    }
  }
}

function updateWithoutLocal(status: ServiceStatus, { families, countsPorts, metrics }: Listeners): void {
  for (const family of families) {
    for (const policy of ['internal', 'external'] as const) {
      const { ports, services } = status.withoutLocal(policy, family);
      metrics.noLocalEndpoints(family, policy, countsPorts ? ports : services);
    }
  }
}
