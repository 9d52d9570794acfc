// The printed summary of one pass.
import { escapedControls } from '../../kernel/errors.js';
import type { CleanUpSummary } from '../../proxy/reconcile/cleanUp.js';
import type { SyncSummary } from '../../proxy/reconcile/summary.js';

/**
 * The summary that `--once` prints.
 *
 * @param unread names of the unreadable inputs
 */
export function describeSummary(summary: SyncSummary, unread: readonly string[]): string {
  const { services, operations, failures, phases, milliseconds } = summary;
  const time = `planned in ${milliseconds.plan.toFixed(1)} ms, kernel ${milliseconds.kernel.toFixed(1)} ms`;
  const lines = [`${count(services, 'service')}: ${count(operations, 'kernel operation')} (${time})`];
  if (operations === 0 && unread.length === 0) lines.push('the kernel already has the desired state');
  for (const [phase, number] of phases) lines.push(`  ${phase.padEnd(16)} ${number}`);
  if (failures.length > 0) lines.push(`${count(failures.length, 'operation')} failed, see above`);
  lines.push(...describeUnread(unread));
  return printed(lines);
}

/** What a clean-up left: see {@link CleanUpSummary}. */
interface Rest extends Pick<CleanUpSummary, 'left' | 'used'> {
  /** Whether a part could not be cleaned up. */
  readonly failed: boolean;
}

/** The number of operations of a clean-up, and the items that remain. */
export function describeCleanUp(operations: number, { left, used, failed }: Rest): string {
  const nothing = used.length > 0 ? 'nothing else' : 'none';
  const none = failed ? 'more of our state may be left: see the errors' : `${nothing} of our state is left`;
  const listed = (title: string, keys: readonly string[]) =>
    keys.length === 0 ? [] : [`${title}:`, ...keys.map((key) => `  ${key}`)];
  return printed([
    count(operations, 'kernel operation'),
    ...listed('left, because other programs use it', used),
    ...(left.length === 0 ? [none] : listed('left', left)),
  ]);
}

/** Names of files and keys of items may come from anywhere: each stays on its line. */
function printed(lines: readonly string[]): string {
  return lines.map((line) => `${escapedControls(line)}\n`).join('');
}

/** A line with the unreadable inputs; none if all are readable. */
export function describeUnread(unread: readonly string[]): string[] {
  return unread.length === 0
    ? []
    : [`objects that are missing from unreadable manifests are kept: ${unread.join(', ')}`];
}

/** A number with its noun: `1 service`, `2 services`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
