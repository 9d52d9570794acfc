// Formats a registry as Go's client does.
import type { Registry } from 'prom-client';

/** Prometheus' text format, sorted by name, without metrics that have no series. */
export async function textOf(registry: Registry): Promise<string> {
  const text = await registry.metrics();
  const metrics = text.trimEnd().split('\n\n');
  const used = metrics.filter((metric) => metric.split('\n').some((line) => !line.startsWith('#')));
  return used.length === 0 ? '' : `${used.sort().join('\n')}\n`;
}
