// Types that the clients of all parts of the kernel share: options, listings, results and reports of batches.
import type { NetlinkError } from '../errors.js';

/** How a client of the kernel is opened. */
export interface OpenOptions extends CallOptions {
  /**
   * The network namespace: a path (`/run/netns/blue`), or the id of a process that is in it. Needs CAP_SYS_ADMIN. Default:
   * that of the process. A blank text is an error.
   */
  readonly netns?: string | number | undefined;
  /** Time limit for a reply, after which a call rejects with `ERR_TIMEOUT`: 1–2147483647, in ms. Default 5000. */
  readonly timeout?: number | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /**
   * Ends the call early: it rejects with `signal.reason`. A call that still waits for earlier ones is not sent. If it was sent,
   * its result is dropped: the kernel may have applied a change, and the next call waits for its reply.
   */
  readonly signal?: AbortSignal | undefined;
}

/** A netlink attribute of a listing for which this library has no field. */
export interface ListedAttribute {
  /** Its number in the kernel's headers (`IPSET_ATTR_`, `RTA_`, `FRA_`), without the flags of the attribute's type. */
  readonly type: number;
  /** As the kernel sent it. Numbers of ipset are in network order, those of rtnetlink in the machine's. */
  readonly value: Uint8Array;
}

/** Values that the kernel lists, which may be many. Each iteration reads them anew, when it starts, and decodes them lazily. */
export interface Listing<T> extends AsyncIterable<T> {
  /** All values as an array. */
  toArray(): Promise<T[]>;
}

/** The methods of every client of the kernel. */
export interface KernelClient<Operation> extends BatchSource<Operation>, AsyncDisposable {
  /**
   * Waits for the calls under way, and closes the sockets. Later calls reject with `ERR_CLOSED`. `await using` does the same at
   * the end of a block.
   */
  close(): Promise<void>;
}

/**
 * The result of one operation of a batch: an error, or undefined when the kernel did it. An invalid operation
 * was not sent: `ERR_INVALID_ARGUMENT`, with the field and the rule in `kernelMessage`. The error has no stack, which would only name
 * places in this library; `throwOnFailure` gives it the caller's.
 */
export type OperationResult = NetlinkError | undefined;

/** A batch that has ended. */
export interface Batch<Operation> {
  /** Those of the call. */
  readonly operations: readonly Operation[];
  /** The name of each operation, in the same order: `addService`. */
  readonly names: readonly string[];
  /** The result of each. When the call failed as a whole, each operation has the error of the call. */
  readonly results: readonly (Error | undefined)[];
  /** From the call to its result, in ms. */
  readonly duration: number;
}

/** A part of the kernel that reports its batches. */
export interface BatchSource<Operation> {
  /**
   * Called once for each batch that has ended, before the caller of the batch gets its result. A change that is sent on its
   * own is a batch of one operation. Calls with an invalid argument are not batches: they reject and do nothing.
   * None by default. It must not throw.
   */
  onBatch?: ((batch: Batch<Operation>) => void) | undefined;
}

/** How events are watched. */
export interface WatchOptions extends CallOptions {
  /**
   * Time for which notifications are gathered after a first one, before they are reported: 0–60000, in ms. Default 0. They are
   * reported earlier after a loss, and when they fill half of the room for events that wait ({@link EventStream}). Beware: what is
   * gathered comes at once, and while an iteration works on it, the other half fills. A long time at a high rate needs a larger
   * `receiveBuffer`.
   */
  readonly gather?: number | undefined;
  /**
   * Size of the receive buffer of the socket: 4096–1073741823, in bytes. Default 1 MiB, which has room for some 1600
   * notifications of flows that come at once. Without CAP_NET_ADMIN over the network namespace, the kernel grants `net.core.rmem_max` at
   * most, and does not say so: see {@link Resync.receiveBuffer}.
   */
  readonly receiveBuffer?: number | undefined;
  /** Whether an iteration keeps the process alive. Default true. */
  readonly keepAlive?: boolean | undefined;
}

/**
 * The kernel's state must be listed anew: the first event of each iteration, when later changes are notified of; and again
 * after notifications were lost. The events before it are those before the loss, and the events after it are later than the loss.
 */
export interface Resync {
  readonly kind: 'resync';
  /** Whether notifications were lost: the socket's buffer was full (`ENOBUFS`), or the iteration is too slow. */
  readonly lost: boolean;
  /**
   * After a loss: the number of notifications that were dropped, of every kind that the socket receives, selected or not. Those
   * that could not be read, or that gave a link another name, are not among them.
   */
  readonly dropped?: number | undefined;
  /** In the first event: the size of the receive buffer that the kernel has granted, in bytes. */
  readonly receiveBuffer?: number | undefined;
}

/** An event names the sender of the request that caused it. */
export interface Sent {
  /**
   * Port of the socket whose request caused the change (`nlmsg_pid`): for the client's own, that of its field `port`. Absent: the kernel
   * made the change itself, or does not say, as `/rtnetlink` of links before Linux 6.2 and of what follows from another change.
   */
  readonly sender?: number;
}

/**
 * Events of the kernel. Each iteration subscribes anew, and its first event is a {@link Resync}. It ends with `break` or
 * return(), when its signal is aborted (with the reason as error), and when the client is closed (without an error; one that
 * starts later rejects with ERR_CLOSED).
 * Events that wait for a slow iteration have at most 4 MiB, or as much as `receiveBuffer` if that is more; beyond that they are
 * dropped, and a {@link Resync} is reported.
 */
export interface EventStream<Event> extends AsyncIterable<Event | Resync> {
  /** Starts an iteration. return() ends it at once, even if a call of next() waits. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Event | Resync, undefined>;
}
