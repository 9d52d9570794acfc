// The process_ metrics of every Prometheus client library, read at each scrape from cheap sources.
import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the metrics. `startedAt`: start of the process, in ms since 1970. */
export function processMetrics(registry: Registry, startedAt: number): void {
  const registers = [registry];
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name: `process_${name}`,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  gauge(
    'start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    () => startedAt / 1000,
  );
  gauge('resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss());
  gauge('virtual_memory_bytes', 'Virtual memory size in bytes.', () => {
    const kilobytes = /^VmSize:\s+(\d+) kB$/m.exec(read('/proc/self/status') ?? '')?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  });
  gauge('open_fds', 'Number of open file descriptors.', () => openFiles());
  gauge('max_fds', 'Maximum number of open file descriptors.', () => {
    const soft = /^Max open files\s+(\d+)/m.exec(read('/proc/self/limits') ?? '')?.[1];
    return soft === undefined ? undefined : Number(soft);
  });
}

/** Undefined without /proc; the metric is then omitted. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}
