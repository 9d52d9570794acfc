// /metrics/slis: the results of this server's health checks, as service level indicators. They are separate from /metrics
// because they are scraped more often.
import { Counter, Gauge, Registry } from 'prom-client';
import { type Handler, plain } from './handler.js';
import { textOf } from './text.js';

/** Metrics of health check results. A check has series after its first run. */
interface Slis {
  /** A check passed. */
  passed(check: { readonly name: string; readonly type: string }): void;
  /** Serves the metrics; DELETE resets them. */
  readonly handler: Handler;
}

/** Opens the metrics. */
export function openSlis(): Slis {
  const registry = new Registry();
  const registers = [registry];
  const last = new Gauge({
    name: 'kubernetes_healthcheck',
    help: '[STABLE] This metric records the result of a single healthcheck.',
    labelNames: ['name', 'type'],
    registers,
  });
  const all = new Counter({
    name: 'kubernetes_healthchecks_total',
    help: '[STABLE] This metric records the results of all healthcheck.',
    labelNames: ['name', 'status', 'type'],
    registers,
  });
  return {
    passed({ name, type }) {
      last.set({ name, type }, 1);
      all.inc({ name, status: 'success', type });
    },
    async handler({ method }) {
      if (method !== 'DELETE')
        return plain(200, await textOf(registry), { 'Content-Type': registry.contentType });
      registry.resetMetrics();
      return plain(200, 'metrics reset\n');
    },
  };
}
