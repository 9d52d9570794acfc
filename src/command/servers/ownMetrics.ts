// Metrics that kube-proxy does not have: operations and their results, problems of objects, and the event loop.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';

/** Interval of the event loop's timer, in ms. A shorter delay may be missed; a shorter interval wakes a process at rest more often. */
const RESOLUTION = 2000;

/** The metrics that kube-proxy does not have. */
export type OwnMetrics = ReturnType<typeof ownMetrics>;

/** Registers the metrics. */
export function ownMetrics(registry: Registry, version: string) {
  const registers = [registry];
  const own = (name: string, help: string) => ({ name: `kube_netlink_proxy_${name}`, help, registers });
  const build = own('build_info', 'Always 1; label version is the version of kube-netlink-proxy.');
  new Gauge({ ...build, labelNames: ['version'] }).set({ version }, 1);
  return {
    operations: new Counter({
      ...own('operations_total', 'Operations sent to the kernel; label result is ok or the error code.'),
      labelNames: ['family', 'kind', 'result'] as const,
    }),
    batches: new Histogram({
      ...own('batch_operations', 'Number of operations in a batch: one call of the addon or of a program.'),
      labelNames: ['family'] as const,
      buckets: exponentialBuckets(1, 4, 9),
    }),
    kernelDuration: new Histogram({
      ...own('kernel_duration_seconds', 'Time from the start of a batch to its last result, in seconds.'),
      labelNames: ['family'] as const,
      buckets: exponentialBuckets(0.0001, 4, 9),
    }),
    changeDuration: new Histogram({
      ...own(
        'change_duration_seconds',
        'Time of the oldest change of a pass, in seconds; label stage is wait, plan, kernel, or total: from its arrival to its last result.',
      ),
      labelNames: ['stage'] as const,
      buckets: exponentialBuckets(0.0005, 2, 17),
    }),
    unread: new Gauge(
      own(
        'unread_manifests',
        'Unreadable inputs: manifest files, or the Node of this node; no object is deleted while there are any.',
      ),
    ),
    draining: new Gauge(
      own('draining_real_servers', 'Real servers with weight 0 whose connections have not ended.'),
    ),
    drainTimeouts: new Counter(
      own(
        'drain_timeouts_total',
        'Real servers that were removed at the end of --drain-timeout, with connections.',
      ),
    ),
    unknown: new Gauge(
      own(
        'failed_items',
        'Items whose last operation the kernel refused, and that have not been read since.',
      ),
    ),
    oldestUnapplied: new Gauge(
      own(
        'oldest_unapplied_change_timestamp_seconds',
        'Arrival of the oldest change that is not completely in the kernel; 0 if all changes are.',
      ),
    ),
    leftOut: new Gauge({
      ...own(
        'left_out_objects',
        'Objects with invalid contents; label reason is the effect: FieldLeftOut, ObjectLeftOut, LastReadableKept, UnexpectedKind or Unreadable.',
      ),
      labelNames: ['kind', 'reason'] as const,
    }),
    repairs: new Counter(
      own('audit_repairs_total', 'Operations that restored what other programs had changed in the kernel.'),
    ),
    repairedPhases: new Counter({
      ...own(
        'repaired_operations_total',
        'Operations that repaired changes by others in the kernel, by their phase.',
      ),
      labelNames: ['phase'] as const,
    }),
    repeated: new Gauge(
      own('repeated_repairs', 'Items that the last audit repaired and the audit before it repaired too.'),
    ),
    configuration: new Gauge({
      ...own(
        'config_info',
        'Always 1; labels in_force and found are the SHA-256 of the configuration in force, and of the file as it was last valid.',
      ),
      labelNames: ['in_force', 'found'] as const,
    }),
    configurationWaiting: new Gauge(
      own('config_waiting_fields', 'Fields of the changed configuration file that wait for the next start.'),
    ),
    unreachableNodes: new Gauge(
      own('unreachable_nodes', 'Other nodes that do not answer this one, with --leave-unreachable-nodes.'),
    ),
    judgedNodes: new Gauge(
      own('judged_nodes', 'Other nodes that have answered this one since its start: only these can be left.'),
    ),
    reachChanges: new Counter({
      ...own(
        'node_reach_changes_total',
        'Decisions on other nodes; label reachable is true or false, and sign is neighbour or flows.',
      ),
      labelNames: ['reachable', 'sign'] as const,
    }),
    requestFailures: new Counter({
      ...own('api_failures_total', 'Failed lists and watches of the API server.'),
      labelNames: ['resource', 'code'] as const,
    }),
  };
}

/** The contact with the API server for one resource. */
export interface ContactOfResource {
  readonly resource: string;
  readonly state: string;
  /** In ms since 1970; undefined before the first. */
  readonly lastContact: number | undefined;
}

/** Registers the metrics of the contact with the API server. `read` is called for each scrape. */
export function contactMetrics(registry: Registry, read: () => readonly ContactOfResource[]): void {
  const own = { labelNames: ['resource'] as const, registers: [registry] };
  new Gauge({
    ...own,
    name: 'kube_netlink_proxy_api_last_contact_timestamp_seconds',
    help: 'Last event, bookmark or successful answer of the API server; 0 before the first.',
    collect() {
      for (const { resource, lastContact = 0 } of read()) this.set({ resource }, lastContact / 1000);
    },
  });
  new Gauge({
    ...own,
    name: 'kube_netlink_proxy_api_contact_lost',
    help: 'Whether no request to the API server has succeeded for 30 s: 1 or 0.',
    collect() {
      for (const { resource, state } of read()) this.set({ resource }, state === 'lost' ? 1 : 0);
    },
  });
}

/**
 * Measures how much later than its interval a timer of the event loop fires, since the last scrape. A stall that begins
 * within one interval after a scrape is missed. Returns what ends it.
 */
export function measureEventLoop(registry: Registry, resolution = RESOLUTION): () => void {
  const timer = monitorEventLoopDelay({ resolution });
  timer.enable();
  const delay = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1000);
  new Gauge({
    name: 'kube_netlink_proxy_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape, in seconds; label statistic is p99 or max.',
    registers: [registry],
    labelNames: ['statistic'],
    collect() {
      const fired = timer.count > 0;
      this.set({ statistic: 'p99' }, fired ? delay(timer.percentile(99)) : 0);
      this.set({ statistic: 'max' }, fired ? delay(timer.max) : 0);
      timer.reset();
    },
  });
  return () => timer.disable();
}
