// The proxy on a kernel, with objects from memory: reports changes to it, and measures the passes that follow.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { createProxy, type ServiceProxy, type SyncSummary } from '../src/proxy/index.js';
import type { ObjectChange } from '../src/proxy/objects/types.js';
import type { SourceEvents } from '../src/proxy/source/source.js';
import { NODE_NAME } from './cluster.js';
import { type Cost, Meter } from './cost.js';
import { KernelWatch } from './kernelWatch.js';
import type { ModeMaker, ProxyKernel } from './modes.js';
import type { Restore } from './phases.js';

/** A pass that was measured: from the source's report to its end. */
export interface MeasuredPass {
  readonly cost: Cost;
  readonly operations: number;
  /** The restores of rules, in order. */
  readonly restores: readonly Restore[];
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
/** Waits before and after a measured pass, for that measurement. */
const [BEFORE, AFTER] = [4 * RESOLUTION, 2 * RESOLUTION];
/** Time between two measured passes, in ms. */
export const BETWEEN = AFTER + BEFORE;

/** A proxy under way. */
export class ProxyRun {
  readonly #proxy: ServiceProxy;
  readonly #watch: KernelWatch;
  /** When an audit began to read, in ms. */
  #auditBegan: number | undefined;
  #source: SourceEvents | undefined;
  #ended: (result: SyncSummary | Error) => void = () => {};

  /** @param audit time without changes after which an audit starts, in ms; default never */
  constructor(makeMode: ModeMaker, kernel: ProxyKernel, audit = NEVER) {
    const { conntrack, watchHost = async () => ({ close() {} }) } = kernel;
    this.#watch = new KernelWatch(kernel);
    const mode = makeMode({ ...kernel, iptables: this.#watch.iptables }, audit);
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

  /** What it has restored up to now, in order. */
  get restores(): readonly Restore[] {
    return [...this.#watch.restores];
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
    this.#watch.close();
  }

  async #measure(report: (source: SourceEvents) => void): Promise<MeasuredPass> {
    if (!this.#source) throw new Error('the proxy has not started its source');
    const ended = this.#nextPass();
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
    // The histogram measures from one timer to the next: the first one must have run.
    delay.enable();
    await new Promise((resolve) => setTimeout(resolve, BEFORE));
    delay.reset();
    const meter = new Meter();
    this.#watch.begin();
    report(this.#source);
    const summary = await ended;
    const cost = meter.stop();
    await new Promise((resolve) => setTimeout(resolve, AFTER));
    delay.disable();
    return {
      cost: { ...cost, messages: this.#watch.operations },
      operations: summary.operations,
      restores: this.#watch.restoresOfPass,
      longestBlock: Math.max(0, delay.max / 1e6 - RESOLUTION),
      firstService: this.#watch.firstService,
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
