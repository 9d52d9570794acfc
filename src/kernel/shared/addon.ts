// The C++ addon and its exports. Only the clients in this folder's subfolders call it.
import { loadAddonFile } from './addonFile.js';

/** The step that failed, where a hint depends on it: `Step` of native/netlink/status.h. */
export interface FailedStep {
  /** `reply`: the kernel refused a request, and said why. */
  readonly step?: 'openNamespace' | 'enterNamespace' | 'reply' | undefined;
  /** Of `openNamespace`: the path of the namespace, as it was given. */
  readonly path?: string | undefined;
}

/** A failure of the kernel, or of the socket to it. */
export interface NativeStatus extends FailedStep {
  /** Positive errno, or 0 where there is a `code`. */
  readonly errno: number;
  /** `ERR_…` where there is no errno, else empty. */
  readonly code: string;
  /** The kernel's words beside the number; may be empty. */
  readonly message: string;
}

/** One operation of a batch that the kernel did not do. */
export interface NativeFailure extends NativeStatus {
  /** Place in the batch. */
  readonly index: number;
  /** If nothing is sent after it, because the send, or the wait for its answer, failed as a whole: the failure of the rest. */
  readonly rest?: NativeStatus;
}

/** The error of a promise of the addon: a call that failed as a whole. */
export interface NativeError extends Error, FailedStep {
  readonly errno: number;
  readonly code: string;
  readonly kernelMessage: string;
}

/** The network namespace of an open client of the addon: valid until that is closed. Only open() looks into it. */
export type NativeNamespace = object;

/**
 * The methods of every client and every watch of the addon. Arguments of the wrong type or length throw a TypeError; every promise
 * may be rejected with a {@link NativeError}. The layouts of records are in `layouts.ts` of each family.
 */
export interface NativePart {
  /**
   * Opens the sockets; `netns` is a path, empty for the namespace of the process, or the namespace of a client; `timeout` of a
   * reply, in ms.
   */
  open(netns: string | NativeNamespace, timeout: number): Promise<NativeNamespace>;
  /** Closes the sockets; calls under way keep them until they end. */
  close(): void;
}

/** The methods of every client of the addon. */
export interface NativeClient extends NativePart {
  /**
   * Takes whole operation records, and the bytes of any length that they refer to, if the family has such records, and copies them.
   */
  apply(operations: Uint8Array, tails?: Uint8Array): Promise<NativeFailure[]>;
}

/** `native/binding/ipvs_binding.cc`. */
export interface NativeIpvsClient extends NativeClient {
  list(): Promise<Uint8Array>;
  /** A listing without real servers. */
  listServices(): Promise<Uint8Array>;
  /** A listing of the services in whole service records; their settings in it have no meaning. */
  listServers(services: Uint8Array): Promise<Uint8Array>;
  /** Takes one service record. */
  get(service: Uint8Array): Promise<Uint8Array>;
  /** A `KERNEL_IPVS` record. */
  info(): Promise<Uint8Array>;
  /** A `TIMEOUTS` record. */
  timeouts(): Promise<Uint8Array>;
  /** `DAEMON` records. */
  listDaemons(): Promise<Uint8Array>;
  /** The next piece of the connection table as text, empty at the end. The first call with a number begins a listing. */
  readConnections(listing: number): Promise<Uint8Array>;
  /** Frees a listing of connections, read to its end or not. */
  endConnections(listing: number): Promise<Uint8Array>;
}

/** `native/binding/rtnetlink_binding.cc`. */
export interface NativeRtnetlinkClient extends NativeClient {
  /** Takes a MESSAGE record with payload and references. Resolves to the messages of the answer. */
  read(message: Uint8Array): Promise<Uint8Array>;
}

/** Notifications since they were taken last. */
interface NativeNotifications {
  /** Whole records of the family, in the kernel's order; those before a loss. */
  readonly records: Uint8Array;
  /** Later ones were lost, and this many are known to be. */
  readonly lost: boolean;
  readonly dropped: number;
}

/** The methods of every watch of the addon: `native/binding/watch_binding.h`. */
export interface NativeWatch extends NativePart {
  /** The size of the socket's receive buffer, in bytes. Before open(). */
  setReceiveBuffer(size: number): void;
  /** After open(): the size that the kernel has granted, in bytes. */
  receiveBuffer(): number;
  /**
   * Calls back when notifications wait to be taken, and not again before take(): once for all of `gather` ms. May be called
   * once. Throws a {@link NativeError} when no thread can be started. No callback is called after close().
   */
  start(gather: number, keepAlive: boolean, callback: () => void): void;
  take(): NativeNotifications;
  /** Resolves when its thread has ended: it may wait for a lock of the kernel. */
  close(): Promise<void> | undefined;
}

/** The watch of `native/binding/rtnetlink_binding.cc`. */
interface NativeRtnetlinkWatch extends NativeWatch {
  /** Selects kinds of objects: an array of `EVENT_KIND`. May be called before open(). Default: all. */
  select(kinds: Uint8Array): void;
}

/**
 * `native/binding/netlink_binding.cc`. Its operation records are messages: struct nlmsghdr in the machine's byte order,
 * payload, padding to 4 bytes. Sequence numbers and NLM_F_REQUEST are filled in.
 */
export interface NativeNetlinkClient extends NativeClient {
  /** Sends one message; the replies in the same form. */
  query(message: Uint8Array): Promise<Uint8Array>;
  /** Sends one message, which asks for a listing, and resolves to its first portion. Any other call ends the listing. */
  beginListing(message: Uint8Array): Promise<NativePortion>;
  /** The next portion. Rejects with ERR_INTERRUPTED when ten attempts have failed. */
  readListing(): Promise<NativePortion>;
  /** Copies whole messages that begin the next transaction, behind those of earlier calls. */
  gather(messages: Uint8Array): void;
  /** Forgets the gathered messages. */
  drop(): void;
  /**
   * Sends the gathered messages and these in one buffer: a transaction of netfilter, from NFNL_MSG_BATCH_BEGIN to NFNL_MSG_BATCH_END.
   * NLM_F_ACK is filled in, too. Resolves to a `TRANSACTION_ANSWER`; rejects when the transaction failed as a whole.
   */
  transact(messages: Uint8Array): Promise<Uint8Array>;
}

/** A part of a listing. */
export interface NativePortion {
  /** Whole messages: 1 MiB or, in the last one, less. */
  readonly messages: Uint8Array;
  /** Whether the listing has begun again, because it changed or replies were lost: earlier portions are old. */
  readonly restarted: boolean;
  /** Whether it is the last one. */
  readonly ended: boolean;
}

/** `native/binding/ipset_binding.cc`. */
export interface NativeIpsetClient extends NativeClient {
  list(): Promise<Uint8Array>;
  get(name: string): Promise<Uint8Array>;
  /** Takes one operation record; one byte: 1 when the set has the entry. */
  test(entry: Uint8Array): Promise<Uint8Array>;
  /** Type records. */
  types(): Promise<Uint8Array>;
  /** Two bytes: the least and the greatest version. */
  protocol(): Promise<Uint8Array>;
  /** Path of libipset in UTF-8; rejects with ERR_LIBRARY where it is missing. */
  library(): Promise<Uint8Array>;
}

/** How a program ended: `native/binding/process_binding.cc`. */
export interface NativeEnd {
  /** Exit status; 0 if a signal ended it. */
  readonly status: number;
  /** Number of the signal that ended it, or 0. */
  readonly signal: number;
  /** The limit that it exceeded, time (`late`) or output (`long`), so that it was ended; else empty. */
  readonly killed: '' | 'late' | 'long' | 'cancelled';
  /** Standard error. */
  readonly errors: string;
}

/** The end of a program, and its standard output. */
export interface NativeResult extends NativeEnd {
  readonly output: Buffer;
}

/** A piece of the output of a program; the last one also has its end. */
export interface NativePiece extends NativeEnd {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/** A program whose output is read piece by piece: `native/process/reading.h`. */
export interface NativeReading {
  /**
   * Waits for more than `size` bytes of output, or for the end of the program. The first call starts the program, in the network
   * namespace of the JavaScript thread. Rejects with ERR_CLOSED after the last piece.
   *
   * @param timeout of this call, in ms; the program is then ended
   * @param maxErrors as in {@link Addon.runProgram}, of standard error
   */
  read(size: number, timeout: number, maxErrors: number): Promise<NativePiece>;
  /** Ends the program with SIGKILL if it has not ended, and frees its descriptors. Later calls reject with ERR_CLOSED. */
  close(): Promise<void>;
}

/** The answer of a program to a part of its input; if it did not acknowledge the part, also its end. */
export interface NativeAnswer extends NativeResult {
  readonly acknowledged: boolean;
  /** Bytes of the input that were written to the program; 0 if it had ended before. */
  readonly written: number;
}

/** A program that runs for long: `native/process/session.h`. */
export interface NativeSession {
  /**
   * Writes a part of the input, and waits until the output has the text of the acknowledgement or the program has ended. The first
   * call starts the program, in the network namespace of the JavaScript thread. Rejects with ERR_CLOSED if the program ended in
   * an earlier call.
   *
   * @param input in pieces, which are not copied: nobody may change them until the promise has settled
   * @param timeout in ms; the program is then ended
   * @param maxOutput as in {@link Addon.runProgram}, for this call
   */
  exchange(
    input: readonly Uint8Array[],
    acknowledgement: string,
    timeout: number,
    maxOutput: number,
  ): Promise<NativeAnswer>;
  /** Closes the input of the program, and waits for its end; after `timeout` ms it is ended with SIGKILL. */
  close(timeout: number): Promise<void>;
}

/** The exports of the addon. */
export interface Addon {
  readonly IpvsClient: new () => NativeIpvsClient;
  /** `protocol`: `NETLINK_…`, a number; `strictChecking`: `NETLINK_GET_STRICT_CHK`. */
  readonly NetlinkClient: new (
    protocol: number,
    strictChecking: boolean,
  ) => NativeNetlinkClient;
  /** Its records are messages, as those of NetlinkClient; `groups`: numbers of multicast groups. */
  readonly NetlinkWatch: new (
    protocol: number,
    groups: readonly number[],
  ) => NativeWatch;
  readonly RtnetlinkClient: new () => NativeRtnetlinkClient;
  readonly RtnetlinkWatch: new () => NativeRtnetlinkWatch;
  readonly IpsetClient: new () => NativeIpsetClient;
  /**
   * Runs a program, which is looked up in the PATH of the environment, in the network namespace of the JavaScript thread.
   *
   * @param words program and arguments
   * @param environment `NAME=value`
   * @param input its standard input, in pieces, as in {@link NativeSession.exchange}
   * @param timeout in ms
   * @param maxOutput maximum of standard output, and of standard error, in bytes
   */
  runProgram(
    words: readonly string[],
    environment: readonly string[],
    input: readonly Uint8Array[],
    timeout: number,
    maxOutput: number,
  ): Promise<NativeResult>;
  /** Takes words and environment as {@link Addon.runProgram}. Throws a {@link NativeError} if there is no such program. */
  readonly ProgramSession: new (
    words: readonly string[],
    environment: readonly string[],
  ) => NativeSession;
  /** As `ProgramSession`. */
  readonly ProgramReading: new (
    words: readonly string[],
    environment: readonly string[],
  ) => NativeReading;
  /**
   * Reads a setting of a network namespace: a file of at most 64 bytes below `/proc/sys/net`. Rejects with a {@link NativeError}: `ENOENT`
   * where the kernel was built without it.
   */
  readSetting(netns: string | NativeNamespace, path: string): Promise<Uint8Array>;
  /** Creates a network namespace with that name in a folder: `native/netlink/named_namespace.h`. */
  addNamespace(folder: string, name: string): Promise<void>;
  /** Deletes the name of a network namespace in a folder. */
  deleteNamespace(folder: string, name: string): Promise<void>;
  /** Number of programs that the addon has started in this process, also from other threads. */
  startedPrograms(): number;
  /** The size of a page of memory, in bytes. */
  readonly pageSize: number;
}

let loaded: Addon | undefined;

/** The addon, which is loaded once. Throws an Error that says how to get it if it is not there or cannot be loaded. */
export function loadAddon(): Addon {
  loaded ??= loadAddonFile() as Addon;
  return loaded;
}
