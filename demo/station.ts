// A process in a network namespace that serves and dials for us.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from './namespaceProcess.js';

/** Serves on these ports, over HTTP and with single datagrams, until the station closes. */
export interface Serve {
  readonly do: 'serve';
  /** What it calls itself. */
  readonly name: string;
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}

/** Dials once; over a new connection, unless told otherwise. */
export interface Dial {
  readonly do: 'dial';
  readonly protocol: 'http' | 'udp';
  readonly address: string;
  readonly port: number;
  /** Source address, when it is not to be the kernel's choice. */
  readonly from?: string | undefined;
  /** Over the connection that the last such request left open, if it is open still; HTTP only. */
  readonly keep?: boolean | undefined;
  /** Longest time to wait, ms. */
  readonly patience: number;
}

/** What a server says. */
export interface Answer {
  /** Its name. */
  readonly by: string;
  /** The client's address as it sees it. */
  readonly sees: string;
  /** Whether the request went over a connection that an earlier one had left open. */
  readonly kept?: boolean;
}

/** What came of dialling: an answer, or `ECONNREFUSED` and the like, or `no answer`. */
export type Outcome = (Answer | { readonly error: string }) & { readonly milliseconds: number };

/** What a station is asked to do. */
export type Ask = Serve | Dial;

const PROCESS = fileURLToPath(new URL('./stationProcess.js', import.meta.url));
/** Ms to wait for an answer: long, since the VM may be busy and a lost packet is sent again after a second. */
const PATIENCE = 5000;

/** A server and dialler in a namespace. */
export class Station {
  readonly #process: NamespaceProcess<Ask, Outcome | undefined>;

  private constructor(process: NamespaceProcess<Ask, Outcome | undefined>) {
    this.#process = process;
  }

  /** Starts one; resolves when it is ready. */
  static async open(namespace: string): Promise<Station> {
    return new Station(await NamespaceProcess.open(namespace, PROCESS));
  }

  /** Serves on these ports, over HTTP on TCP's; resolves when it listens. */
  async serve(name: string, { tcp = [], udp = [] }: Partial<Pick<Serve, 'tcp' | 'udp'>>): Promise<void> {
    await this.#process.ask({ do: 'serve', name, tcp, udp });
  }

  /** Asks over HTTP; by a new connection, unless the options say otherwise. */
  dial(address: string, port: number, options: Partial<Dial> = {}): Promise<Outcome> {
    return this.#outcome('http', address, port, options);
  }

  /** Asks with one datagram, from a new socket. */
  dialUdp(address: string, port: number, options: Partial<Dial> = {}): Promise<Outcome> {
    return this.#outcome('udp', address, port, options);
  }

  /** Ends the process. */
  close(): Promise<void> {
    return this.#process.close();
  }

  async #outcome(
    protocol: Dial['protocol'],
    address: string,
    port: number,
    { from, keep, patience = PATIENCE }: Partial<Dial>,
  ): Promise<Outcome> {
    const outcome = await this.#process.ask({ do: 'dial', protocol, address, port, from, keep, patience });
    if (!outcome) throw new Error('a station did not say what came of dialling');
    return outcome;
  }
}
