// Watches of the addon: opened, started, and their notifications read.
import type { NativeNamespace, NativePart, NativeWatch } from './addon.js';
import {
  argumentError,
  findInvalidCallOptions,
  type InvalidValue,
  invalidInteger,
  invalidObject,
} from './arguments.js';
import { type Calls, openAs } from './calls.js';
import { eventStream, type Subscription } from './eventStream.js';
import type { Attempt } from './failures.js';
import type { EventStream, Resync, WatchOptions } from './types.js';

/** How the watch of a family is made, and its records read. */
export interface WatchKind<Event> {
  /** `rtnetlink.watch`. */
  readonly operation: string;
  create(): NativeWatch;
  /** Reads the events in records; a resync for those that it cannot read. */
  read(records: Uint8Array): Iterable<Event>;
  /** Rejects if nothing would be reported in the namespace of the watch, whose path is `target`. */
  opened?(netns: string | NativeNamespace, target: string | undefined): Promise<void>;
}

/** Opens the watch of the addon; `attempt` names it in errors. */
export type OpenWatch = (native: NativeWatch, attempt: Attempt) => Promise<Calls<NativeWatch>>;

const LONGEST_GATHER = 60_000;
const LEAST_RECEIVE_BUFFER = 4096;
/** The kernel doubles it, and has the result in 32 bits with a sign. */
const LARGEST_RECEIVE_BUFFER = 2 ** 30 - 1;

/** Bytes of events that may wait for an iteration, with a receive buffer of this size. */
export function mostWaiting(receiveBuffer: number): number {
  return Math.max(4 << 20, receiveBuffer);
}

/** The size of the receive buffer of a watch by default, in bytes. */
export const RECEIVE_BUFFER = 1 << 20;

/** The first invalid option of a watch. */
export function findInvalidWatch(options: WatchOptions): InvalidValue | undefined {
  const noObject = invalidObject('options', options);
  if (noObject) return noObject;
  const { gather = 0, keepAlive = true, receiveBuffer = RECEIVE_BUFFER, ...others } = options;
  const invalid =
    findInvalidCallOptions(others) ??
    invalidInteger('gather', gather, 0, LONGEST_GATHER) ??
    invalidInteger('receiveBuffer', receiveBuffer, LEAST_RECEIVE_BUFFER, LARGEST_RECEIVE_BUFFER);
  if (invalid || typeof keepAlive === 'boolean') return invalid;
  return { field: 'keepAlive', value: keepAlive, rule: 'must be true or false', wrongType: true };
}

/** Opens a watch, and calls `ready` when events wait to be taken. An exception of `ready` is an uncaught exception. */
export async function startWatch<Event>(
  kind: WatchKind<Event>,
  openWatch: OpenWatch,
  { gather = 0, keepAlive = true, receiveBuffer = RECEIVE_BUFFER }: WatchOptions,
  ready: () => void,
): Promise<Subscription<Event>> {
  const attempt = { operation: kind.operation };
  const native = kind.create();
  native.setReceiveBuffer(receiveBuffer);
  const calls = await openWatch(native, attempt);
  let open = true;
  const close = () => {
    open = false;
    void calls.close();
  };
  // Not from within the addon's call: an exception would be lost there.
  const notify = () =>
    queueMicrotask(() => {
      if (open) ready();
    });
  try {
    await kind.opened?.(calls.opening.netns, calls.opening.target);
    await calls.run(attempt, async () => native.start(gather, keepAlive, notify));
  } catch (error) {
    close();
    throw error;
  }
  const take = () => {
    const { records, lost, dropped } = native.take();
    return { events: kind.read(records), lost, dropped };
  };
  return { take, close, receiveBuffer: native.receiveBuffer() };
}

/**
 * The events of a watch of a client, which makes its calls through `calls`. Throws a TypeError or RangeError for an option
 * that breaks a rule.
 */
export function watchEvents<Event>(
  kind: WatchKind<Event | Resync>,
  { opening, closed }: Pick<Calls<NativePart>, 'opening' | 'closed'>,
  options: WatchOptions,
): EventStream<Event> {
  const invalid = findInvalidWatch(options);
  if (invalid) throw argumentError(kind.operation, invalid);
  const { operation } = kind;
  const { signal } = options;
  const open: OpenWatch = (native, attempt) => openAs(native, opening, attempt);
  const stream = eventStream((ready) => startWatch(kind, open, options, ready), {
    operation,
    signal,
    closed,
  });
  return stream as EventStream<Event>; // the same events: every stream has resyncs
}
