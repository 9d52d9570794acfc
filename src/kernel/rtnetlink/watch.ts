// Notices changes of the links and addresses of a network namespace.
import { loadAddon, type NativeRtnetlinkWatch } from '../addon.js';
import { argumentError, type Fault, findUnknown } from '../arguments.js';
import { openCalls } from '../calls.js';
import type { OpenOptions } from '../types.js';
import { CHANGE } from './layouts.js';
import { readEvents } from './records.js';
import type { RtnetlinkEvent } from './types.js';

export type { RtnetlinkEvent } from './types.js';

/** The changes since the last call. */
export interface RtnetlinkChange {
  /** A link was added, deleted or changed. */
  readonly links: boolean;
  /** An address of either family was added, deleted or changed. */
  readonly addresses: boolean;
  /**
   * Notifications were dropped (`ENOBUFS`), unreadable, or more than 4096, or a link was renamed: anything may have
   * changed. List links and addresses anew.
   */
  readonly lost: boolean;
  /** Every change, in the kernel's order; none when notifications were lost. */
  readonly events: readonly RtnetlinkEvent[];
}

/** How a watch is opened. */
export interface WatchOptions extends OpenOptions {
  /** Time for which changes are gathered after a first one, before they are reported: 0–60000, in ms. Default 20. */
  readonly gather?: number;
  /** Whether the watch keeps the process alive. Default false. */
  readonly keepAlive?: boolean;
}

/** A watch under way. */
export interface RtnetlinkWatch {
  /** Ends it: onChange is not called any more. */
  close(): void;
}

const OPERATION = 'rtnetlink.watch';
const DEFAULT_GATHER = 20;
const LONGEST_GATHER = 60_000;
const OPTIONS: ReadonlySet<string> = new Set(['netns', 'timeout', 'gather', 'keepAlive']);

const { linksChanged, addressesChanged, changesLost } = CHANGE.numbers;

/**
 * Calls `onChange` when links or addresses have changed, by this process or another: once for a burst of changes, and
 * again for later changes. Every change after the promise has resolved is reported. An exception of `onChange` is an
 * uncaught exception.
 *
 * Needs no privilege in the process's own namespace. Rejects with NetlinkError `ENOENT` or `EINVAL` for a path that is
 * missing or no network namespace, `EPERM` when CAP_SYS_ADMIN is missing to enter it; with TypeError or RangeError for an
 * argument that breaks a rule.
 */
export async function watchRtnetlink(
  options: WatchOptions,
  onChange: (change: RtnetlinkChange) => void,
): Promise<RtnetlinkWatch> {
  const { gather = DEFAULT_GATHER, keepAlive = false, ...opening } = options;
  const fault = findUnknown(options, OPTIONS) ?? findFault(gather, keepAlive, onChange);
  if (fault) throw argumentError(OPERATION, fault);
  const attempt = { operation: OPERATION };
  const calls = await openCalls(new (loadAddon().RtnetlinkWatch)(), opening, attempt);
  let open = true;
  const close = () => {
    open = false;
    calls.close();
  };
  const start = async (native: NativeRtnetlinkWatch) =>
    native.start(gather, keepAlive, (changes, events) => {
      // Not from within the addon's call: an exception would be lost there.
      queueMicrotask(() => {
        if (open) onChange(toChange(changes, events));
      });
    });
  try {
    await calls.run(attempt, start);
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

function toChange(changes: number, events: Uint8Array): RtnetlinkChange {
  return {
    links: (changes & linksChanged) !== 0,
    addresses: (changes & addressesChanged) !== 0,
    lost: (changes & changesLost) !== 0,
    events: readEvents(events),
  };
}

function findFault(gather: unknown, keepAlive: unknown, onChange: unknown): Fault | undefined {
  if (!Number.isInteger(gather) || Number(gather) < 0 || Number(gather) > LONGEST_GATHER) {
    const rule = `must be an integer from 0 to ${LONGEST_GATHER}`;
    return { field: 'gather', value: gather, rule, wrongType: typeof gather !== 'number' };
  }
  if (typeof keepAlive !== 'boolean') {
    return { field: 'keepAlive', value: keepAlive, rule: 'must be true or false', wrongType: true };
  }
  if (typeof onChange === 'function') return undefined;
  return { field: 'onChange', value: onChange, rule: 'must be a function', wrongType: true };
}
