// Logs the events of a proxy.
import type { Logger } from 'pino';
import { describeProblem } from '../../kernel/errors.js';
import type { ProxyEvents } from '../../proxy/proxy.js';
import type { Failure, SyncSummary } from '../../proxy/reconcile/summary.js';
import { PASSES } from './log.js';

/**
 * A listener that writes a line for the first pass and for each failure. For later passes with changes, one each from verbosity 2 on, as in
 * kube-proxy, and below it one for all of a minute.
 *
 * @param foreignChains base chains of other programs in the tables of the mode
 */
export function logEvents(log: Logger, foreignChains: () => readonly string[] = () => []): ProxyEvents {
  /** The first pass is always logged at level info, because operators wait for its line. */
  let first = true;
  const minute = new MinuteOfPasses(log);
  const logForeign = logForeignChains(log, foreignChains);
  return {
    synced(summary, latency) {
      const { full, services, operations, phases, milliseconds } = summary;
      // Audits and maintenance run every few seconds, mostly without operations.
      const hasChanges = services > 0 || operations > 0;
      const isSummed = hasChanges && !first && log.levelVal > PASSES;
      if (isSummed) minute.add(summary, latency);
      const level = first || hasChanges ? 'info' : 'debug';
      first = false;
      const fields = () => ({
        full,
        services,
        operations,
        phases: Object.fromEntries(phases),
        planMs: round(milliseconds.plan),
        kernelMs: round(milliseconds.kernel),
        latencyMs: round(latency),
        ...summary.counts,
        failures: summary.failures.length,
      });
      if (!isSummed) log[level](fields(), 'synced');
      if (summary.repaired > 0) {
        const { phases: repairs, keys } = summary.repairs ?? { phases: new Map<string, number>(), keys: [] };
        const repaired = { operations: summary.repaired, phases: Object.fromEntries(repairs) };
        log.warn(repaired, 'repaired items that other programs had changed');
        if (keys.length > 0) log.debug({ keys, more: summary.repaired > keys.length }, 'repaired items');
      }
      const { repeated = 0 } = summary;
      if (repeated > 0) {
        log.error(
          { items: repeated },
          'audits repair the same items again: another program undoes each repair, or reads and writes reach different tables',
        );
      }
      logFailures(log, summary);
      if (full) logForeign();
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
    reachChanged({ node, address, sign, reachable }, services) {
      const fields = { node, address, sign, services };
      if (reachable) log.info(fields, 'the node answers again: its endpoints get new connections');
      else log.warn(fields, 'the node does not answer: its endpoints get no new connections');
    },
    reachJudged: (nodes) =>
      log.debug({ nodes }, 'other nodes have answered, and are left if they fall silent'),
    reachFailed: (error) => log.error({ err: String(error) }, 'cannot find out whether other nodes answer'),
    failed: (error) => log.error({ err: String(error) }, 'cannot read the kernel'),
    retrying: (milliseconds) => log.info({ milliseconds }, 'retrying after a failure'),
  };
}

/** Logs the base chains that other programs have in the tables of the mode, each time that they are others. */
function logForeignChains(log: Logger, list: () => readonly string[]): () => void {
  let before = '';
  return () => {
    const chains = list();
    if (chains.join() === before) return;
    before = chains.join();
    if (chains.length === 0) log.info('no other program has base chains in the tables of this mode any more');
    else
      log.warn(
        { chains },
        'other programs have base chains in the tables of this mode, which decide about packets and stay',
      );
  };
}

/** Time for which passes are one line, in ms. */
const MINUTE = 60_000;

/** The passes with changes of a minute, which begins with the first one. */
class MinuteOfPasses {
  readonly #log: Logger;
  #sums = NO_PASSES;

  constructor(log: Logger) {
    this.#log = log;
  }

  add({ services, operations, failures, milliseconds }: SyncSummary, latency: number): void {
    const sums = this.#sums;
    // A summary that is not written keeps no process running.
    if (sums.passes === 0) setTimeout(() => this.#write(), MINUTE).unref();
    this.#sums = {
      passes: sums.passes + 1,
      services: sums.services + services,
      operations: sums.operations + operations,
      failures: sums.failures + failures.length,
      planMs: sums.planMs + milliseconds.plan,
      kernelMs: sums.kernelMs + milliseconds.kernel,
      maxLatencyMs: Math.max(sums.maxLatencyMs, latency),
    };
  }

  #write(): void {
    const { planMs, kernelMs, maxLatencyMs, ...numbers } = this.#sums;
    this.#sums = NO_PASSES;
    const times = { planMs: round(planMs), kernelMs: round(kernelMs), maxLatencyMs: round(maxLatencyMs) };
    this.#log.info({ ...numbers, ...times }, 'synced in the last minute');
  }
}

const NO_PASSES = {
  ...{ passes: 0, services: 0, operations: 0, failures: 0 },
  ...{ planMs: 0, kernelMs: 0, maxLatencyMs: 0 },
};

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
