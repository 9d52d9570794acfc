// Web servers that come and go as pods do: they serve through a grace period, ask their clients to part, and end.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from '../../demo/namespaceProcess.js';

/** What the process of replicas is asked to do; each address has a server of its own. */
export type ReplicaAsk =
  /** Begin to listen. */
  | { readonly do: 'serve'; readonly address: string; readonly port: number }
  /** Serve on, but close each connection with its next answer. */
  | { readonly do: 'retire'; readonly address: string }
  /** Once nobody is connected any more, or after so many ms, listen no more, and close what is open. */
  | { readonly do: 'end'; readonly address: string; readonly patience: number };

/** What it says: how many connections were open, which at an end is how many clients were let down. */
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

  /** Resolves once it is done. */
  ask(ask: ReplicaAsk): Promise<ReplicaSays> {
    return this.#process.ask(ask);
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
