// Web servers that start and end like pods: they serve during a grace period, ask their clients to disconnect, and end.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from './namespaceProcess.js';

/** A request to the process of replicas; each address has its own server. */
export type ReplicaAsk =
  /** Start to listen. */
  | { readonly do: 'serve'; readonly address: string; readonly port: number }
  /** Continue to serve, but close each connection after its next response. */
  | { readonly do: 'retire'; readonly address: string }
  /** When no client is connected, or after a timeout, in ms: stop listening and close open connections. */
  | { readonly do: 'end'; readonly address: string; readonly patience: number };

/** The response: the number of open connections, or, at the end, of clients that lost their connection. */
export interface ReplicaSays {
  readonly open: number;
}

const PROCESS = fileURLToPath(new URL('./replicaProcess.js', import.meta.url));

/** The replicas of one namespace, each with its own address. */
export class Replicas {
  readonly #process: NamespaceProcess<ReplicaAsk, ReplicaSays>;

  private constructor(process: NamespaceProcess<ReplicaAsk, ReplicaSays>) {
    this.#process = process;
  }

  /** Starts their process; resolves when it is ready. */
  static async open(namespace: string): Promise<Replicas> {
    return new Replicas(await NamespaceProcess.open(namespace, PROCESS));
  }

  /** Resolves when the request is done. */
  ask(ask: ReplicaAsk): Promise<ReplicaSays> {
    return this.#process.ask(ask);
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
