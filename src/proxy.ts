// Wires a source, the services layer, a mode and the reconciler into a proxy. Holds no rule of its own.
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import type { Problem } from './errors.js';
import type { Rtnetlink } from './kernel/rtnetlink/types.js';
import type { KeyedOperation, Mode } from './modes/mode.js';
import type { ObjectChange } from './objects/types.js';
import { Reconciler, type SyncSummary } from './reconcile/reconciler.js';
import { type Periods, Runner } from './reconcile/runner.js';
import { Catalogue } from './services/catalogue.js';
import { nodeFacts } from './services/nodeFacts.js';
import type { HostAddress, ServiceFrontends } from './services/types.js';
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
  /** Objects, or parts of them, that were left out. */
  problems(problems: readonly Problem[]): void;
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
  /** Calls back whenever links or addresses of the host may have changed. */
  readonly watchHost: (changed: () => void) => Promise<{ close(): void }>;
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
  /** Reads the source and tells what a full pass would do, a line each; changes nothing. */
  plan(): Promise<string[]>;
  /** Ends the pass under way and makes no other; the kernel's state stays. */
  stop(): Promise<void>;
}

/** Makes a proxy of its parts; nothing happens before it is started. */
export function createProxy<Item, Operation extends KeyedOperation>(
  parts: ProxyParts<Item, Operation>,
): ServiceProxy {
  const catalogue = new Catalogue();
  const now = () => performance.now();
  let node = nodeFacts(parts.nodeName, undefined, [], new Set(), parts.bindAddress);
  /** When the source told of the oldest change that no pass has taken in, and of the oldest that one is busy with. */
  let oldest: number | undefined;
  let underWay: number | undefined;
  /** Takes in what is known of the node now; when that is something new, everything is planned again. */
  const lookAtNode = (hostAddresses: readonly HostAddress[]) => {
    const { nodeName, bindAddress } = parts;
    const others = catalogue.addressesOfOthers(nodeName);
    const facts = nodeFacts(nodeName, catalogue.node(nodeName), hostAddresses, others, bindAddress);
    if (isDeepStrictEqual(facts, node)) return;
    node = facts;
    reconciler.touchAll();
  };
  const readHost = async () => {
    const listed = await parts.rtnetlink.listAddresses();
    const addresses = listed.map(({ link, address }) => ({ link, address }));
    lookAtNode(parts.mode.relevantAddresses(addresses));
    return addresses;
  };
  const reconciler = new Reconciler(
    parts.mode,
    {
      serviceNames: () => catalogue.serviceNames(),
      frontends: (service) => {
        const frontends = catalogue.frontends(service, node);
        parts.events.planned?.(service, frontends);
        return frontends;
      },
      node: () => node,
      taken: () => {
        underWay ??= oldest;
        oldest = undefined;
        parts.events.taken?.();
      },
      refresh: async () => {
        await readHost();
      },
    },
    now,
  );
  const take = (changes: readonly ObjectChange[]) => {
    oldest ??= now();
    parts.events.changed?.(changes);
    for (const touched of changes.flatMap((change) => catalogue.apply(change))) {
      if ('service' in touched) reconciler.touch(touched.service);
      else lookAtNode(node.hostAddresses);
    }
  };
  const runner = new Runner(
    reconciler,
    {
      synced: (summary) => {
        parts.events.synced(summary, now() - (underWay ?? now()));
        underWay = undefined;
      },
      failed: (error) => parts.events.failed(error),
      retrying: (milliseconds) => parts.events.retrying(milliseconds),
    },
    { set: setTimeout, clear: (timer) => clearTimeout(timer as NodeJS.Timeout) },
    parts.periods,
  );
  const begin = (changed: () => void, allRead: () => void) =>
    parts.source.start({
      changed: (changes) => {
        take(changes);
        changed();
      },
      synced: allRead,
      incomplete: (unread) => {
        // Later on, the source keeps what it has read: only the kernel's state from before the start has no other record.
        if (unread.length === 0) reconciler.release();
        else if (!synced) reconciler.hold();
        parts.events.incomplete?.(unread);
        changed();
      },
      problems: (problems) => parts.events.problems(problems),
    });
  let watch: { close(): void } | undefined;
  let synced = false;
  const request = () => {
    if (!synced) return;
    parts.events.queued?.();
    runner.request();
  };
  /** A pass changes addresses itself: only when none is under way do they tell what others did. */
  const hostChanged = async () => {
    await runner.idle();
    reconciler.heed(await readHost());
    if (reconciler.pending) request();
  };
  return {
    async start() {
      watch = await parts.watchHost(() => {
        hostChanged().catch((error) => parts.events.failed(error));
      });
      await begin(request, () => {
        synced = true;
        request();
      });
    },
    async once() {
      await begin(
        () => {},
        () => {},
      );
      const first = await reconciler.sync();
      // Addresses that the first pass bound may be among those that node ports stand on.
      await readHost();
      return reconciler.pending ? together(first, await reconciler.sync()) : first;
    },
    async plan() {
      await begin(
        () => {},
        () => {},
      );
      return reconciler.preview();
    },
    async stop() {
      watch?.close();
      parts.source.stop();
      await runner.stop();
    },
  };
}

/** Two passes told as one. */
function together(first: SyncSummary, second: SyncSummary): SyncSummary {
  const phases = new Map(first.phases);
  for (const [phase, count] of second.phases) phases.set(phase, (phases.get(phase) ?? 0) + count);
  return {
    ...first,
    operations: first.operations + second.operations,
    repaired: first.repaired + second.repaired,
    phases,
    failures: [...first.failures, ...second.failures],
    milliseconds: {
      plan: first.milliseconds.plan + second.milliseconds.plan,
      kernel: first.milliseconds.kernel + second.milliseconds.kernel,
    },
  };
}
