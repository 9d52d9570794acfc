// Wires a source, the services layer, a mode and the reconciler into a proxy. Holds no rule of its own.
import { performance } from 'node:perf_hooks';
import type { Problem } from './errors.js';
import type { Rtnetlink } from './kernel/rtnetlink/types.js';
import type { KeyedOperation, Mode } from './modes/mode.js';
import type { ObjectChange } from './objects/types.js';
import { NodeState } from './reconcile/nodeState.js';
import { type Inputs, type PlannedOperation, Reconciler } from './reconcile/reconciler.js';
import { type Periods, Runner, type RunnerEvents } from './reconcile/runner.js';
import { type SyncSummary, together } from './reconcile/summary.js';
import { Catalogue } from './services/catalogue.js';
import type { AssignedAddress, HostChange, ServiceFrontends } from './services/types.js';
import type { Source } from './source/source.js';

/** What a proxy tells while it runs. */
export interface ProxyEvents {
  /** The source told of changes; a pass is going to take them in. */
  changed?(changes: readonly ObjectChange[]): void;
  /** A pass is wanted. */
  queued?(): void;
  /** A pass takes in all that was told up to now; what comes from now on waits for the next. */
  taken?(): void;
  /** A Service was looked at in a pass: what it means now, or undefined when it is gone. */
  planned?(service: string, frontends: ServiceFrontends | undefined): void;
  /** A pass ended. `latency`: ms since the oldest change that it took in was told by the source. */
  synced(summary: SyncSummary, latency: number): void;
  /** Names of what the source cannot read, whenever they change; none once it can read everything. */
  incomplete?(unread: readonly string[]): void;
  /** Objects, or parts of them, that are left out; each problem once for as long as it stands. */
  problems(problems: readonly Problem[]): void;
  /** Problems that stand no more. */
  mended?(problems: readonly Problem[]): void;
  /** The kernel could not be read. */
  failed(error: unknown): void;
  /** A retry is due in so many ms. */
  retrying(milliseconds: number): void;
}

/** What a proxy is made of. */
export interface ProxyParts<Item, Operation extends KeyedOperation> {
  readonly source: Source;
  readonly mode: Mode<Item, Operation>;
  readonly rtnetlink: Pick<Rtnetlink, 'listAddresses'>;
  /** Calls back whenever links or addresses of the host changed. */
  readonly watchHost: (changed: (change: HostChange) => void) => Promise<{ close(): void }>;
  /** Name of this node, as endpoints name it. */
  readonly nodeName: string;
  /** `bindAddress`: where it is a specific address, it is this node's own. Canonical; default `0.0.0.0`. */
  readonly bindAddress?: string;
  readonly periods: Periods;
  readonly events: ProxyEvents;
}

/** A running proxy. */
export interface ServiceProxy {
  /** Reads the source and programs the kernel, then follows changes until stopped. Rejects when the source cannot be read. */
  start(): Promise<void>;
  /** Reads the source and makes one full pass. */
  once(): Promise<SyncSummary>;
  /** Reads the source and resolves to the operations of a full pass, in order; changes nothing. */
  plan(): Promise<PlannedOperation[]>;
  /** Ends the pass under way and makes no other; the kernel's state stays. */
  stop(): Promise<void>;
}

/** Makes a proxy of its parts; nothing happens before it is started. */
export function createProxy<Item, Operation extends KeyedOperation>(
  parts: ProxyParts<Item, Operation>,
): ServiceProxy {
  return new RunningProxy(parts);
}

/** Watches and passes of one proxy. */
class RunningProxy<Item, Operation extends KeyedOperation> implements ServiceProxy {
  readonly #parts: ProxyParts<Item, Operation>;
  readonly #catalogue = new Catalogue();
  readonly #node: NodeState;
  readonly #reconciler: Reconciler<Item, Operation>;
  readonly #runner: Runner;
  #watch: { close(): void } | undefined;
  #synced = false;
  /** When the source reported the oldest change that no pass has taken in, and the oldest that one is busy with, in ms. */
  #oldest: number | undefined;
  #underWay: number | undefined;
  /** Changes of the host are taken in one after another. */
  #hostChanges: Promise<void> = Promise.resolve();

  constructor(parts: ProxyParts<Item, Operation>) {
    this.#parts = parts;
    const { mode, nodeName, bindAddress, periods } = parts;
    this.#node = new NodeState(mode, nodeName, bindAddress);
    this.#reconciler = new Reconciler(mode, this.#inputs(), now);
    const timers = { set: setTimeout, clear: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) };
    this.#runner = new Runner(this.#reconciler, this.#runnerEvents(), timers, periods);
  }

  async start(): Promise<void> {
    const { watchHost, events } = this.#parts;
    this.#watch = await watchHost((change) => {
      this.#hostChanges = this.#hostChanges
        .then(() => this.#hostChanged(change))
        .catch((error) => {
          events.failed(error);
          // It lists the host's addresses, and is tried again until that succeeds.
          this.#reconciler.requestFullSync();
          this.#request();
        });
    });
    await this.#begin(() => {
      this.#synced = true;
      this.#request();
    });
  }

  async once(): Promise<SyncSummary> {
    await this.#begin(() => {});
    const first = await this.#reconciler.sync();
    // Addresses that the first pass bound may be among those that node ports stand on.
    await this.#readHost();
    return this.#reconciler.pending ? together(first, await this.#reconciler.sync()) : first;
  }

  async plan(): Promise<PlannedOperation[]> {
    await this.#begin(() => {});
    return this.#reconciler.preview();
  }

  async stop(): Promise<void> {
    this.#watch?.close();
    this.#parts.source.stop();
    await this.#runner.stop();
    await this.#hostChanges;
  }

  #begin(synced: () => void): Promise<void> {
    const { source, events } = this.#parts;
    return source.start({
      changed: (changes) => {
        this.#take(changes);
        this.#request();
      },
      synced,
      incomplete: (unread) => this.#incomplete(unread),
      problems: (problems) => events.problems(problems),
      mended: (problems) => events.mended?.(problems),
    });
  }

  /** Nothing is removed from the kernel before the source has reported everything there is. */
  #request(): void {
    if (!this.#synced) return;
    this.#parts.events.queued?.();
    this.#runner.request();
  }

  #take(changes: readonly ObjectChange[]): void {
    this.#oldest ??= now();
    this.#parts.events.changed?.(changes);
    for (const touched of changes.flatMap((change) => this.#catalogue.apply(change))) {
      if ('service' in touched) this.#reconciler.touch(touched.service);
      else this.#nodeChanged();
    }
  }

  /** The source keeps what it has read: only the kernel's state from before the start has no other record. */
  #incomplete(unread: readonly string[]): void {
    if (unread.length === 0) this.#reconciler.release();
    else if (!this.#synced) this.#reconciler.hold();
    this.#parts.events.incomplete?.(unread);
    this.#request();
  }

  #nodeChanged(): void {
    const { nodeName } = this.#parts;
    const { nodeIPs } = this.#node.facts;
    const others = this.#catalogue.addressesOfOthers(nodeName);
    this.#touch(this.#node.nodeChanged(this.#catalogue.node(nodeName), others));
    const now = this.#node.facts.nodeIPs;
    // Which addresses of the host matter may follow from the node's own: the next pass lists them anew.
    if (nodeIPs[4] !== now[4] || nodeIPs[6] !== now[6]) this.#reconciler.requestFullSync();
  }

  /** Passes change addresses too: these changes are compared with what is known after the pass. */
  async #hostChanged(change: HostChange): Promise<void> {
    await this.#runner.idle();
    if (change.lost || this.#reconciler.isDisturbedBy(change)) {
      this.#reconciler.hostAddressesChanged(await this.#readHost());
    } else {
      this.#touch(this.#node.hostChanged(change));
    }
    if (this.#reconciler.pending) this.#request();
  }

  async #readHost(): Promise<AssignedAddress[]> {
    const listed = await this.#parts.rtnetlink.listAddresses();
    const addresses = listed.map(({ link, address, prefix }) => ({ link, address, prefix }));
    this.#touch(this.#node.hostListed(addresses));
    return addresses;
  }

  #touch(services: Iterable<string>): void {
    for (const service of services) this.#reconciler.touch(service);
  }

  #inputs(): Inputs {
    return {
      serviceNames: () => this.#catalogue.serviceNames(),
      frontends: (service) => {
        const frontends = this.#catalogue.frontends(service, this.#node.facts);
        this.#node.planned(service, frontends);
        this.#parts.events.planned?.(service, frontends);
        return frontends;
      },
      node: () => this.#node.facts,
      taken: () => {
        this.#underWay ??= this.#oldest;
        this.#oldest = undefined;
        this.#parts.events.taken?.();
      },
      refresh: async () => {
        await this.#readHost();
      },
    };
  }

  #runnerEvents(): RunnerEvents {
    const { events } = this.#parts;
    return {
      synced: (summary) => {
        events.synced(summary, now() - (this.#underWay ?? now()));
        this.#underWay = undefined;
      },
      failed: (error) => events.failed(error),
      retrying: (milliseconds) => events.retrying(milliseconds),
    };
  }
}

function now(): number {
  return performance.now();
}
