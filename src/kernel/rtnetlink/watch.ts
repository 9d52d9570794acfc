// Notices changes of a network namespace.
import { NetlinkError } from '../errors.js';
import { loadAddon } from '../shared/addon.js';
import { argumentError, checkObject, checkOptions, type InvalidValue } from '../shared/arguments.js';
import { openCalls } from '../shared/calls.js';
import type { Subscription } from '../shared/eventStream.js';
import { readAll } from '../shared/listing.js';
import type { OpenOptions, WatchOptions } from '../shared/types.js';
import { findInvalidWatch, type OpenWatch, startWatch, type WatchKind } from '../shared/watch.js';
import { EVENT_KIND } from './layouts.js';
import { readEvents } from './records.js';
import type { RtnetlinkEvent, RtnetlinkEventKind, RtnetlinkWatchOptions } from './types.js';

/** A change of a link or an address. */
export type HostEvent = Extract<RtnetlinkEvent, { readonly kind: 'link' | 'address' }>;

/** The changes since the last call. */
export interface RtnetlinkChange {
  /**
   * Notifications after these events were dropped (`ENOBUFS`), unreadable, or more than 4 MiB (or `receiveBuffer`, if that is more), or
   * a link was renamed: anything may have changed. List links and addresses anew.
   */
  readonly lost: boolean;
  /** Every change, in the kernel's order; those before a loss. */
  readonly events: readonly HostEvent[];
}

/** How links and addresses are watched. */
export type HostWatchOptions = OpenOptions & Omit<WatchOptions, 'signal'>;

/** A watch under way. */
export interface RtnetlinkWatch {
  /** Ends it: onChange is not called any more. */
  close(): void;
}

/** The watch of some kinds of objects. */
export function watchOf<Kind extends RtnetlinkEventKind>(
  kinds: readonly Kind[],
): WatchKind<Extract<RtnetlinkEvent, { readonly kind: Kind }>> {
  return {
    operation: 'rtnetlink.watch',
    create: () => {
      const watch = new (loadAddon().RtnetlinkWatch)();
      watch.select(Uint8Array.from(kinds, (kind) => EVENT_KIND.numbers[kind]));
      return watch;
    },
    // The addon reports no other kinds.
    read: (records) => readEvents(records) as Iterable<Extract<RtnetlinkEvent, { readonly kind: Kind }>>,
  };
}

const HOST_WATCH = watchOf(['link', 'address']);

const DEFAULT_GATHER = 20;

const KINDS = Object.keys(EVENT_KIND.numbers) as RtnetlinkEventKind[];

function isKind(kind: unknown): kind is RtnetlinkEventKind {
  return typeof kind === 'string' && Object.hasOwn(EVENT_KIND.numbers, kind);
}

/** The options of a watch, with its kinds. Throws the error of invalid kinds. */
export function checkWatch(options: RtnetlinkWatchOptions) {
  checkOptions('rtnetlink.watch', options);
  const { kinds = KINDS, ...watching } = options;
  const isArray = Array.isArray(kinds);
  if (!isArray || kinds.length === 0 || !kinds.every(isKind)) {
    const rule = `must be an array of ${KINDS.join(', ')}`;
    throw argumentError('rtnetlink.watch', { field: 'kinds', value: kinds, rule, wrongType: !isArray });
  }
  return { kinds, ...watching };
}

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
  options: HostWatchOptions,
  onChange: (change: RtnetlinkChange) => void,
): Promise<RtnetlinkWatch> {
  checkObject(HOST_WATCH.operation, 'options', options);
  const { gather = DEFAULT_GATHER, keepAlive = false, receiveBuffer, ...opening } = options;
  const watching = { gather, keepAlive, receiveBuffer };
  const invalid = findInvalidWatch(watching) ?? findInvalidListener(onChange);
  if (invalid) throw argumentError(HOST_WATCH.operation, invalid);
  const open: OpenWatch = (native, attempt) => openCalls(native, opening, attempt);
  const reports = new Reports(onChange);
  const watch = await startWatch(HOST_WATCH, open, watching, () => void reports.make(watch));
  return {
    close: () => {
      reports.end();
      watch.close();
    },
  };
}

/** The reports of a watch, one after another: what a report has is read in time slices. */
class Reports {
  readonly #onChange: (change: RtnetlinkChange) => void;
  #isReading = false;
  #isMore = false;
  #hasEnded = false;

  constructor(onChange: (change: RtnetlinkChange) => void) {
    this.#onChange = onChange;
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** Reports what waits to be taken, after what is being read. */
  async make(watch: Subscription<HostEvent>): Promise<void> {
    this.#isMore = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isMore && !this.#hasEnded) {
        this.#isMore = false;
        const { events, lost } = watch.take();
        const readable = await readAll(events).catch(unlessMalformed);
        this.#report({ lost: lost || !readable, events: readable ?? [] });
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Not within the promise: an exception of the listener is an uncaught one, and later changes are reported. */
  #report(change: RtnetlinkChange): void {
    queueMicrotask(() => {
      if (!this.#hasEnded) this.#onChange(change);
    });
  }
}

/** Notifications that cannot be read are lost. */
function unlessMalformed(error: unknown): undefined {
  if (!(error instanceof NetlinkError) || error.code !== 'ERR_MALFORMED_REPLY') throw error;
}

function findInvalidListener(onChange: unknown): InvalidValue | undefined {
  if (typeof onChange === 'function') return undefined;
  return { field: 'onChange', value: onChange, rule: 'must be a function', wrongType: true };
}
