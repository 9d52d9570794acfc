// The main thread's side of the health thread, which also relays the connections to node ports on localhost.
import { Worker } from 'node:worker_threads';
import type { Family } from '../../kernel/net/address.js';
import type {
  LocalhostPortEvents,
  LocalhostPortSettings,
  PlannedPorts,
} from '../localhostPorts/localhostPorts.js';
import type { ListenAddress } from '../servers/listen.js';
import { FamilyTimes } from './familyTimes.js';
import { ProbeCounts } from './probeCounts.js';
import { type HealthFacts, NO_FACTS, type RareFacts } from './proxyHealth.js';
import type { ServiceHealthCheck } from './serviceHealth.js';

/** The period at which the main thread shows that it moves, in ms. Long, so that a process at rest sleeps. */
const BEAT = 5000;

/** What the thread has at its start. */
export interface ThreadData {
  readonly timeout: number;
  readonly beat: number;
  /** The memory of {@link ProbeCounts}. */
  readonly probes: SharedArrayBuffer;
  /** The memory of {@link FamilyTimes}. */
  readonly times: SharedArrayBuffer;
}

/** A message to the thread. */
export type ToThread =
  | { readonly facts: RareFacts }
  | { readonly beat: true }
  | { readonly serve: { readonly where: ListenAddress; readonly hardFail: boolean } }
  | { readonly addresses: { readonly [family in Family]?: readonly string[] } }
  | { readonly checks: ReadonlyMap<string, ServiceHealthCheck | undefined> }
  | { readonly localhost: { readonly families: readonly Family[]; readonly settings: LocalhostPortSettings } }
  | { readonly localhostPorts: PlannedPorts };

/** An error of the thread. */
export interface PlainError {
  readonly message: string;
  readonly code: string | undefined;
}

/** An event of node ports on localhost, whose error is plain. */
export type LocalhostEvent = {
  [Name in keyof LocalhostPortEvents]: {
    readonly localhost: Name;
    readonly about: PlainErrors<Parameters<LocalhostPortEvents[Name]>>;
  };
}[keyof LocalhostPortEvents];

type PlainErrors<Values> = {
  [Place in keyof Values]: Values[Place] extends Error ? PlainError : Values[Place];
};

/** A message of the thread: of the health server, of the port of a Service, or of node ports on localhost. */
export type FromThread =
  | LocalhostEvent
  | { readonly served: true }
  | { readonly refused: PlainError }
  | { readonly failed: PlainError; readonly retryIn: number | undefined }
  | { readonly recovered: true }
  | { readonly service: string; readonly port: number; readonly failed: PlainError }
  | { readonly service: string; readonly port: number; readonly recovered: true };

/** Options of the thread. */
export interface HealthThreadOptions {
  /** See `healthOf`. */
  readonly timeout: number;
  /** An address could not be bound, or a handler failed. `retryIn` is the time to the next attempt to bind, in ms. */
  readonly failed: (error: Error, retryIn: number | undefined) => void;
  /** The health server listens after a failure to bind. */
  readonly recovered: () => void;
  /** As in `ServiceHealthServers`. */
  readonly serviceFailed: (service: string, port: number, error: Error) => void;
  /** As in `ServiceHealthServers`. */
  readonly serviceRecovered: (service: string, port: number) => void;
  /** The thread runs. */
  readonly online?: () => void;
  /** The thread has ended before it was closed: nobody answers the probes. */
  readonly ended: (error: unknown) => void;
  /** The period at which this thread shows that it moves, in ms; default 5 s. The other one counts 7, which are more than 30 s. */
  readonly beat?: number;
}

/** A thread that serves health, readiness and liveness, the health-check ports of Services, and node ports on localhost. */
export class HealthThread {
  /** Numbers of its responses. */
  readonly probes = new ProbeCounts();
  readonly #worker: Worker;
  readonly #options: HealthThreadOptions;
  readonly #beats: NodeJS.Timeout;
  readonly #times = new FamilyTimes();
  /** The facts that the thread has or gets at the end of the current callback. */
  #facts: RareFacts = NO_FACTS;
  #factsChanged = false;
  /** Services with a health check. */
  readonly #checked = new Set<string>();
  /** Those whose port could not be bound, with the number of failures that have not ended. */
  readonly #unbound = new Map<string, number>();
  #served: { resolve(): void; reject(error: Error): void } | undefined;
  #localhost: LocalhostPortEvents | undefined;
  #closed = false;

  constructor(options: HealthThreadOptions) {
    const { timeout, beat = BEAT } = options;
    this.#options = options;
    const data: ThreadData = { timeout, beat, probes: this.probes.memory, times: this.#times.memory };
    this.#worker = new Worker(new URL('./thread.js', import.meta.url), {
      workerData: data,
      execArgv: [],
      name: 'health',
    });
    this.#worker.once('online', () => options.online?.());
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', (code) => this.#end(new Error(`its exit code is ${code}`)));
    this.#beats = setInterval(() => this.#post({ beat: true }), beat).unref();
  }

  /** Tells the thread new facts: the times at once, and the others once for all changes of a callback. */
  tell({ families, ...facts }: HealthFacts): void {
    this.#times.set(families);
    const names = Object.keys(facts) as (keyof RareFacts)[];
    if (names.every((name) => facts[name] === this.#facts[name])) return;
    this.#facts = facts;
    if (this.#factsChanged) return;
    this.#factsChanged = true;
    queueMicrotask(() => {
      this.#factsChanged = false;
      this.#post({ facts: this.#facts });
    });
  }

  /** Opens the health server. Resolves after the first attempt to bind; rejects only with `hardFail`. */
  serve(where: ListenAddress, hardFail: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#served = { resolve, reject };
      this.#post({ serve: { where, hardFail } });
    });
  }

  /** Health-check ports of Services are served on these addresses, by family; a family without a list on all. */
  serveServices(addresses: { readonly [family in Family]?: readonly string[] }): void {
    this.#post({ addresses });
  }

  /** Updates the health checks of Services as `ServiceHealthServers.update` does. */
  update(checks: ReadonlyMap<string, ServiceHealthCheck | undefined>): void {
    const changed = new Map<string, ServiceHealthCheck | undefined>();
    for (const [name, check] of checks) {
      // Most Services have none, and had none.
      if (check === undefined && !this.#checked.delete(name)) continue;
      if (check !== undefined) this.#checked.add(name);
      else this.#unbound.delete(name);
      changed.set(name, check);
    }
    // With each message, the thread tries to bind the ports again that it could not.
    if (changed.size > 0 || this.#unbound.size > 0) this.#post({ checks: changed });
  }

  /** Opens node ports on localhost as `LocalhostPorts` does; `close` does nothing, because they close with the thread. */
  openLocalhostPorts(
    families: readonly Family[],
    events: LocalhostPortEvents,
    settings: LocalhostPortSettings,
  ): { apply(planned: PlannedPorts): void; close(): Promise<void> } {
    this.#localhost = events;
    this.#post({ localhost: { families, settings } });
    return { apply: (localhostPorts) => this.#post({ localhostPorts }), close: async () => {} };
  }

  /** Ends the thread with all its listeners and connections. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#beats);
    await this.#worker.terminate();
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #take(message: FromThread): void {
    const { failed, recovered, serviceFailed, serviceRecovered } = this.#options;
    if ('localhost' in message) this.#tellLocalhost(message);
    else if ('served' in message) this.#served?.resolve();
    else if ('refused' in message) this.#served?.reject(errorOf(message.refused));
    else if ('service' in message) {
      const { service, port } = message;
      const failures = (this.#unbound.get(service) ?? 0) + ('failed' in message ? 1 : -1);
      if (failures > 0) this.#unbound.set(service, failures);
      else this.#unbound.delete(service);
      if ('failed' in message) serviceFailed(service, port, errorOf(message.failed));
      else serviceRecovered(service, port);
    } else if ('failed' in message) failed(errorOf(message.failed), message.retryIn);
    else recovered();
  }

  #tellLocalhost(event: LocalhostEvent): void {
    const events = this.#localhost;
    if (event.localhost === 'refused') events?.refused(event.about[0], errorOf(event.about[1]));
    else if (event.localhost === 'failed') events?.failed(event.about[0], errorOf(event.about[1]));
    else
      (events?.[event.localhost] as ((...about: readonly unknown[]) => void) | undefined)?.(...event.about);
  }

  #end(error: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#beats);
    this.#served?.reject(error as Error);
    this.#options.ended(error);
  }
}

function errorOf({ message, code }: PlainError): Error {
  return Object.assign(new Error(message), code !== undefined && { code });
}
