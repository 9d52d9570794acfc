// The clients of one namespace: one process that dials many targets.
import { fileURLToPath } from 'node:url';
import { NamespaceProcess } from '../../laboratory/namespaceProcess.js';
import type { AffinityGroup, Target } from '../core/frontends.js';
import type { Observation } from '../core/observations.js';

/** A target as it is dialled. */
export interface DialledTarget {
  readonly target: Target;
  /** The source address of its client; undefined for the kernel's choice. */
  readonly from?: string;
  readonly group?: AffinityGroup | undefined;
}

/** What clients do. Times are in ms. */
export interface TrafficTimes {
  /** Between two new connections of a process. */
  readonly pause: number;
  /** Between two requests of a long connection or a stream. */
  readonly repeat: number;
  /** Limit of a request. */
  readonly patience: number;
}

/** To the process. Ids of connections begin at `first`. */
export type TrafficAsk =
  | { readonly do: 'start'; readonly times: TrafficTimes; readonly first: number }
  | { readonly do: 'dial'; readonly targets: readonly DialledTarget[] }
  | { readonly do: 'collect' };

/** What it saw since it was last asked, with times of the common clock. */
export interface TrafficReport {
  readonly observations: readonly Observation[];
  /** Requests that were left out because the process itself was late. */
  readonly late: number;
}

const PROCESS = fileURLToPath(new URL('./trafficProcess.js', import.meta.url));

/** The clients of a namespace. */
export class Traffic {
  readonly #process: NamespaceProcess<TrafficAsk, TrafficReport | undefined>;

  private constructor(process: NamespaceProcess<TrafficAsk, TrafficReport | undefined>) {
    this.#process = process;
  }

  /** Starts its process; it dials nothing yet. */
  static async open(namespace: string, times: TrafficTimes, first: number): Promise<Traffic> {
    const traffic = new Traffic(await NamespaceProcess.open(namespace, PROCESS));
    await traffic.#process.ask({ do: 'start', times, first });
    return traffic;
  }

  /** Dials these targets from now on, and no others. */
  async dial(targets: readonly DialledTarget[]): Promise<void> {
    await this.#process.ask({ do: 'dial', targets });
  }

  /** What the clients saw since the last call. */
  async collect(): Promise<TrafficReport> {
    return (await this.#process.ask({ do: 'collect' })) as TrafficReport;
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}
