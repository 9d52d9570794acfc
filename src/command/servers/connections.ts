// The open connections of an HTTP server. If there are too many, one of the client address with the most is closed, so
// that a new client is always served.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** An open connection. */
interface Connection {
  readonly socket: Socket;
  /** The client's address. */
  readonly source: string;
  /** Whether the connection is between two requests, sends one, or waits for a response. */
  state: 'idle' | 'reading' | 'responding';
}

/** The states in the order in which their connections are closed for others. */
const ORDER: readonly Connection['state'][] = ['idle', 'reading', 'responding'];

/** Limits the number of a server's open connections. */
export class Connections {
  readonly #most: number;
  /** Open connections, the oldest first. */
  readonly #open = new Map<Socket, Connection>();
  /** Number of open connections by client address. */
  readonly #counts = new Map<string, number>();

  /** @param most maximum number of open connections */
  constructor(server: Server, most: number) {
    this.#most = most;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#follow(incoming, outgoing),
    );
  }

  #add(socket: Socket): void {
    // Undefined: the client has disconnected already.
    const connection: Connection = { socket, source: socket.remoteAddress ?? '', state: 'reading' };
    this.#open.set(socket, connection);
    this.#counts.set(connection.source, (this.#counts.get(connection.source) ?? 0) + 1);
    socket.once('close', () => this.#remove(connection));
    if (this.#open.size > this.#most) {
      const victim = this.#victim(connection);
      this.#remove(victim);
      victim.socket.destroy();
    }
  }

  #remove({ socket, source }: Connection): void {
    if (!this.#open.delete(socket)) return;
    const left = (this.#counts.get(source) ?? 0) - 1;
    if (left > 0) this.#counts.set(source, left);
    else this.#counts.delete(source);
  }

  #follow(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const connection = this.#open.get(incoming.socket);
    if (!connection) return;
    // A request is announced before its body has arrived.
    const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
    const hasBody = encoding !== undefined || (length !== undefined && length !== '0');
    connection.state = hasBody ? 'reading' : 'responding';
    if (hasBody) {
      incoming.once('end', () => {
        if (!outgoing.closed) connection.state = 'responding';
      });
    }
    outgoing.once('close', () => {
      connection.state = 'idle';
    });
  }

  /**
   * The connection to close: of the addresses with the most connections, the oldest one that waits for its client. One
   * that waits for a response is closed only if there is no other.
   */
  #victim(newest: Connection): Connection {
    const others = [...this.#open.values()].filter((connection) => connection !== newest);
    const most = Math.max(...this.#counts.values());
    const crowded = others.filter(({ source }) => this.#counts.get(source) === most);
    for (const candidates of [crowded, others]) {
      for (const state of ORDER) {
        const found = candidates.find((connection) => connection.state === state);
        if (found && (found.state !== 'responding' || candidates === others)) return found;
      }
    }
    return newest;
  }
}
