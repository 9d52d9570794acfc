// A process in a network namespace that is a server and a client.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from './namespaceProcess.js';
import { PATIENCE } from './patience.js';

/** Serves HTTP and single datagrams on these ports until the host is closed. */
export interface Serve {
  readonly do: 'serve';
  /** Name of the server in its responses. */
  readonly name: string;
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}

/** An address on which a host serves. */
export interface Socket {
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
}

/** The same on these addresses. The name of each server in its responses is `address port`. */
interface ServeAt {
  readonly do: 'serveAt';
  readonly sockets: readonly Socket[];
}

/** Sends one request, by default over a new connection. */
export interface Dial {
  readonly do: 'dial';
  readonly protocol: 'http' | 'udp';
  readonly address: string;
  readonly port: number;
  /** Source address; default: the kernel's choice. */
  readonly from?: string | undefined;
  /** Reuse the connection of the last such request, if it is still open; only HTTP. */
  readonly keep?: boolean | undefined;
  /** Length of the request and, at least, of the response, in bytes; default: short ones. */
  readonly size?: number | undefined;
  /** Time limit, in ms; by default as long as a test waits. */
  readonly patience: number;
}

/** Ends the connection that `keep` has left open, with a reset. */
export interface Reset {
  readonly do: 'reset';
  readonly address: string;
  readonly port: number;
}

/** A response. */
export interface Answer {
  /** Name of the server. */
  readonly by: string;
  /** The client's address that the server sees. */
  readonly sees: string;
  /** Whether the request reused an open connection. */
  readonly kept?: boolean;
  /** Length of the response, in bytes, if the request had one. */
  readonly size?: number;
}

/** The outcome of a request: a response, an error code such as `ECONNREFUSED`, or `no answer`. */
export type Outcome = (Answer | { readonly error: string }) & { readonly milliseconds: number };

/** A request to a host. */
export type Ask = Serve | ServeAt | Dial | Reset;

const PROCESS = fileURLToPath(new URL('./labHostProcess.js', import.meta.url));
/** A host of the laboratory: a server and client in a namespace. */
export class LabHost {
  readonly #process: NamespaceProcess<Ask, Outcome | undefined>;

  private constructor(process: NamespaceProcess<Ask, Outcome | undefined>) {
    this.#process = process;
  }

  /** Starts one; resolves when it is ready. */
  static async open(namespace: string): Promise<LabHost> {
    return new LabHost(await NamespaceProcess.open(namespace, PROCESS));
  }

  /** Serves on these ports, HTTP on those of TCP; resolves when it listens. */
  async serve(name: string, { tcp = [], udp = [] }: Partial<Pick<Serve, 'tcp' | 'udp'>>): Promise<void> {
    await this.#process.ask({ do: 'serve', name, tcp, udp });
  }

  /** Serves at these addresses, HTTP on those of TCP; resolves when it listens. */
  async serveAt(sockets: readonly Socket[]): Promise<void> {
    await this.#process.ask({ do: 'serveAt', sockets });
  }

  /** Sends an HTTP request, by default over a new connection. */
  dial(address: string, port: number, options: Partial<Dial> = {}): Promise<Outcome> {
    return this.#outcome('http', address, port, options);
  }

  /** Sends one datagram from a new socket. */
  dialUdp(address: string, port: number, options: Partial<Dial> = {}): Promise<Outcome> {
    return this.#outcome('udp', address, port, options);
  }

  /** Ends the connection that `keep` has left open, with a reset. */
  async reset(address: string, port: number): Promise<void> {
    await this.#process.ask({ do: 'reset', address, port });
  }

  /** Ends the process. */
  close(): Promise<void> {
    return this.#process.close();
  }

  async #outcome(
    protocol: Dial['protocol'],
    address: string,
    port: number,
    { from, keep, size, patience = PATIENCE }: Partial<Dial>,
  ): Promise<Outcome> {
    const outcome = await this.#process.ask({
      do: 'dial',
      protocol,
      address,
      port,
      from,
      keep,
      size,
      patience,
    });
    if (!outcome) throw new Error('a host returned no outcome');
    return outcome;
  }
}
