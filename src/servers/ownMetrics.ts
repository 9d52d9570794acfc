// What kube-proxy has no metric for: what is sent to the kernel and what becomes of it, and how well the process runs.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';

/** Milliseconds between two looks at the event loop: a stall shorter than that may be missed. */
const RESOLUTION = 100;

/** Registers them, and starts to watch the event loop. */
export function ownMetrics(registry: Registry, version: string) {
  const registers = [registry];
  const own = (name: string, help: string) => ({ name: `kube_netlink_proxy_${name}`, help, registers });
  const build = own('build_info', 'Always 1; the version of kube-netlink-proxy.');
  new Gauge({ ...build, labelNames: ['version'] }).set({ version }, 1);
  return {
    operations: new Counter({
      ...own('operations_total', 'Operations sent to the kernel; result is ok or the code of the error.'),
      labelNames: ['family', 'kind', 'result'] as const,
    }),
    batches: new Histogram({
      ...own('batch_operations', 'Operations in a batch, which is one call of the addon or of a program.'),
      labelNames: ['family'] as const,
      buckets: exponentialBuckets(1, 4, 9),
    }),
    kernelDuration: new Histogram({
      ...own('kernel_duration_seconds', 'Time from handing a batch over until all its results were there.'),
      labelNames: ['family'] as const,
      buckets: exponentialBuckets(0.0001, 4, 9),
    }),
    unread: new Gauge(
      own('unread_manifests', 'Manifest files that cannot be read: what is missing is kept until they can.'),
    ),
    draining: new Gauge(
      own('draining_real_servers', 'Real servers with weight 0 that wait for their connections to end.'),
    ),
    leftOut: new Gauge({
      ...own(
        'left_out_objects',
        'Objects with something that cannot be used; reason is the effect: a field or the object is left out, its last readable value is kept, it is of another kind, or cannot be read.',
      ),
      labelNames: ['kind', 'reason'] as const,
    }),
    repairs: new Counter(
      own('audit_repairs_total', 'Operations that mended what others had changed in the kernel.'),
    ),
    requestFailures: new Counter({
      ...own('api_failures_total', 'Lists and watches of the API server that failed.'),
      labelNames: ['resource', 'code'] as const,
    }),
    close: watchEventLoop(
      own(
        'event_loop_delay_seconds',
        'Delay of the event loop since the last scrape; statistic is p99 or max.',
      ),
    ),
  };
}

/**
 * How much later than asked for the event loop got round to the looks, since the metric was last read. A stall that begins
 * within one interval after that is missed.
 */
function watchEventLoop(metric: { name: string; help: string; registers: Registry[] }): () => void {
  const looks = monitorEventLoopDelay({ resolution: RESOLUTION });
  looks.enable();
  const beyond = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000);
  new Gauge({
    ...metric,
    labelNames: ['statistic'],
    collect() {
      const seen = looks.count > 0;
      this.set({ statistic: 'p99' }, seen ? beyond(looks.percentile(99)) : 0);
      this.set({ statistic: 'max' }, seen ? beyond(looks.max) : 0);
      looks.reset();
    },
  });
  return () => looks.disable();
}
