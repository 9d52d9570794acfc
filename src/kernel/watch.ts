// Watches of the addon: opened, started, and their notifications read.
import type { NativePart, NativeWatch } from './addon.js';
import { argumentError, type Fault, findCallOptionsFault, integerFault, objectFault } from './arguments.js';
import { type Calls, openCalls } from './calls.js';
import { eventStream, type Subscription } from './eventStream.js';
import type { EventStream, OpenOptions, WatchOptions } from './types.js';

/** How the watch of a family is made, and its records read. */
export interface WatchKind<Event> {
  /** `rtnetlink.watch`. */
  readonly operation: string;
  create(): NativeWatch;
  read(records: Uint8Array): Iterable<Event>;
}

const LONGEST_GATHER = 60_000;

/** The first option of a watch that breaks a rule. */
export function findWatchFault(options: WatchOptions): Fault | undefined {
  const noObject = objectFault('options', options);
  if (noObject) return noObject;
  const { gather = 0, keepAlive = true, ...others } = options;
  const fault = findCallOptionsFault(others) ?? integerFault('gather', gather, 0, LONGEST_GATHER);
  if (fault || typeof keepAlive === 'boolean') return fault;
  return { field: 'keepAlive', value: keepAlive, rule: 'must be true or false', wrongType: true };
}

/** Opens a watch, and calls `ready` when events wait to be taken. An exception of `ready` is an uncaught exception. */
export async function startWatch<Event>(
  kind: WatchKind<Event>,
  opening: OpenOptions,
  { gather = 0, keepAlive = true }: WatchOptions,
  ready: () => void,
): Promise<Subscription<Event>> {
  const attempt = { operation: kind.operation };
  const native = kind.create();
  const calls = await openCalls(native, opening, attempt);
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
    await calls.run(attempt, async () => native.start(gather, keepAlive, notify));
  } catch (error) {
    close();
    throw error;
  }
  const take = () => {
    const { records, lost } = native.take();
    return { events: kind.read(records), lost };
  };
  return { take, close };
}

/**
 * The events of a watch of a client, which makes its calls through `calls`. Throws a TypeError or RangeError for an option
 * that breaks a rule.
 */
export function watchEvents<Event>(
  kind: WatchKind<Event>,
  { opening, closed }: Pick<Calls<NativePart>, 'opening' | 'closed'>,
  options: WatchOptions,
): EventStream<Event> {
  const fault = findWatchFault(options);
  if (fault) throw argumentError(kind.operation, fault);
  const { operation } = kind;
  const { signal } = options;
  return eventStream((ready) => startWatch(kind, opening, options, ready), { operation, signal, closed });
}
