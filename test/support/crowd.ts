// Many HTTP clients at once in one namespace, which record every request that fails.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from '../../demo/namespaceProcess.js';

/** The server, and the number of clients. */
export interface CrowdOrders {
  readonly address: string;
  readonly port: number;
  /** Clients that keep their connection for the next request. */
  readonly keepAlive: number;
  /** Clients that open a connection for each request. */
  readonly short: number;
}

/** Outcomes of all requests. */
export interface CrowdReport {
  readonly requests: number;
  /** A sentence for each request that failed. */
  readonly failures: readonly string[];
  /** Number of answers by server. */
  readonly answers: Readonly<Record<string, number>>;
}

/** Orders start the clients; then the outcomes so far are reported, or the clients end and the outcomes are reported. */
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

  /** Sends requests from now on; resolves once every client has had its first answer. */
  async start(orders: CrowdOrders): Promise<void> {
    await this.#process.ask(orders);
  }

  /** Outcomes of the requests so far. */
  async report(): Promise<CrowdReport> {
    return (await this.#process.ask('report')) as CrowdReport;
  }

  /** Waits for the requests under way; the outcomes of all. */
  async stop(): Promise<CrowdReport> {
    return (await this.#process.ask('stop')) as CrowdReport;
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
