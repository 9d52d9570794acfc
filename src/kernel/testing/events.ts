// The notifications of a fake.
import { argumentError } from '../arguments.js';
import { eventStream, type Subscription } from '../eventStream.js';
import type { EventStream, WatchOptions } from '../types.js';
import { findWatchFault } from '../watch.js';

/** Events that wait for one iteration; more are lost. */
const MOST_EVENTS = 65_536;

interface Waiting<Event> {
  readonly isWanted: (event: Event) => boolean;
  events: Event[];
  lost: boolean;
  readonly ready: () => void;
}

/** Sends events to the iterations of all streams of a fake. */
export class FakeEvents<Event> {
  readonly #waiting = new Set<Waiting<Event>>();

  /** Notifies of an event. */
  emit(event: Event): void {
    for (const waiting of this.#waiting) {
      if (!waiting.isWanted(event)) continue;
      if (waiting.events.length >= MOST_EVENTS) waiting.lost = true;
      if (waiting.lost) waiting.events = [];
      else waiting.events.push(event);
      waiting.ready();
    }
  }

  /** Drops the notifications that wait, as the kernel does when the buffer of a socket is full. */
  lose(): void {
    for (const waiting of this.#waiting) {
      waiting.lost = true;
      waiting.events = [];
      waiting.ready();
    }
  }

  /**
   * A stream, as the client's watch() returns it; `closed` is aborted when the fake is closed.
   *
   * @param isWanted selects the events of the stream; default: all
   */
  stream(
    operation: string,
    options: WatchOptions,
    closed: AbortSignal,
    isWanted: (event: Event) => boolean = () => true,
  ): EventStream<Event> {
    const fault = findWatchFault(options);
    if (fault) throw argumentError(operation, fault);
    const subscribe = async (ready: () => void) => this.#subscribe(ready, isWanted);
    return eventStream(subscribe, { operation, signal: options.signal, closed });
  }

  #subscribe(ready: () => void, isWanted: (event: Event) => boolean): Subscription<Event> {
    const waiting: Waiting<Event> = { isWanted, events: [], lost: false, ready };
    this.#waiting.add(waiting);
    return {
      take() {
        const { events, lost } = waiting;
        waiting.events = [];
        waiting.lost = false;
        return { events, lost };
      },
      close: () => void this.#waiting.delete(waiting),
    };
  }
}
