// The metrics of the process, in a registry of our own. What happens updates them where it is known.
import { Gauge, Registry } from 'prom-client';
import { type KubeProxyMetrics, kubeProxyMetrics } from './kubeProxyMetrics.js';
import { measureEventLoop, type OwnMetrics, ownMetrics } from './ownMetrics.js';
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
}

/** The metrics of the process. Times are in seconds. */
export interface Metrics {
  /** kube-proxy's. */
  readonly kubeProxy: KubeProxyMetrics;
  /** Those that kube-proxy does not have. */
  readonly own: OwnMetrics;
  /** Where metrics are registered that only some agents have. */
  readonly registry: Registry;
  /** All metrics, in Prometheus' text format. */
  text(): Promise<string>;
  /** `Content-Type` of `text()`. */
  readonly contentType: string;
  /** Stops measuring the event loop. */
  close(): void;
}

/** Opens the metrics of this process, once per process. */
export function openMetrics({ version, kubernetesVersion, startedAt }: MetricsOptions): Metrics {
  const registry = new Registry();
  const kubeProxy = kubeProxyMetrics(registry);
  const own = ownMetrics(registry, version);
  const close = measureEventLoop(registry);
  processMetrics(registry, startedAt);
  buildInfo(registry, kubernetesVersion);
  return { kubeProxy, own, registry, text: () => textOf(registry), contentType: registry.contentType, close };
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
