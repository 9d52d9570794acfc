// The endpoint of the test's Service, and a connection to it that stays open.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { closeAfter } from '../support/closeAfter.js';
import { NODE_IP } from './testNode.js';

/** Serves at the node IP, port 8080, during the tests of the file; never closes a connection. */
export async function serveEndpoint(): Promise<void> {
  const server: Server = createServer((_, response) => response.end('the pod'));
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(8080, NODE_IP, resolve));
  closeAfter({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
}

/** One TCP connection for several requests. */
export class Connection {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(address: string): Promise<Connection> {
    const socket = connect(80, address);
    await once(socket, 'connect');
    return closeAfter(new Connection(socket));
  }

  /** Sends a request; resolves to the last line of the response. Rejects after a reset, or after 10 s. */
  async ask(): Promise<string> {
    this.#socket.write('GET / HTTP/1.1\r\nHost: web\r\n\r\n');
    const [answer] = (await once(this.#socket, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
    return String(answer).split('\r\n').at(-1) ?? '';
  }

  close(): void {
    this.#socket.destroy();
  }
}
