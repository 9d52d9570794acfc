// Web servers that start and end as pods do: they serve through a grace period, ask their clients to disconnect, and end.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from '../../demo/namespaceProcess.js';

/** A request to the process of replicas; each address has a server of its own. */
export type ReplicaAsk =
  /** Begin to listen. */
  | { readonly do: 'serve'; readonly address: string; readonly port: number }
  /** Continue to serve, but close each connection with its next answer. */
  | { readonly do: 'retire'; readonly address: string }
  /** Once no client is connected, or after a time, in ms, stop listening, and close open connections. */
  | { readonly do: 'end'; readonly address: string; readonly patience: number };

/** Its answer: the number of open connections; at an end, of clients that lost theirs. */
export interface ReplicaSays {
  readonly open: number;
}

const PROCESS = fileURLToPath(new URL('./replicaProcess.js', import.meta.url));

/** The replicas of one namespace, each at an address of its own. */
export class Replicas {
  readonly #process: NamespaceProcess<ReplicaAsk, ReplicaSays>;

  private constructor(process: NamespaceProcess<ReplicaAsk, ReplicaSays>) {
    this.#process = process;
  }

  /** Starts their process; resolves when it is ready. */
  static async open(namespace: string): Promise<Replicas> {
    return new Replicas(await NamespaceProcess.open(namespace, PROCESS));
  }

  /** Resolves once the request is done. */
  ask(ask: ReplicaAsk): Promise<ReplicaSays> {
    return this.#process.ask(ask);
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
