// One connection: from a client on this host to an endpoint.
import { connect, type Socket } from 'node:net';
import type { Destination } from './endpointChoice.js';

/** Time limits of a connection, in ms. */
export interface RelayTimes {
  /** To connect to the endpoint; there is no second attempt. kube-proxy's is 5 s. */
  readonly dial: number;
  /** Without a byte in either direction. */
  readonly idle: number;
  /** The same once one side has ended its direction. */
  readonly halfClosed: number;
}

/** Time without data after which the kernel asks whether the peer is there, in ms, as in Go. */
const KEEP_ALIVE = 15_000;

/**
 * Connects a client with an endpoint, and passes on bytes in both directions. A side that reads slowly stops the other one from sending: no
 * more than two chunks wait in each direction. The end of one direction is passed on, and the other one continues. A reset of one side
 * resets the other.
 */
export class Relay {
  /** Monotonic time of the last byte, in ms. */
  lastByte: number;
  /** Called once when both sockets are closed, or are about to be; `error` says why the endpoint could not be reached. */
  ended: (error?: Error) => void = () => {};
  readonly #client: Socket;
  readonly #endpoint: Socket;
  readonly #times: RelayTimes;
  readonly #now: () => number;
  #dial: NodeJS.Timeout | undefined;
  #halfClosed = false;
  #closed = false;

  /**
   * @param client it is paused, and allows half-open connections
   */
  constructor(
    client: Socket,
    destination: Destination,
    parts: { readonly times: RelayTimes; readonly now: () => number },
  ) {
    this.#client = client;
    this.#times = parts.times;
    this.#now = parts.now;
    this.lastByte = parts.now();
    const { address: host, port } = destination;
    const endpoint = connect({ host, port, allowHalfOpen: true, autoSelectFamily: false });
    this.#endpoint = endpoint;
    this.#dial = setTimeout(() => {
      endpoint.destroy(new Error(`no connection to the endpoint within ${parts.times.dial} ms`));
    }, parts.times.dial);
    let failure: Error | undefined;
    endpoint.once('connect', () => {
      clearTimeout(this.#dial);
      this.#dial = undefined;
      if (!this.#closed) this.#start();
    });
    for (const [socket, other] of [
      [client, endpoint],
      [endpoint, client],
    ] as const) {
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE);
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (socket === endpoint && this.#dial !== undefined) failure = error;
        if (error.code === 'ECONNRESET') reset(other);
      });
      socket.once('close', () => {
        // A socket closes alone only after an error; otherwise, both directions have ended.
        if (!this.#isComplete(socket)) other.destroy();
        if (!client.destroyed || !endpoint.destroyed || this.#closed) return;
        this.#end();
        this.ended(failure);
      });
    }
  }

  /** Ends the connection at once. */
  close(): void {
    this.#client.destroy();
    this.#endpoint.destroy();
  }

  /** Whether no byte has passed for longer than the limit. */
  isIdle(now: number): boolean {
    const { idle, halfClosed } = this.#times;
    return now - this.lastByte > (this.#halfClosed ? Math.min(halfClosed, idle) : idle);
  }

  #end(): void {
    this.#closed = true;
    clearTimeout(this.#dial);
  }

  #start(): void {
    for (const [from, to] of [
      [this.#client, this.#endpoint],
      [this.#endpoint, this.#client],
    ] as const) {
      const moved = () => {
        this.lastByte = this.#now();
      };
      from.on('data', moved);
      // A slow reader makes progress too.
      to.on('drain', moved);
      from.once('end', () => {
        moved();
        this.#halfClosed = true;
      });
      // Pauses one side while the other does not read, and ends the other after this one.
      from.pipe(to);
    }
  }

  /** Whether both directions of a socket have ended in order. */
  #isComplete(socket: Socket): boolean {
    return socket.readableEnded && socket.writableFinished;
  }
}

/**
 * Closes a connection, with a reset unless its own end is on its way: libuv then refuses a reset (EINVAL), after which Node.js neither closes
 * the socket nor says so (v20.20).
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
