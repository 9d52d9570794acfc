// The proxy on a kernel, with objects from memory: reports changes to it, and measures the passes that follow.
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import {
  createIpvsMode,
  createProxy,
  IPVS_DEFAULTS,
  type IpvsKernel,
  type ServiceProxy,
  type SyncSummary,
} from '../index.js';
import type { Iptables } from '../kernel/iptables/types.js';
import type { Batch, BatchSource } from '../kernel/types.js';
import type { ObjectChange } from '../objects/types.js';
import type { SourceEvents } from '../source/source.js';
import { NODE_NAME, VITAL_ADDRESSES } from './cluster.js';
import { type Cost, Meter } from './cost.js';
import type { Restore } from './phases.js';
import { processesOfRestore } from './restorePrograms.js';

/** The kernel of a proxy. */
export interface ProxyKernel extends IpvsKernel {
  readonly conntrack?: NonNullable<Parameters<typeof createProxy>[0]['conntrack']>;
}

/** A pass that was measured: from the source's report to its end. */
export interface MeasuredPass {
  readonly cost: Cost;
  readonly operations: number;
  /** Longest time for which the event loop was blocked, in ms. */
  readonly longestBlock: number;
  /** Time until the vital Services were complete in the kernel, in ms. Undefined if the pass did not add them. */
  readonly firstService: number | undefined;
}

/** Time limit of a pass, in ms. */
const LIMIT = 600_000;
/** No audit starts by itself: 24 hours, in ms. */
const NEVER = 24 * 3600_000;
/** Resolution of the measurement of the event loop, in ms. */
const RESOLUTION = 1;

/** A proxy under way. */
export class ProxyRun {
  /** What it restored, in order. */
  readonly restores: Restore[] = [];
  readonly #proxy: ServiceProxy;
  readonly #counter: BatchCounter;
  /** When an audit began to read, in ms. */
  #auditBegan: number | undefined;
  #source: SourceEvents | undefined;
  #ended: (result: SyncSummary | Error) => void = () => {};

  /** @param audit time without changes after which an audit starts, in ms; default never */
  constructor(kernel: ProxyKernel, audit = NEVER) {
    const { conntrack, watchHost = async () => ({ close() {} }) } = kernel;
    this.#counter = new BatchCounter(kernel);
    const mode = createIpvsMode(
      { ...kernel, iptables: this.#counter.counting(kernel.iptables, this.restores) },
      {
        ...IPVS_DEFAULTS,
        families: existsSync('/proc/self/net/if_inet6') ? [4, 6] : [4],
        kernelRelease: release(),
        auditPeriod: audit,
      },
    );
    const observe = () => {
      this.#auditBegan = performance.now();
      return mode.observe();
    };
    this.#proxy = createProxy({
      source: {
        start: async (events) => {
          this.#source = events;
        },
        stop() {},
      },
      mode: { ...mode, observe },
      rtnetlink: kernel.rtnetlink,
      ...(conntrack && { conntrack }),
      watchHost,
      nodeName: NODE_NAME,
      events: {
        synced: (summary) => this.#ended(failureOf(summary) ?? summary),
        problems: ([problem]) =>
          this.#ended(new Error(`the benchmark's own object: ${JSON.stringify(problem)}`)),
        failed: (error) => this.#ended(error as Error),
        retrying() {},
      },
    });
  }

  /** Starts the proxy with all objects, and waits for the end of the full pass. */
  async begin(objects: readonly ObjectChange[]): Promise<MeasuredPass> {
    await this.#proxy.start();
    return this.#measure((source) => {
      source.changed(objects);
      source.synced();
    });
  }

  /** Reports changes, and waits for the end of the pass. */
  report(changes: readonly ObjectChange[]): Promise<MeasuredPass> {
    return this.#measure((source) => source.changed(changes));
  }

  /** Waits for the end of the next audit; its time is from the begin of its reading. */
  async audit(): Promise<MeasuredPass> {
    const pass = await this.#measure(() => {});
    return { ...pass, cost: { ...pass.cost, wall: performance.now() - (this.#auditBegan ?? 0) } };
  }

  /** Stops the proxy; the kernel stays as it is. */
  async stop(): Promise<void> {
    await this.#proxy.stop();
    this.#counter.close();
  }

  async #measure(report: (source: SourceEvents) => void): Promise<MeasuredPass> {
    if (!this.#source) throw new Error('the proxy has not started its source');
    const ended = this.#nextPass();
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
    // The histogram measures from one timer to the next: the first one must have run.
    delay.enable();
    await new Promise((resolve) => setTimeout(resolve, 4 * RESOLUTION));
    delay.reset();
    this.#counter.begin();
    const meter = new Meter();
    report(this.#source);
    const summary = await ended;
    const cost = meter.stop(this.#counter.processes);
    await new Promise((resolve) => setTimeout(resolve, 2 * RESOLUTION));
    delay.disable();
    return {
      cost: { ...cost, messages: this.#counter.operations },
      operations: summary.operations,
      longestBlock: Math.max(0, delay.max / 1e6 - RESOLUTION),
      firstService: this.#counter.firstService,
    };
  }

  #nextPass(): Promise<SyncSummary> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#ended(new Error(`no end of a pass after ${LIMIT} ms`)), LIMIT);
      this.#ended = (result) => {
        clearTimeout(timer);
        this.#ended = () => {};
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
    });
  }
}

function failureOf({ failures: [failure] }: SyncSummary): Error | undefined {
  return failure && new Error(`${failure.key}: ${failure.error.message}`, { cause: failure.error });
}

/** Counts the operations and processes of a pass, and notices when the vital Services are complete. */
class BatchCounter {
  operations = 0;
  processes = 0;
  readonly #parts: BatchSource<unknown>[];
  #began = 0;
  /** Addresses of vital Services that have not been added. An address is added after everything else of its Service. */
  readonly #missing = new Set<string>();
  #firstService: number | undefined;

  constructor(kernel: ProxyKernel) {
    const { ipvs, ipset, rtnetlink, conntrack } = kernel;
    this.#parts = [ipvs, ipset, rtnetlink, conntrack].filter(
      (part) => part !== undefined,
    ) as BatchSource<unknown>[];
    for (const part of this.#parts) part.onBatch = (batch) => this.#count(batch);
  }

  begin(): void {
    this.operations = 0;
    this.processes = 0;
    for (const address of VITAL_ADDRESSES) this.#missing.add(address);
    this.#firstService = undefined;
    this.#began = performance.now();
  }

  /** Time until the vital Services were complete, in ms; undefined if they were not added. */
  get firstService(): number | undefined {
    return this.#firstService;
  }

  /** iptables with each process counted, and each restore recorded. */
  counting(iptables: Iptables, restores: Restore[]): Iptables {
    return {
      save: (family) => {
        this.processes++;
        return iptables.save(family);
      },
      saveTables: (family) => {
        this.processes++;
        return iptables.saveTables(family);
      },
      listRules: (family, table, chain) => {
        this.processes++;
        return iptables.listRules(family, table, chain);
      },
      restore: (family, operations) => {
        this.processes += processesOfRestore(iptables, family);
        restores.push({ family, operations });
        return iptables.restore(family, operations);
      },
    };
  }

  close(): void {
    for (const part of this.#parts) part.onBatch = undefined;
  }

  #count({ operations, results }: Batch<unknown>): void {
    this.operations += operations.length;
    // The vital Services are the first, and the operations are many: nothing else is looked at.
    if (this.#missing.size === 0) return;
    for (const [i, operation] of operations.entries()) {
      const { address } = operation as { readonly address?: { readonly address?: string } };
      if (address?.address !== undefined && !results[i]) this.#missing.delete(address.address);
    }
    if (this.#missing.size === 0) this.#firstService = performance.now() - this.#began;
  }
}

/** A kernel that accepts every operation and has nothing: what remains is the proxy's own part. */
export function emptyKernel(): ProxyKernel {
  const accept = async (operations: readonly unknown[]) =>
    new Array<undefined>(operations.length).fill(undefined);
  return {
    ipvs: {
      listServices: async () => [],
      listRealServers: async (services) => services.map(() => []),
      get: async () => undefined,
      apply: accept,
      timeouts: async () => ({ tcp: 0, tcpFin: 0, udp: 0 }),
      setTimeouts: async () => {},
    },
    ipset: { list: async () => [], get: async () => undefined, apply: accept },
    rtnetlink: {
      getLink: async () => undefined,
      listLinks: async () => [],
      listAddresses: async () => [],
      apply: accept,
    },
    iptables: {
      save: async () => new Map(),
      saveTables: async () => ({ rules: new Map(), policies: new Map() }),
      listRules: async () => [],
      restore: async (_family, operations) => operations.map(() => undefined),
    },
    sysctl: { read: async () => undefined, write: async () => {} },
    procNet: { routes: async () => [], listeningSockets: async () => [] },
  };
}
