// The addon of the benchmark: the limits of the kernel, in C++. A checkout builds it beside the addon of the library.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findPackageRoot } from '../src/kernel/packageRoot.js';
import type { NativeError } from '../src/kernel/shared/addon.js';

/** The cost of a piece of work. Times are in ns. */
export interface NativeCost {
  readonly wall: number;
  /** CPU time of all threads of the process. */
  readonly user: number;
  readonly system: number;
  /** CPU time of the children that ended. */
  readonly children: number;
  /** System calls of the process. */
  readonly systemCalls: number;
  /** Messages that were sent by netlink. */
  readonly messages: number;
  readonly processes: number;
}

/** Messages that a loop in C++ sends: `bench/native/messages.h`. Throws a {@link NativeError}. */
export interface NativePreparedMessages {
  /** Sends all of them once, on the JavaScript thread and in its network namespace. */
  send(): NativeCost;
}

/** Commands that a loop in C++ runs: `bench/native/commands.h`. Throws a {@link NativeError}. */
export interface NativePreparedCommands {
  /** Runs all of them once, in the network namespace of the JavaScript thread. */
  run(): NativeCost;
}

/** The exports of the addon: `bench/native/binding.cc`. */
export interface NativeBench {
  /**
   * `messages`: struct nlmsghdr, payload, padding to 4 bytes; `load`: messages in one buffer; `datagramSize`: bytes offered to
   * recv(2).
   */
  readonly PreparedMessages: new (
    protocol: number,
    messages: Uint8Array,
    load: number,
    datagramSize: number,
  ) => NativePreparedMessages;
  /** `messages`: whole transactions of netfilter: `bench/native/transactions.h`. */
  readonly PreparedTransactions: new (
    messages: Uint8Array,
  ) => NativePreparedMessages;
  /** `commands`: program and arguments; `input`: the standard input of each. */
  readonly PreparedCommands: new (
    commands: readonly (readonly string[])[],
    input: Uint8Array,
  ) => NativePreparedCommands;
  /** Entries of 8 bytes: IPv4 address, port in the machine's byte order, protocol (0: without port), 0. */
  addEntriesWithLibipset(set: string, entries: Uint8Array): NativeCost;
  /** Moves the JavaScript thread, and the processes that it starts, to a new network namespace. Needs CAP_SYS_ADMIN. */
  enterNewNetworkNamespace(): void;
}

let loaded: NativeBench | undefined;

/** The addon, which is loaded once. Throws an Error that says how to get it if it has not been built. */
export function loadBenchAddon(): NativeBench {
  const file = join(findPackageRoot() ?? '', 'build/Release/knp_bench.node');
  try {
    loaded ??= createRequire(import.meta.url)(file) as NativeBench;
    return loaded;
  } catch (cause) {
    throw new Error(`${file} cannot be loaded; build it with \`npm run task -- build:native\``, { cause });
  }
}
