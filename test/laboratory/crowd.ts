// Many parallel HTTP clients in one namespace, which record every failed request.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from './namespaceProcess.js';

/** The server, and the number of clients. */
export interface CrowdOrders {
  readonly address: string;
  readonly port: number;
  /** Number of clients that keep their connection for the next request. */
  readonly keepAlive: number;
  /** Number of requests after which such a client opens a new connection; by default it never does. */
  readonly perConnection?: number;
  /** The least pause of a client after a request, in ms; by default it has only one that grows with the time of the request. */
  readonly pause?: number;
  /** Time limit of a request, in ms; by default as long as a test waits. */
  readonly patience?: number;
  /** Number of clients that open a connection for each request. */
  readonly short: number;
}

/** Outcomes of all requests. */
export interface CrowdReport {
  readonly requests: number;
  /** A sentence for each failed request. */
  readonly failures: readonly string[];
  /** Number of responses by server. */
  readonly answers: Readonly<Record<string, number>>;
}

/** Commands: start the clients; report the outcomes so far; end the clients and report the outcomes. */
export type CrowdAsk = CrowdOrders | 'report' | 'stop';

const PROCESS = fileURLToPath(new URL('./crowdProcess.js', import.meta.url));

/** A crowd of clients. */
export class Crowd {
  readonly #process: NamespaceProcess<CrowdAsk, CrowdReport | undefined>;

  private constructor(process: NamespaceProcess<CrowdAsk, CrowdReport | undefined>) {
    this.#process = process;
  }

  /** Starts its process; resolves when it is ready. */
  static async open(namespace: string): Promise<Crowd> {
    return new Crowd(await NamespaceProcess.open(namespace, PROCESS));
  }

  /** Starts to send requests; resolves when every client has its first response. */
  async start(orders: CrowdOrders): Promise<void> {
    await this.#process.ask(orders);
  }

  /** Outcomes of the requests so far. */
  async report(): Promise<CrowdReport> {
    return (await this.#process.ask('report')) as CrowdReport;
  }

  /** Waits for the current requests, and returns the outcomes of all. */
  async stop(): Promise<CrowdReport> {
    return (await this.#process.ask('stop')) as CrowdReport;
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
