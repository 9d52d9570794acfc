// The notifications of a fake.
import { checkArgument, FUNCTION, instanceOf, optional, TEXT } from '../shapes.js';
import { argumentError } from '../shared/arguments.js';
import { eventStream, type Subscription } from '../shared/eventStream.js';
import type { EventStream, WatchOptions } from '../shared/types.js';
import { findInvalidWatch, mostWaiting, RECEIVE_BUFFER } from '../shared/watch.js';

/** Bytes that an event is taken to have: of those that wait for one iteration, more than fit are lost. */
const EVENT_SIZE = 64;

interface Waiting<Event> {
  readonly isWanted: (event: Event) => boolean;
  readonly most: number;
  /** Those before a loss. */
  events: Event[];
  lost: boolean;
  dropped: number;
  readonly ready: () => void;
}

/** Sends events to the iterations of all streams of a fake. */
export class FakeEvents<Event> {
  readonly #waiting = new Set<Waiting<Event>>();

  /** Whether there is an iteration that events are sent to. */
  get isWatched(): boolean {
    return this.#waiting.size > 0;
  }

  /** Notifies of an event. */
  emit(event: Event): void {
    for (const waiting of this.#waiting) {
      if (!waiting.isWanted(event)) continue;
      if (waiting.events.length >= waiting.most) waiting.lost = true;
      if (waiting.lost) waiting.dropped++;
      else waiting.events.push(event);
      waiting.ready();
    }
  }

  /** Loses the notifications until the iterations take those that wait, as the kernel does when the buffer of a socket is full. */
  lose(): void {
    for (const waiting of this.#waiting) {
      waiting.lost = true;
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
    checkArgument('FakeEvents.stream', 'operation', operation, TEXT);
    checkArgument(operation, 'closed', closed, instanceOf(AbortSignal));
    checkArgument(operation, 'isWanted', isWanted, optional(FUNCTION));
    const invalid = findInvalidWatch(options);
    if (invalid) throw argumentError(operation, invalid);
    const { receiveBuffer = RECEIVE_BUFFER } = options;
    const subscribe = async (ready: () => void) => this.#subscribe(ready, isWanted, receiveBuffer);
    return eventStream(subscribe, { operation, signal: options.signal, closed });
  }

  #subscribe(
    ready: () => void,
    isWanted: (event: Event) => boolean,
    receiveBuffer: number,
  ): Subscription<Event> {
    const most = mostWaiting(receiveBuffer) / EVENT_SIZE;
    const waiting: Waiting<Event> = { isWanted, most, events: [], lost: false, dropped: 0, ready };
    this.#waiting.add(waiting);
    return {
      receiveBuffer,
      take() {
        const { events, lost, dropped } = waiting;
        Object.assign(waiting, { events: [], lost: false, dropped: 0 });
        return { events, lost, dropped };
      },
      close: () => void this.#waiting.delete(waiting),
    };
  }
}
