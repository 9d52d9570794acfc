// /metrics/slis: how the health checks of this server went, as service level indicators. They are apart from /metrics
// because they are scraped more often.
import { Counter, Gauge, Registry } from 'prom-client';
import { type Handler, plain } from './answer.js';
import { textOf } from './text.js';

/** The results of health checks. Both metrics show a check after its first run. */
export interface Slis {
  /** A check ran, and all was well. */
  passed(check: { readonly name: string; readonly type: string }): void;
  /** Answers the metrics; DELETE makes them start anew. */
  readonly handler: Handler;
}

/** Opens them. */
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
