// Notifications of the kernel as async iterators of events. Each iteration has a subscription of its own, from which it takes
// events only when it is asked for one: what waits is kept, and bounded, by the subscription.
import { TimeSlice } from '../timeSlice.js';
import { onAbort } from './aborts.js';
import { closedError } from './failures.js';
import type { EventStream, Resync } from './types.js';

/** The notifications of a subscription since the last call. */
export interface Taken<Event> {
  /** In the kernel's order; those before a loss. */
  readonly events: Iterable<Event>;
  /** Later ones were lost. */
  readonly lost: boolean;
  /** The number of those that are known to be. */
  readonly dropped: number;
}

/** Groups that were joined. */
export interface Subscription<Event> {
  /** The size of the receive buffer that was granted, in bytes. */
  readonly receiveBuffer: number;
  take(): Taken<Event>;
  close(): void;
}

/** Joins groups. Calls `ready` when something waits to be taken, and need not repeat it before that is taken. */
type Subscribe<Event> = (ready: () => void) => Promise<Subscription<Event>>;

/** A stream: its name in errors, and the signals that end its iterations. */
interface StreamOptions {
  /** `rtnetlink.watch`. */
  readonly operation: string;
  /** Ends them with its reason as error. */
  readonly signal?: AbortSignal | undefined;
  /** Of the client: ends iterations under way without an error, and later ones reject with ERR_CLOSED. */
  readonly closed: AbortSignal;
}

/** A stream of the events of one kind of subscription. */
export function eventStream<Event>(subscribe: Subscribe<Event>, options: StreamOptions): EventStream<Event> {
  return { [Symbol.asyncIterator]: () => new EventIterator(subscribe, options) };
}

/** One iteration. Not a generator: return() must end it while next() waits for an event. */
class EventIterator<Event> implements AsyncIterableIterator<Event | Resync, undefined> {
  readonly #subscribe: Subscribe<Event>;
  readonly #options: StreamOptions;
  #subscription: Subscription<Event> | undefined;
  #events: Iterator<Event> = [][Symbol.iterator]();
  /** What follows these events. */
  #loss: Resync | undefined;
  readonly #slice = new TimeSlice();
  #last: Promise<unknown> = Promise.resolve();
  #wake = () => {};
  #ended = false;
  /** Ends listening to the signals. */
  readonly #forget: (() => void)[] = [];
  /** The error of the next call, in an object because a reason may be undefined. */
  #failure: { readonly reason: unknown } | undefined;

  constructor(subscribe: Subscribe<Event>, options: StreamOptions) {
    this.#subscribe = subscribe;
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Event | Resync, undefined>> {
    const result = this.#last.then(() => this.#step());
    this.#last = result.catch(() => undefined);
    return result;
  }

  async return(): Promise<IteratorResult<Event | Resync, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  async #step(): Promise<IteratorResult<Event | Resync, undefined>> {
    try {
      const value = this.#subscription ? await this.#take() : await this.#start();
      if (value !== undefined) return { done: false, value };
    } catch (reason) {
      this.#end();
      throw reason;
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.reason;
    return { done: true, value: undefined };
  }

  /** Subscribes. Undefined when the iteration has ended, here and below. */
  async #start(): Promise<Resync | undefined> {
    if (this.#ended) return undefined;
    const { operation, signal, closed } = this.#options;
    signal?.throwIfAborted();
    if (closed.aborted) throw closedError(operation);
    if (signal) this.#forget.push(onAbort(signal, this.#abort));
    this.#forget.push(onAbort(closed, this.#end));
    const subscription = await this.#subscribe(() => this.#wake());
    if (this.#ended) {
      subscription.close();
      return undefined;
    }
    this.#subscription = subscription;
    return { kind: 'resync', lost: false, receiveBuffer: subscription.receiveBuffer };
  }

  async #take(): Promise<Event | Resync | undefined> {
    while (!this.#ended) {
      const event = this.#events.next();
      if (!event.done) return this.#inTurn(event.value);
      const loss = this.#loss;
      this.#loss = undefined;
      if (loss) return loss;
      const ready = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const taken = this.#subscription?.take();
      this.#events = (taken?.events ?? [])[Symbol.iterator]();
      if (taken?.lost) this.#loss = { kind: 'resync', lost: true, dropped: taken.dropped };
      const first = this.#events.next();
      if (!first.done) return this.#inTurn(first.value);
      if (!this.#loss) await ready;
    }
    return undefined;
  }

  /** Lets the event loop turn now and then, however many events wait. */
  async #inTurn(event: Event): Promise<Event> {
    if (this.#slice.spend(1)) await this.#slice.yield();
    return event;
  }

  readonly #abort = () => {
    this.#failure = { reason: this.#options.signal?.reason };
    this.#end();
  };

  readonly #end = () => {
    if (this.#ended) return;
    this.#ended = true;
    for (const forget of this.#forget) forget();
    this.#subscription?.close();
    this.#wake();
  };
}
