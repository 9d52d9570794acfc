// Events of a proxy → lines of the log.
import type { Logger } from 'pino';
import { describeProblem } from '../errors.js';
import type { ProxyEvents } from '../proxy.js';
import type { SyncSummary } from '../reconcile/summary.js';

/** Events of a proxy that go to the log: a line for each pass that did anything, one for each failure. */
export function logEvents(log: Logger): ProxyEvents {
  /** The first pass is logged whatever it did: operators wait for its line. */
  let first = true;
  return {
    synced(summary, latency) {
      const { full, services, operations, phases, milliseconds } = summary;
      // An audit, or a look at draining real servers, that found nothing to do comes every few seconds.
      const level = first || services > 0 || operations > 0 ? 'info' : 'debug';
      first = false;
      log[level](
        {
          full,
          services,
          operations,
          phases: Object.fromEntries(phases),
          planMs: round(milliseconds.plan),
          kernelMs: round(milliseconds.kernel),
          latencyMs: round(latency),
          ...summary.counts,
          failures: summary.failures.length,
        },
        'synced',
      );
      if (summary.repaired > 0) {
        log.warn({ operations: summary.repaired }, 'others had changed our items; they were repaired');
      }
      logFailures(log, summary);
    },
    incomplete(unread) {
      if (unread.length > 0) log.error({ unread }, 'what is missing is kept until these can be read');
      else log.info('everything can be read again');
    },
    problems(problems) {
      for (const problem of problems) log.error(describeProblem(problem));
    },
    mended(problems) {
      for (const problem of problems) log.info({ problem: describeProblem(problem) }, 'put right, or gone');
    },
    switched(mode, summary) {
      const { operations, left } = summary;
      if (operations === 0 && left.length === 0) return;
      log[left.length > 0 ? 'warn' : 'info'](
        { mode, operations, left },
        'items of another mode were removed',
      );
      logFailures(log, summary);
    },
    failed: (error) => log.error({ err: String(error) }, 'the kernel could not be read'),
    retrying: (milliseconds) => log.info({ milliseconds }, 'what failed is tried again'),
  };
}

/** A line for each operation that failed. */
export function logFailures(log: Logger, { failures }: Pick<SyncSummary, 'failures'>): void {
  for (const { key, error } of failures) log.error({ key, code: error.code }, error.message);
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
