// The metrics of the process, updated by methods, in a registry of our own.
import { type Counter, Gauge, Registry } from 'prom-client';
import type { Family } from '../../kernel/net/address.js';
import {
  failureMetrics,
  kubeProxyMetrics,
  localhostMetrics,
  type ModeCounter,
  packetMetrics,
  probeMetrics,
  type RejectedPackets,
  rejectedMetric,
} from './kubeProxyMetrics.js';
import { type ContactOfResource, contactMetrics, ownMetrics } from './ownMetrics.js';
import { processMetrics } from './processMetrics.js';
import { textOf } from './text.js';

/** Facts about the program that metrics show. */
export interface MetricsOptions {
  /** Version of kube-netlink-proxy: `0.1.0`. */
  readonly version: string;
  /** The emulated Kubernetes version: `v1.36.0`. It is the `git_version` of kubernetes_build_info. */
  readonly kubernetesVersion: string;
  /** Start of the process, in ms since 1970. */
  readonly startedAt: number;
  /** Time of day, in ms since 1970. */
  readonly now: () => number;
}

/** One pass. */
export interface SyncedPass {
  readonly families: readonly Family[];
  /** From its start to the last acknowledgement of the kernel, in seconds. */
  readonly seconds: number;
  /** A full pass: it read the kernel and compared all items. */
  readonly full: boolean;
  /** No failure affects all Services. */
  readonly succeeded: boolean;
}

/** The metrics of the listeners of node ports on localhost. */
export interface LocalhostMetrics {
  /** Number of open listeners of a family. */
  listeners(family: Family, count: number): void;
  /** A listener could not be opened. */
  failed(family: Family): void;
}

/** The metrics of the process. Times are in seconds. */
export interface Metrics {
  /**
   * Shows 0 as the times of the last request and the last success of these families, which have had none, and in all counters of
   * failures and flows, also those that are shown later. A rate needs the 0 before the first event.
   */
  expect(families: readonly Family[]): void;
  /** A pass was requested for a family. */
  queued(family: Family): void;
  /** A pass ended, with or without failures. */
  synced(pass: SyncedPass): void;
  /** A change of endpoints is programmed, so many seconds after its `endpoints.kubernetes.io/last-change-trigger-time`. */
  programmed(family: Family, seconds: number): void;
  /** Service events arrived; kube-proxy counts each once per family. */
  serviceChanges(count: number): void;
  /** EndpointSlice events arrived. */
  endpointChanges(count: number): void;
  /** Numbers of Services and EndpointSlices that wait for the next pass. */
  pending(services: number, endpoints: number): void;
  /** Number of Services, or of Service ports, with this traffic policy Local and without an endpoint on this node. */
  noLocalEndpoints(family: Family, policy: 'internal' | 'external', count: number): void;
  /** Number of our rules in a table, and number of those that the last pass wrote. */
  rules(family: Family, table: string, total: number, written: number): void;
  /** iptables-restore failed. */
  restoreFailed(family: Family): void;
  /** So many of these failures were outside of a full pass. */
  partialRestoreFailed(family: Family, count: number): void;
  /** Shows counters of failures from now on. @returns counts one of a family, by the name of the counter */
  countFailures(counters: readonly ModeCounter[]): (counter: string, family: Family) => void;
  /**
   * Shows counters of packets from now on.
   *
   * @param read packets by name of the counter, without those that do not exist; it is called for each scrape
   */
  countPackets(counters: readonly ModeCounter[], read: () => Promise<ReadonlyMap<string, number>>): void;
  /**
   * Shows the metrics of node ports on localhost from now on.
   *
   * @param read packets that the kernel rejected there; it is called for each scrape
   */
  countLocalhost(read: () => Promise<readonly RejectedPackets[]>): LocalhostMetrics;
  /** A search for flows to delete ended. */
  conntrackReconciled(family: Family, seconds: number): void;
  /** Flows were deleted. */
  conntrackDeleted(family: Family, flows: number): void;
  /** Shows the numbers of responses to probes from now on. `read` is called for each scrape. */
  countProbes(read: (probe: 'healthz' | 'livez', status: 200 | 503) => number): void;
  /** Operations of a kind (`addServer`) on a part of the kernel (`ipvs`) ended; `result` is `ok` or the code of the error (`ENOENT`). */
  operations(family: string, kind: string, result: string, count: number): void;
  /** A batch ended. */
  batch(family: string, operations: number, seconds: number): void;
  /** Number of unreadable manifest files. */
  unread(files: number): void;
  /** Number of draining real servers. */
  draining(realServers: number): void;
  /** Number of real servers that were removed at the bound of draining although they had connections, since the start of the mode. */
  drainTimeouts(total: number): void;
  /** Number of items whose last operation failed, and that have not been read since. */
  unknown(items: number): void;
  /** Arrival of the oldest change that is not completely in the kernel, in ms since 1970; undefined if all changes are. */
  oldestUnapplied(arrivedAt: number | undefined): void;
  /** Number of objects of a kind (`Service`) with a problem of this effect (`FieldLeftOut`). */
  leftOut(kind: string, reason: string, objects: number): void;
  /** An audit, or the pass after a disturbance, repaired changes that others had made, with so many operations in these phases. */
  repaired(operations: number, phases: ReadonlyMap<string, number>): void;
  /** An audit ended; it repaired so many items that the audit before it repaired too. */
  repeated(items: number): void;
  /** A list or watch of a resource (`endpointslices`) failed with this code (`ECONNREFUSED`). */
  requestFailed(resource: string, code: string): void;
  /** Shows the contact with the API server from now on. `read` is called for each scrape. */
  contacts(read: () => readonly ContactOfResource[]): void;
  /** The hashes of the configuration in force and of the file, and the fields that wait for the next start. */
  configuration(report: {
    readonly inForce: string;
    readonly found: string;
    readonly waiting: readonly string[];
  }): void;
  /** All metrics, in Prometheus' text format. */
  text(): Promise<string>;
  /** `Content-Type` of `text()`. */
  readonly contentType: string;
  /** Stops measuring the event loop. */
  close(): void;
}

/** Opens the metrics of this process, once per process. */
export function openMetrics({ version, kubernetesVersion, startedAt, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  const theirs = kubeProxyMetrics(registry);
  const ours = ownMetrics(registry, version);
  processMetrics(registry, startedAt);
  buildInfo(registry, kubernetesVersion);
  const label = (family: Family) => ({ ip_family: `IPv${family}` });
  let drainTimeouts = 0;
  let expected: readonly Family[] = [];
  const fromZero = (...counters: Counter<'ip_family'>[]) => {
    for (const counter of counters) for (const family of expected) counter.inc(label(family), 0);
  };
  return {
    expect: (families) => {
      expected = families;
      for (const family of families.map(label)) {
        theirs.lastQueued.set(family, 0);
        theirs.lastSynced.set(family, 0);
      }
      fromZero(theirs.conntrackDeleted, theirs.restoreFailures, theirs.partialRestoreFailures);
    },
    queued: (family) => theirs.lastQueued.set(label(family), now() / 1000),
    synced: ({ families, seconds, full, succeeded }) => {
      const duration = full ? theirs.fullSyncDuration : theirs.partialSyncDuration;
      for (const family of families.map(label)) {
        theirs.syncDuration.observe(family, seconds);
        duration.observe(family, seconds);
        if (succeeded) theirs.lastSynced.set(family, now() / 1000);
      }
    },
    programmed: (family, seconds) => theirs.programmingDuration.observe(label(family), seconds),
    serviceChanges: (count) => theirs.serviceChanges.inc(count),
    endpointChanges: (count) => theirs.endpointChanges.inc(count),
    pending: (services, endpoints) => {
      theirs.serviceChangesPending.set(services);
      theirs.endpointChangesPending.set(endpoints);
    },
    noLocalEndpoints: (family, policy, count) =>
      theirs.noLocalEndpoints.set({ ...label(family), traffic_policy: policy }, count),
    rules: (family, table, total, written) => {
      theirs.rulesTotal.set({ ...label(family), table }, total);
      theirs.rulesLast.set({ ...label(family), table }, written);
    },
    restoreFailed: (family) => theirs.restoreFailures.inc(label(family)),
    partialRestoreFailed: (family, count) => theirs.partialRestoreFailures.inc(label(family), count),
    countFailures: (counters) => {
      const failures = failureMetrics(registry, counters);
      fromZero(...failures.values());
      return (counter, family) => failures.get(counter)?.inc(label(family));
    },
    countPackets: (counters, read) => packetMetrics(registry, counters, read),
    countLocalhost: (read) => {
      const { listeners, failures } = localhostMetrics(registry);
      rejectedMetric(registry, read);
      fromZero(failures);
      return {
        listeners: (family, count) => listeners.set(label(family), count),
        failed: (family) => failures.inc(label(family)),
      };
    },
    conntrackReconciled: (family, seconds) => theirs.conntrackDuration.observe(label(family), seconds),
    conntrackDeleted: (family, flows) => theirs.conntrackDeleted.inc(label(family), flows),
    countProbes: (read) => probeMetrics(registry, read),
    operations: (family, kind, result, count) => ours.operations.inc({ family, kind, result }, count),
    batch: (family, operations, seconds) => {
      ours.batches.observe({ family }, operations);
      ours.kernelDuration.observe({ family }, seconds);
    },
    unread: (files) => ours.unread.set(files),
    draining: (realServers) => ours.draining.set(realServers),
    drainTimeouts(total) {
      if (total <= drainTimeouts) return;
      ours.drainTimeouts.inc(total - drainTimeouts);
      drainTimeouts = total;
    },
    unknown: (items) => ours.unknown.set(items),
    oldestUnapplied: (arrivedAt) => ours.oldestUnapplied.set((arrivedAt ?? 0) / 1000),
    leftOut: (kind, reason, objects) => ours.leftOut.set({ kind, reason }, objects),
    repaired(operations, phases) {
      ours.repairs.inc(operations);
      for (const [phase, count] of phases) ours.repairedPhases.inc({ phase }, count);
    },
    repeated: (items) => ours.repeated.set(items),
    requestFailed: (resource, code) => ours.requestFailures.inc({ resource, code }),
    contacts: (read) => contactMetrics(registry, read),
    configuration: ({ inForce, found, waiting }) => {
      ours.configuration.reset();
      ours.configuration.set({ in_force: inForce, found }, 1);
      ours.configurationWaiting.set(waiting.length);
    },
    text: () => textOf(registry),
    contentType: registry.contentType,
    close: ours.close,
  };
}

function buildInfo(registry: Registry, kubernetesVersion: string): void {
  const [major = '', minor = ''] = kubernetesVersion.replace(/^v/, '').split('.');
  const labels = {
    build_date: '',
    compiler: '',
    git_commit: '',
    git_tree_state: '',
    git_version: kubernetesVersion,
    go_version: '',
    major,
    minor,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
  new Gauge({
    name: 'kubernetes_build_info',
    help:
      "[ALPHA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state," +
      ' build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.',
    labelNames: Object.keys(labels),
    registers: [registry],
  }).set(labels, 1);
}
