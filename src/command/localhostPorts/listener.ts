// The listener of one node port on localhost, with its connections.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Family } from '../../kernel/net/address.js';
import { type Chance, EndpointChoice, type Target } from './endpointChoice.js';
import { Relay, type RelayTimes } from './relay.js';

/** The address on which node ports are served in each family; no other loopback address is. */
const LOCALHOST: Readonly<Record<Family, string>> = { 4: '127.0.0.1', 6: '::1' };

/** A node port. */
export interface NodePort {
  readonly family: Family;
  readonly port: number;
}

/** What a listener needs. */
interface ListenerParts extends Chance {
  readonly times: RelayTimes;
  /** The number of connections changed: one more, or one less. Called before one more is accepted. */
  counted(change: 1 | -1): void;
  /** A connection to an endpoint failed, or the listener cannot accept connections. */
  failed(port: NodePort, error: Error): void;
}

/** A listener that is open. */
export class PortListener {
  readonly #relays = new Set<Relay>();
  readonly #server: Server;
  readonly #choice: EndpointChoice;
  readonly #parts: ListenerParts;

  private constructor(server: Server, choice: EndpointChoice, parts: ListenerParts) {
    this.#server = server;
    this.#choice = choice;
    this.#parts = parts;
  }

  /** Opens a listener. Rejects with the error of bind(2) or listen(2). */
  static async open(nodePort: NodePort, target: Target, parts: ListenerParts): Promise<PortListener> {
    const { family, port } = nodePort;
    const choice = new EndpointChoice(target, parts);
    // A client sends to the socket until the endpoint is connected; nothing is read before.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const listener = new PortListener(server, choice, parts);
    server.on('connection', (client) => listener.#accept(client, nodePort));
    server.listen({ host: LOCALHOST[family], port, ipv6Only: family === 6, exclusive: true });
    await once(server, 'listening');
    server.on('error', (error) => parts.failed(nodePort, error));
    return listener;
  }

  /** The port; another one than that of the node port only if that was 0. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Other endpoints for new connections. Open ones stay. */
  update(target: Target): void {
    this.#choice.update(target);
  }

  /** Number of its connections. */
  get connections(): number {
    return this.#relays.size;
  }

  /** Closes the connection in which no byte has passed for longest. */
  closeIdlest(): void {
    let idlest: Relay | undefined;
    for (const relay of this.#relays) if (!idlest || relay.lastByte < idlest.lastByte) idlest = relay;
    if (idlest) this.#end(idlest);
  }

  /** Closes the connections in which no byte has passed for longer than the limit. */
  closeIdle(now: number): void {
    for (const relay of this.#relays) if (relay.isIdle(now)) this.#end(relay);
  }

  /** Closes the listener and its connections. */
  close(): void {
    this.#server.close();
    for (const relay of this.#relays) this.#end(relay);
  }

  #accept(client: Socket, nodePort: NodePort): void {
    const { times, now, counted, failed } = this.#parts;
    counted(1);
    const relay = new Relay(client, this.#choice.next(), { times, now });
    this.#relays.add(relay);
    relay.ended = (error) => {
      this.#forget(relay);
      if (error) failed(nodePort, error);
    };
  }

  /** Its sockets close in a later turn of the event loop: it does not count any more. */
  #end(relay: Relay): void {
    this.#forget(relay);
    relay.close();
  }

  #forget(relay: Relay): void {
    if (this.#relays.delete(relay)) this.#parts.counted(-1);
  }
}
