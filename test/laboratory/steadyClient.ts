// A client in a namespace that keeps connections open and sends over each of them at a steady rate.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from './namespaceProcess.js';

/** Opens a connection to a server of a LabHost, or a UDP socket, and begins to send. */
export interface SteadyOpen {
  readonly do: 'open';
  readonly name: string;
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
  /** Time between two requests, in ms. */
  readonly every: number;
}

/** A request to the process: an `open` is done when the first answer has come. */
export type SteadyAsk = SteadyOpen | { readonly do: 'report' };

/** The answers of a server. Times are those of Date.now(), in ms. */
export interface SteadyAnswers {
  readonly count: number;
  readonly first: number;
  readonly last: number;
  /** The longest time between two of them, in ms. */
  readonly gap: number;
}

/** What has happened to a connection. Times are those of Date.now(), in ms. */
export interface SteadyReport {
  /** By server. */
  readonly answers: Readonly<Record<string, SteadyAnswers>>;
  /** The error that ended it: `ECONNRESET`. */
  readonly error?: string;
  readonly errorAt?: number;
}

/** The reports of all connections by their names. */
export type SteadyReports = Readonly<Record<string, SteadyReport>>;

const PROCESS = fileURLToPath(new URL('./steadyClientProcess.js', import.meta.url));

/** A client with steady connections. */
export class SteadyClient {
  readonly #process: NamespaceProcess<SteadyAsk, SteadyReports>;

  private constructor(process: NamespaceProcess<SteadyAsk, SteadyReports>) {
    this.#process = process;
  }

  /** Starts its process; resolves when it is ready. */
  static async open(namespace: string): Promise<SteadyClient> {
    return new SteadyClient(await NamespaceProcess.open(namespace, PROCESS));
  }

  /** Opens a connection; resolves when the first answer has come. */
  async connect(connection: Omit<SteadyOpen, 'do'>): Promise<void> {
    await this.#process.ask({ do: 'open', ...connection });
  }

  report(): Promise<SteadyReports> {
    return this.#process.ask({ do: 'report' });
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
