// Watches of the addon: opened, started, and their notifications read.
import type { NativeWatch } from './addon.js';
import { argumentError, type Fault, findUnknown } from './arguments.js';
import { openCalls } from './calls.js';
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
const OPTIONS: ReadonlySet<string> = new Set(['gather', 'keepAlive', 'signal']);

/** The first option of a watch that breaks a rule. */
export function findWatchFault(options: WatchOptions): Fault | undefined {
  const { gather = 0, keepAlive = true, signal } = options;
  const unknown = findUnknown(options, OPTIONS);
  if (unknown) return unknown;
  if (!Number.isInteger(gather) || gather < 0 || gather > LONGEST_GATHER) {
    const rule = `must be an integer from 0 to ${LONGEST_GATHER}`;
    return { field: 'gather', value: gather, rule, wrongType: typeof gather !== 'number' };
  }
  if (typeof keepAlive !== 'boolean') {
    return { field: 'keepAlive', value: keepAlive, rule: 'must be true or false', wrongType: true };
  }
  if (signal === undefined || signal instanceof AbortSignal) return undefined;
  return { field: 'signal', value: signal, rule: 'must be an AbortSignal', wrongType: true };
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
    calls.close();
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

/** The events of a watch as an async iterable. Throws a TypeError or RangeError for an option that breaks a rule. */
export function watchEvents<Event>(
  kind: WatchKind<Event>,
  opening: OpenOptions,
  options: WatchOptions,
  closed: AbortSignal,
): EventStream<Event> {
  const fault = findWatchFault(options);
  if (fault) throw argumentError(kind.operation, fault);
  const { operation } = kind;
  const { signal } = options;
  return eventStream((ready) => startWatch(kind, opening, options, ready), { operation, signal, closed });
}
