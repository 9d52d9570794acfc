// Opens HTTP listeners as Go's net.Listen does, optionally with retries, and closes them with all their connections.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { Handler } from './handler.js';
import { RepeatedFailures } from './repeatedFailures.js';
import { createHttpServer, LIMITS, type Limits } from './serve.js';

/** Where to listen. */
export interface ListenAddress {
  /** Canonical. `0.0.0.0` and `::` mean every address of both families, if the kernel has IPv6, unless `only` is set. */
  readonly address: string;
  /** 0: the kernel chooses. */
  readonly port: number;
  /** Restricts `0.0.0.0` and `::` to the addresses of one family. */
  readonly only?: Family;
}

/** A listening socket. */
export interface Listener {
  /** The bound address: `::` if both families are served, and the port that the kernel chose. */
  readonly address: string;
  readonly port: number;
  /** Closes the socket and every connection, idle or not. */
  close(): Promise<void>;
}

/** Listens. Rejects with Node's error (`code` `EADDRINUSE`, `EADDRNOTAVAIL`, `EACCES` …) if the address cannot be bound. */
export async function listen(
  where: ListenAddress,
  handler: Handler,
  failed: (error: unknown) => void,
  limits: Limits = LIMITS,
): Promise<Listener> {
  const server = createHttpServer(handler, failed, limits);
  await bindFirst(server, hostsOf(where), where.port);
  server.on('error', failed);
  const { address, port } = server.address() as AddressInfo;
  return { address, port, close: () => close(server) };
}

/** How a server is opened. */
interface ServerOptions {
  readonly where: ListenAddress;
  readonly handler: Handler;
  /** Reject if the address cannot be bound, instead of retrying. */
  readonly hardFail: boolean;
  /**
   * Called when a handler throws. Also called when binding fails and is retried after `retryIn` ms: the first time, and
   * then every five minutes while the reason is the same.
   */
  readonly failed: (error: unknown, retryIn?: number) => void;
  /** Called when the server listens after a failure. */
  readonly recovered?: () => void;
  /** Time between two attempts to bind, in ms; default 5000, as in kube-proxy. */
  readonly retryIn?: number;
  /** Monotonic time, in ms; default performance.now(). */
  readonly now?: () => number;
}

/** A server that listens, or retries until it does. */
export interface HttpServer {
  /** Undefined while it does not listen. */
  readonly listener: Listener | undefined;
  close(): Promise<void>;
}

/** Opens a server. Resolves after the first attempt, whether it listens or not; rejects only with `hardFail`. */
export async function openServer(options: ServerOptions): Promise<HttpServer> {
  const { where, handler, hardFail, failed, recovered, retryIn = 5000, now } = options;
  const closed = new AbortController();
  const failures = new RepeatedFailures(now);
  let listener: Listener | undefined;
  const tryOnce = async () => {
    listener = await listen(where, handler, failed);
    if (failures.succeeded('bind')) recovered?.();
  };
  const refused = (error: unknown) => {
    if (failures.failed('bind', error)) failed(error, retryIn);
  };
  const keepTrying = async () => {
    while (!closed.signal.aborted && !listener) {
      await wait(retryIn, undefined, { signal: closed.signal }).catch(() => {});
      if (!closed.signal.aborted) await tryOnce().catch(refused);
    }
  };
  let retries: Promise<void> | undefined;
  try {
    await tryOnce();
  } catch (error) {
    if (hardFail) throw error;
    refused(error);
    retries = keepTrying();
  }
  return {
    get listener() {
      return listener;
    },
    async close() {
      closed.abort();
      await retries;
      await listener?.close();
    },
  };
}

/** The likely cause of a bind error, if there is one. */
export function bindHint(error: unknown): string | undefined {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return undefined;
  return 'another process uses the port: is kube-proxy still running on this node?';
}

interface Host {
  readonly host: string;
  readonly ipv6Only: boolean;
}

/** The sockets to try, in order. Without IPv6 in the kernel, only IPv4 is served. */
function hostsOf({ address, only }: ListenAddress): Host[] {
  const IPV4 = { host: '0.0.0.0', ipv6Only: false };
  if (address !== '0.0.0.0' && address !== '::') {
    return [{ host: address, ipv6Only: familyOf(address) === 6 }];
  }
  if (only === 4) return [IPV4];
  if (only === 6) return [{ host: '::', ipv6Only: true }];
  return [{ host: '::', ipv6Only: false }, IPV4];
}

async function bindFirst(server: Server, hosts: readonly Host[], port: number): Promise<void> {
  for (const [i, { host, ipv6Only }] of hosts.entries()) {
    try {
      server.listen({ host, ipv6Only, port, exclusive: true });
      await once(server, 'listening');
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const noIPv6 = code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL' || code === 'EINVAL';
      if (!noIPv6 || i === hosts.length - 1) throw error;
    }
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
