// Everything that is counted and timed, behind verbs; one registry of our own.
import { Gauge, Registry } from 'prom-client';
import type { Family } from '../net/address.js';
import { kubeProxyMetrics } from './kubeProxyMetrics.js';
import { ownMetrics } from './ownMetrics.js';
import { processMetrics } from './processMetrics.js';
import { textOf } from './text.js';

/** The parts of the kernel that operations are sent to. */
export type KernelFamily = 'ipvs' | 'ipset' | 'rtnetlink' | 'iptables' | 'conntrack' | 'sysctl';

/** What the metrics say about the program. */
export interface MetricsOptions {
  /** Of kube-netlink-proxy: `0.1.0`. */
  readonly version: string;
  /** Of the kube-proxy that is imitated: `v1.36.0`. Shown as `git_version` of kubernetes_build_info. */
  readonly kubernetesVersion: string;
  /** When the process started, ms since 1970. */
  readonly startedAt: number;
  /** Ms since 1970. */
  readonly now: () => number;
}

/** One pass over the rules of some families. */
export interface SyncedPass {
  readonly families: readonly Family[];
  /** From its start to its last acknowledgement. */
  readonly seconds: number;
  /** The kernel was read and everything compared. */
  readonly full: boolean;
  /** Nothing failed. */
  readonly succeeded: boolean;
}

/** Counters, gauges and histograms of the process, each behind the verb that moves it. Times are seconds. */
export interface Metrics {
  /** A sync of a family's rules was asked for. */
  queued(family: Family): void;
  /** A pass ended, well or not. */
  synced(pass: SyncedPass): void;
  /** A change of endpoints, first told so many seconds ago (`endpoints.kubernetes.io/last-change-trigger-time`), is programmed. */
  programmed(family: Family, seconds: number): void;
  /** Events of Services arrived; kube-proxy counts each once per family. */
  serviceChanges(count: number): void;
  /** Events of EndpointSlices arrived. */
  endpointChanges(count: number): void;
  /** Services and slices that wait for the next pass. */
  pending(services: number, endpoints: number): void;
  /** Services whose traffic policy is Local and which have no endpoint on this node. */
  noLocalEndpoints(family: Family, policy: 'internal' | 'external', services: number): void;
  /** Rules of ours in a table, and how many of them the last pass wrote. */
  rules(family: Family, table: string, total: number, written: number): void;
  /** iptables-restore refused; `partial` if it was given only some of the chains. */
  restoreFailed(family: Family, partial: boolean): void;
  /** Stale UDP flows were looked for. */
  conntrackReconciled(family: Family, seconds: number): void;
  /** So many of them were deleted. */
  conntrackDeleted(family: Family, flows: number): void;
  /** The health server answered. */
  probed(probe: 'healthz' | 'livez', status: number): void;
  /** Operations of a kind (`addServer`) were carried out; `result`: `ok`, or the code of the error (`ENOENT`). */
  operations(family: KernelFamily, kind: string, result: string, count: number): void;
  /** A batch was carried out. */
  batch(family: KernelFamily, operations: number, seconds: number): void;
  /** How many files of the source cannot be read. */
  unread(files: number): void;
  /** Real servers that drain now. */
  draining(realServers: number): void;
  /** So many objects of a kind (`Service`) have something that cannot be used, with this effect (`FieldLeftOut`). */
  leftOut(kind: string, reason: string, objects: number): void;
  /** An audit found so many things that others had changed. */
  repaired(operations: number): void;
  /** A list or watch of a resource (`endpointslices`) failed with this code (`ECONNREFUSED`). */
  requestFailed(resource: string, code: string): void;
  /** All of it, in Prometheus' text format. */
  text(): Promise<string>;
  /** `Content-Type` of that text. */
  readonly contentType: string;
  /** Stops watching the event loop. */
  close(): void;
}

/** Opens the metrics of this process; one such object per process. */
export function openMetrics({ version, kubernetesVersion, startedAt, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  const theirs = kubeProxyMetrics(registry);
  const ours = ownMetrics(registry, version);
  processMetrics(registry, startedAt);
  buildInfo(registry, kubernetesVersion);
  const label = (family: Family) => ({ ip_family: `IPv${family}` });
  return {
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
    noLocalEndpoints: (family, policy, services) =>
      theirs.noLocalEndpoints.set({ ...label(family), traffic_policy: policy }, services),
    rules: (family, table, total, written) => {
      theirs.rulesTotal.set({ ...label(family), table }, total);
      theirs.rulesLast.set({ ...label(family), table }, written);
    },
    restoreFailed: (family, partial) =>
      (partial ? theirs.partialRestoreFailures : theirs.restoreFailures).inc(label(family)),
    conntrackReconciled: (family, seconds) => theirs.conntrackDuration.observe(label(family), seconds),
    conntrackDeleted: (family, flows) => theirs.conntrackDeleted.inc(label(family), flows),
    probed: (probe, status) => theirs[probe].inc({ code: `${status}` }),
    operations: (family, kind, result, count) => ours.operations.inc({ family, kind, result }, count),
    batch: (family, operations, seconds) => {
      ours.batches.observe({ family }, operations);
      ours.kernelDuration.observe({ family }, seconds);
    },
    unread: (files) => ours.unread.set(files),
    draining: (realServers) => ours.draining.set(realServers),
    leftOut: (kind, reason, objects) => ours.leftOut.set({ kind, reason }, objects),
    repaired: (operations) => ours.repairs.inc(operations),
    requestFailed: (resource, code) => ours.requestFailures.inc({ resource, code }),
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
