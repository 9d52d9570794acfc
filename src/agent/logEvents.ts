// Logs the events of a proxy.
import type { Logger } from 'pino';
import { describeProblem } from '../errors.js';
import type { ProxyEvents } from '../proxy.js';
import type { Failure, SyncSummary } from '../reconcile/summary.js';

/** Event handlers that write a line for each pass with changes, and one for each failure. */
export function logEvents(log: Logger): ProxyEvents {
  /** The first pass is always logged at level info, because operators wait for its line. */
  let first = true;
  return {
    synced(summary, latency) {
      const { full, services, operations, phases, milliseconds } = summary;
      // Audits and maintenance run every few seconds, mostly without operations.
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
        const { phases: repairs, keys } = summary.repairs ?? { phases: new Map<string, number>(), keys: [] };
        const repaired = { operations: summary.repaired, phases: Object.fromEntries(repairs) };
        log.warn(repaired, 'repaired items that other programs had changed');
        log.debug({ keys, more: summary.repaired > keys.length }, 'repaired items');
      }
      const { repeated = 0 } = summary;
      if (repeated > 0) {
        log.error(
          { items: repeated },
          'audits repair the same items again: another program undoes each repair, or reads and writes reach different tables',
        );
      }
      logFailures(log, summary);
    },
    incomplete(unread) {
      if (unread.length > 0)
        log.error({ unread }, 'unreadable input: objects that are missing from it are kept');
      else log.info('all input is readable again');
    },
    problems(problems) {
      for (const problem of problems) log.error(describeProblem(problem));
    },
    mended(problems) {
      for (const problem of problems) log.info({ problem: describeProblem(problem) }, 'problem solved');
    },
    switched(mode, summary) {
      const { operations, left } = summary;
      if (operations === 0 && left.length === 0) return;
      log[left.length > 0 ? 'warn' : 'info']({ mode, operations, left }, 'removed items of another mode');
      logFailures(log, summary);
    },
    kept: (mode, connections) =>
      log.info(
        { mode, connections },
        'connections still use the items of another mode, which stay until they end',
      ),
    unswitched: (mode, error) =>
      log.error({ mode, err: String(error) }, 'cannot remove the items of another mode'),
    failed: (error) => log.error({ err: String(error) }, 'cannot read the kernel'),
    retrying: (milliseconds) => log.info({ milliseconds }, 'retrying after a failure'),
  };
}

/** A line for each operation that failed, and one for those of the same Services that failed together. */
export function logFailures(log: Logger, { failures }: Pick<SyncSummary, 'failures'>): void {
  const together = new Map<string, { readonly failure: Failure; items: number }>();
  const numbers = new Map<Failure['error'], number>();
  for (const failure of failures) {
    const number = numbers.get(failure.error) ?? numbers.size;
    numbers.set(failure.error, number);
    const id = [number, ...(failure.services ?? [])].join(' ');
    const equal = together.get(id);
    if (equal) equal.items++;
    else together.set(id, { failure, items: 1 });
  }
  for (const { failure, items } of together.values()) {
    const { key, error, services, fields } = failure;
    const concern = { ...(services && { services }), ...(fields && { fields }) };
    log.error({ key, code: error.code, ...concern, ...(items > 1 && { items }) }, error.message);
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
