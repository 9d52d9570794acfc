// Notices changes of the links and addresses of a network namespace.
import { loadAddon } from '../addon.js';
import { argumentError, type Fault } from '../arguments.js';
import type { OpenOptions, WatchOptions } from '../types.js';
import { findWatchFault, startWatch, type WatchKind } from '../watch.js';
import { readEvents } from './records.js';
import type { RtnetlinkEvent } from './types.js';

/** The changes since the last call. */
export interface RtnetlinkChange {
  /**
   * Notifications were dropped (`ENOBUFS`), unreadable, or more than 4 MiB, or a link was renamed: anything may have changed.
   * List links and addresses anew.
   */
  readonly lost: boolean;
  /** Every change, in the kernel's order; none when notifications were lost. */
  readonly events: readonly RtnetlinkEvent[];
}

/** How links and addresses are watched. */
export type RtnetlinkWatchOptions = OpenOptions & Omit<WatchOptions, 'signal'>;

/** A watch under way. */
export interface RtnetlinkWatch {
  /** Ends it: onChange is not called any more. */
  close(): void;
}

/** The watch of links and addresses. */
export const RTNETLINK_WATCH: WatchKind<RtnetlinkEvent> = {
  operation: 'rtnetlink.watch',
  create: () => new (loadAddon().RtnetlinkWatch)(),
  read: readEvents,
};

const DEFAULT_GATHER = 20;

/**
 * Calls `onChange` when links or addresses have changed, by this process or another: once for a burst of changes, and
 * again for later changes. Every change after the promise has resolved is reported. An exception of `onChange` is an
 * uncaught exception. `gather` is 20 ms by default, and `keepAlive` is false.
 *
 * Needs no privilege in the process's own namespace. Rejects with NetlinkError `ENOENT` or `EINVAL` for a path that is
 * missing or no network namespace, `EPERM` when CAP_SYS_ADMIN is missing to enter it; with TypeError or RangeError for an
 * argument that breaks a rule.
 */
export async function watchRtnetlink(
  options: RtnetlinkWatchOptions,
  onChange: (change: RtnetlinkChange) => void,
): Promise<RtnetlinkWatch> {
  const { gather = DEFAULT_GATHER, keepAlive = false, ...opening } = options;
  const watching = { gather, keepAlive };
  const fault = findWatchFault(watching) ?? findListenerFault(onChange);
  if (fault) throw argumentError(RTNETLINK_WATCH.operation, fault);
  const watch = await startWatch(RTNETLINK_WATCH, opening, watching, () => {
    const { events, lost } = watch.take();
    onChange({ lost, events: [...events] });
  });
  return watch;
}

function findListenerFault(onChange: unknown): Fault | undefined {
  if (typeof onChange === 'function') return undefined;
  return { field: 'onChange', value: onChange, rule: 'must be a function', wrongType: true };
}
