// Connects a source, the services layer, a mode and the reconciler to a proxy. Holds no rule of its own.
import { performance } from 'node:perf_hooks';
import type { Conntrack, Flow } from '../kernel/conntrack/types.js';
import type { Problem } from '../kernel/errors.js';
import type { Rtnetlink } from '../kernel/rtnetlink/types.js';
import { checkArgument, object } from '../kernel/shapes.js';
import { TimeSlice } from '../kernel/timeSlice.js';
import { FlowCleaner } from './conntrack/flowCleaner.js';
import type { FrontendLookup } from './conntrack/frontendLookup.js';
import type { AddressRanges } from './input/addressRanges.js';
import type { FormerMode, KeyedOperation, Mode } from './modes/mode.js';
import type { ReachChange, ReachListener, ReachWatch } from './nodes/types.js';
import type { ObjectChange } from './objects/types.js';
import { PARTS } from './proxyShapes.js';
import { type FormerModeEvents, FormerModes } from './reconcile/formerModes.js';
import type { Inputs } from './reconcile/inputs.js';
import { NodeState } from './reconcile/nodeState.js';
import type { PlannedOperation } from './reconcile/plannedOperation.js';
import { Reconciler } from './reconcile/reconciler.js';
import { Runner, type RunnerEvents } from './reconcile/runner.js';
import { conflictsOf, excessOf } from './reconcile/serviceProblems.js';
import { isComplete, type SyncSummary, together } from './reconcile/summary.js';
import { frontendsOfInput, type NamedFrontend } from './services/namedFrontends.js';
import { hostLink } from './services/nodeFacts.js';
import { ServiceCache } from './services/serviceCache.js';
import type { SettingRules } from './services/settings/types.js';
import type { HostChange, ServicePlanInput } from './services/types.js';
import { OpenProblems } from './source/openProblems.js';
import type { Source } from './source/source.js';

/** Reports of a running proxy. */
export interface ProxyEvents extends FormerModeEvents {
  /** The source reported changes; the next pass programs them. */
  changed?(changes: readonly ObjectChange[]): void;
  /** A pass is wanted. */
  queued?(): void;
  /** A pass begins with all changes reported up to now; later ones wait for the next pass. */
  taken?(): void;
  /** A Service was planned in a pass, with this input; undefined when it was deleted. */
  planned?(service: string, input: ServicePlanInput | undefined): void;
  /** A Service that was planned asks for addresses that the options take from it, `externalIPs: false` included: each with the reason. */
  refused?(addresses: readonly Problem[]): void;
  /** A pass ended. `latency`: time since the source reported the oldest change of the pass, in ms; 0 without a change. */
  synced(summary: SyncSummary, latency: number): void;
  /** Names of what the source cannot read, whenever they change; none once it can read everything. */
  incomplete?(unread: readonly string[]): void;
  /** Objects, or parts of them, that are left out; each problem is reported once. */
  problems(problems: readonly Problem[]): void;
  /** Problems, as they were reported, that are gone. */
  mended?(problems: readonly Problem[]): void;
  /** A node does not answer any more, or answers again. `services`: number of Services with endpoints on it. */
  reachChanged?(change: ReachChange, services: number): void;
  /** So many other nodes have answered since the start: only these can be left. */
  reachJudged?(nodes: number): void;
  /** Whether nodes answer could not be found out. It is tried again. */
  reachFailed?(error: unknown): void;
  /** The kernel could not be read. */
  failed(error: unknown): void;
  /** A retry is due after this time, in ms. */
  retrying(milliseconds: number): void;
}

/** The parts of a proxy. */
export interface ProxyParts<Item, Operation extends KeyedOperation<Item>> {
  readonly source: Source;
  readonly mode: Mode<Item, Operation>;
  /** Other modes that may have run before: their items are removed once those of `mode` are in place. None by default. */
  readonly formerModes?: readonly FormerMode[];
  /** Maximum time for which connections keep the items of a former mode, in ms; default 15 minutes. */
  readonly drainBound?: number | undefined;
  readonly rtnetlink: Pick<Rtnetlink, 'listAddresses' | 'listLinks'>;
  /** Deletes stale UDP flows, and TCP flows to failed endpoints; without it they stay until they time out. */
  readonly conntrack?: Pick<Conntrack, 'list' | 'deleteFlows'> | undefined;
  /** Calls back when links or addresses of the host have changed. */
  readonly watchHost: (changed: (change: HostChange) => void) => Promise<{ close(): void }>;
  /**
   * Watches the other nodes that the source reports: ready endpoints on those that do not answer get no new connections, half of each
   * Service's at most. Default: nodes are not watched, as in kube-proxy.
   */
  readonly watchNodes?: ((listener: ReachListener) => Promise<ReachWatch>) | undefined;
  /** Name of this node, as endpoints name it. */
  readonly nodeName: string;
  /** `bindAddress`: where it is a specific address, it is this node's own. Canonical; default `0.0.0.0`. */
  readonly bindAddress?: string;
  /** Serve external IPs; default true. */
  readonly externalIPs?: boolean;
  /** The networks that external and load-balancer IPs must be in; others are not served, with a problem. Default: they may be any. */
  readonly addressRanges?: AddressRanges;
  /**
   * The settings that a Service may have by annotation, each with the reason why it has no effect in this mode; undefined: it has
   * one. Default: none.
   */
  readonly settingRules?: SettingRules;
  /** Time from the end of a pass to the start of the next, at least, in ms: `minSyncPeriod`; default 0. */
  readonly rest?: number;
  /**
   * Passes rest this many times as long as they take, and `rest` at most: with 4, they take a fifth of the time. A pause before a pass
   * counts as a rest. Default: the rest does not depend on the pass, as in kube-proxy.
   */
  readonly restFactor?: number | undefined;
  readonly events: ProxyEvents;
}

/** A running proxy. */
export interface ServiceProxy {
  /** Reads the source and programs the kernel, then follows changes until stopped. Rejects when the source cannot be read. */
  start(): Promise<void>;
  /** Reads the source and makes one full pass. */
  once(): Promise<SyncSummary>;
  /**
   * Reads the source and resolves to the operations of a full pass, then those that remove the state of former modes, in
   * order; changes nothing.
   */
  plan(): Promise<PlannedOperation[]>;
  /** The frontends of all Services as they are now known, with their names. Read in time slices. */
  frontends(): Promise<NamedFrontend[]>;
  /** Ends the pass under way and makes no other; the kernel's state stays. */
  stop(): Promise<void>;
}

const PARTS_GIVEN = object<ProxyParts<unknown, KeyedOperation>>(PARTS);

/** Makes a proxy of its parts; nothing happens before it is started. */
export function createProxy<Item, Operation extends KeyedOperation<Item>>(
  parts: ProxyParts<Item, Operation>,
): ServiceProxy {
  checkArgument('createProxy', 'parts', parts, PARTS_GIVEN);
  return new RunningProxy(parts);
}

/** Watches and passes of one proxy. */
class RunningProxy<Item, Operation extends KeyedOperation<Item>> implements ServiceProxy {
  readonly #parts: ProxyParts<Item, Operation>;
  readonly #cache: ServiceCache;
  readonly #node: NodeState;
  readonly #reconciler: Reconciler<Item, Operation>;
  readonly #runner: Runner;
  /** The problems of Services that only all objects together show. */
  readonly #problems: OpenProblems;
  #watches: { close(): void }[] = [];
  #reach: ReachWatch | undefined;
  /** The addresses of the nodes that are watched. */
  #watched: ReadonlySet<string> | undefined;
  readonly #unreachable = new Set<string>();
  readonly #formerModes: FormerModes;
  #synced = false;
  /**
   * Whether the plans of the last pass are those of all objects. Otherwise what a former mode left may be all that serves an unreadable
   * one: it stays.
   */
  #knowsAll = true;
  /** Whether the kernel had the whole desired state after the last full pass; undefined before one, and after one that was aborted. */
  #complete: boolean | undefined;
  /** The next attempt to remove what former modes left. */
  #formerTimer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** Time of the first full pass, in ms. */
  #firstFull: number | undefined;
  /** When the source reported the oldest change that no pass has begun with, and the oldest of the pass under way, in ms. */
  #oldest: number | undefined;
  #underWay: number | undefined;
  /** Resolves when all notifications up to now have been handled. */
  #notifications: Promise<void> = Promise.resolve();

  constructor(parts: ProxyParts<Item, Operation>) {
    this.#parts = parts;
    const { mode, formerModes = [], drainBound, nodeName, bindAddress, rest = 0, restFactor, events } = parts;
    const { externalIPs, addressRanges, settingRules } = parts;
    const sharesEndpoints = mode.sharedEndpoints !== undefined;
    this.#cache = new ServiceCache({ externalIPs, addressRanges, sharesEndpoints, settingRules });
    this.#formerModes = new FormerModes(formerModes, events, now, drainBound);
    this.#problems = new OpenProblems(events);
    this.#node = new NodeState(mode.host, nodeName, bindAddress);
    this.#reconciler = new Reconciler(mode, this.#inputs(), now);
    const timers = { now, set: setTimeout, clear: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout) };
    this.#runner = new Runner(this.#reconciler, this.#runnerEvents(), timers, {
      audit: mode.auditPeriod,
      rest,
      restFactor,
    });
  }

  async start(): Promise<void> {
    const { watchHost, mode } = this.#parts;
    this.#watches.push(await watchHost((change) => this.#enqueue(() => this.#hostChanged(change))));
    const watch = await mode.watch?.({
      disturbed: (check) => this.#enqueue(() => this.#reconciler.disturbed(check)),
    });
    if (watch) this.#watches.push(watch);
    await this.#watchNodes();
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
    const summary = this.#reconciler.pending ? together(first, await this.#reconciler.sync()) : first;
    if (!isComplete(summary) || !this.#knowsAll || !(await this.#formerModes.remove())) return summary;
    this.#reconciler.followUpAgain();
    return together(summary, await this.#reconciler.sync());
  }

  async plan(): Promise<PlannedOperation[]> {
    await this.#begin(() => {});
    const planned = await this.#reconciler.preview();
    return this.#knowsAll ? [...planned, ...(await this.#formerModes.preview())] : planned;
  }

  async frontends(): Promise<NamedFrontend[]> {
    const found: NamedFrontend[] = [];
    const slice = new TimeSlice();
    const { facts } = this.#node;
    for (const service of this.#cache.serviceNames()) {
      const input = this.#cache.planInput(service, facts);
      for (const frontend of frontendsOfInput(input)) found.push(frontend);
      if (slice.spend()) await slice.yield();
    }
    return found;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#formerTimer);
    for (const watch of this.#watches) watch.close();
    this.#parts.source.stop();
    await this.#runner.stop();
    this.#reconciler.endAudit();
    await this.#notifications;
  }

  async #watchNodes(): Promise<void> {
    this.#reach = await this.#parts.watchNodes?.({
      changed: (change) => this.#take(() => this.#reachChanged(change)),
      judged: (nodes) => this.#parts.events.reachJudged?.(nodes),
      nodeOf: (flow) => this.#nodeOf(flow),
      failed: (error) => this.#parts.events.reachFailed?.(error),
    });
    if (this.#reach) this.#watches.push(this.#reach);
  }

  #reachChanged(change: ReachChange): void {
    const { node, reachable } = change;
    if (reachable) this.#unreachable.delete(node);
    else this.#unreachable.add(node);
    this.#node.unreachableChanged(new Set(this.#unreachable));
    const services = this.#cache.servicesOn(node);
    this.#parts.events.reachChanged?.(change, services.size);
    this.#reconciler.touchSet(services);
    this.#request();
  }

  #nodeOf({ protocol, original, reply }: Flow): string | undefined {
    if (protocol !== 'tcp' && protocol !== 'udp' && protocol !== 'sctp') return undefined;
    const { destination: address, destinationPort: port } = original;
    return this.#cache.nodeOfEndpoint({ address, port, protocol }, reply.source);
  }

  /** Resolves when what the source reported at its start is stored. */
  async #begin(synced: () => void): Promise<void> {
    const { source, events } = this.#parts;
    await source.start({
      changed: (changes) => this.#take(() => this.#apply(changes)),
      synced: () => this.#take(synced),
      incomplete: (unread) => this.#take(() => this.#incomplete(unread)),
      problems: (problems) => events.problems(problems),
      mended: (problems) => events.mended?.(problems),
    });
  }

  /** Takes a report of the source. An error ends it, and not those that follow. */
  #take(report: () => void): void {
    if (this.#stopped) return;
    try {
      report();
    } catch (error) {
      this.#reconciler.touchAll();
      this.#lost(error);
    }
  }

  /** Nothing is removed from the kernel before the source has reported everything there is. */
  #request(): void {
    if (!this.#synced) return;
    this.#parts.events.queued?.();
    this.#runner.request();
  }

  /** Stores changes, and requests a pass for them. */
  #apply(changes: readonly ObjectChange[]): void {
    const reported = now();
    const services = new Set<string>();
    let serviceCIDRsChanged = false;
    let nodesChanged = false;
    for (const change of changes) {
      for (const touched of this.#cache.apply(change)) {
        if ('serviceCIDR' in touched) serviceCIDRsChanged = true;
        else if ('node' in touched) nodesChanged = true;
        else {
          services.add(touched.service);
          if (change.object.kind === 'Service') this.#reportConflicts(touched.service);
        }
      }
    }
    this.#oldest ??= reported;
    this.#parts.events.changed?.(changes);
    this.#reconciler.touchSet(services);
    if (serviceCIDRsChanged) this.#node.serviceCIDRsChanged(this.#cache.serviceCIDRs);
    if (nodesChanged) this.#nodeChanged();
    this.#request();
  }

  #reportConflicts(service: string): void {
    this.#problems.set(`claims of ${service}`, conflictsOf(service, this.#cache.lostClaims(service)));
  }

  /** The source keeps what it has read: only the kernel's state from before the start has no other record. */
  #incomplete(unread: readonly string[]): void {
    if (unread.length === 0) this.#allReadable();
    else if (!this.#synced) this.#reconciler.hold();
    this.#parts.events.incomplete?.(unread);
    this.#request();
  }

  #allReadable(): void {
    // What former modes left goes after a full pass, and no earlier one was followed by its removal.
    if (this.#reconciler.held && this.#formerModes.pending) this.#reconciler.requestFullSync();
    this.#reconciler.release();
  }

  #nodeChanged(): void {
    const { nodeName, mode } = this.#parts;
    const { nodeIPs, podCIDRs } = this.#node.facts;
    const others = this.#cache.addressesOfOthers(nodeName);
    this.#touch(this.#node.nodeChanged(this.#cache.node(nodeName), others));
    // Most changes of a Node are of its status.
    if (this.#watched !== others) this.#reach?.follow(this.#cache.otherNodes(nodeName));
    this.#watched = others;
    const now = this.#node.facts.nodeIPs;
    if (mode.host.podNetworks && podCIDRs.join() !== this.#node.facts.podCIDRs.join())
      this.#reconciler.touchAll();
    // Which addresses of the host matter may follow from the node's own: the next pass lists them anew.
    if (nodeIPs[4] !== now[4] || nodeIPs[6] !== now[6]) this.#reconciler.requestFullSync();
  }

  /** Notifications are handled one after another, between passes: a pass changes the host too. */
  #enqueue(handle: () => Promise<void>): void {
    this.#notifications = this.#notifications
      .then(async () => {
        await this.#runner.idle();
        await handle();
        if (this.#reconciler.pending) this.#request();
      })
      .catch((error) => this.#lost(error));
  }

  /** A report or a notification was not handled. A full pass lists the host's addresses, and is tried again until that succeeds. */
  #lost(error: unknown): void {
    this.#parts.events.failed(error);
    this.#reconciler.requestFullSync();
    this.#request();
  }

  async #hostChanged(change: HostChange): Promise<void> {
    if (change.lost) await this.#readHost();
    else this.#touch(this.#node.hostChanged(change));
  }

  async #readHost(): Promise<void> {
    const { rtnetlink } = this.#parts;
    const listed = await rtnetlink.listAddresses();
    const addresses = listed.map(({ link, address, prefix }) => ({ link, address, prefix }));
    const links = this.#node.usesLinks ? (await rtnetlink.listLinks()).map(hostLink) : [];
    this.#touch(this.#node.hostListed(addresses, links));
  }

  #touch(services: Iterable<string>): void {
    for (const service of services) this.#reconciler.touch(service);
  }

  #inputs(): Inputs {
    const { conntrack, mode } = this.#parts;
    const options = { now, ownConnections: mode.upkeep?.ownConnections === true };
    const cache = this.#cache;
    const lookup: FrontendLookup = {
      isFrontend: (address, port, protocol) => cache.isFrontend(address, port, protocol),
      isNodePort: (port, family, protocol) => cache.isNodePort(port, family, protocol),
      servesNodePorts: (address) => this.#node.servesNodePorts(address),
      frontendsOf: (service) => cache.frontendsOf(service),
    };
    return {
      ...(conntrack && { followUp: new FlowCleaner(conntrack, lookup, options) }),
      serviceNames: () => this.#cache.serviceNames(),
      order: (services) => this.#cache.order(services),
      totalEndpoints: () => this.#cache.totalEndpoints,
      planInput: (service) => this.#cache.planInput(service, this.#node.facts),
      planned: (service, input) => this.#planned(service, input),
      node: () => this.#node.facts,
      taken: () => {
        this.#knowsAll = !this.#reconciler.held;
        this.#underWay ??= this.#oldest;
        this.#oldest = undefined;
        this.#parts.events.taken?.();
      },
      refresh: () => this.#readHost(),
    };
  }

  #planned(service: string, input: ServicePlanInput | undefined): void {
    this.#cache.planned(service);
    this.#node.planned(service, input);
    this.#problems.set(`endpoints of ${service}`, excessOf(service, input));
    this.#problems.set(`configuration and ${service}`, this.#cache.problems(service));
    const refused = this.#cache.refusedAddresses(service);
    if (refused.length > 0) this.#parts.events.refused?.(refused);
    this.#parts.events.planned?.(service, input);
  }

  /** Removes what former modes left. What connections need, or could not be removed, is tried again. */
  async #removeFormer(): Promise<void> {
    clearTimeout(this.#formerTimer);
    if (this.#replacesFormer() && (await this.#formerModes.remove())) {
      this.#reconciler.followUpAgain();
      this.#request();
    }
    const { retryIn } = this.#formerModes;
    if (retryIn === undefined || this.#stopped) return;
    this.#formerTimer = setTimeout(() => this.#enqueue(() => this.#removeFormer()), retryIn);
  }

  /** Whether the items of this mode serve in place of those of a former one: a Service that is refused for long does not count. */
  #replacesFormer(): boolean {
    if (this.#stopped || !this.#knowsAll || this.#complete === undefined) return false;
    this.#firstFull ??= now();
    if (this.#complete) return true;
    const { node, services, plans } = this.#reconciler.refused();
    return now() - this.#firstFull >= PATIENCE && !node && 2 * services < plans;
  }

  #runnerEvents(): RunnerEvents {
    const { events } = this.#parts;
    return {
      synced: (summary) => {
        events.synced(summary, this.#underWay === undefined ? 0 : now() - this.#underWay);
        this.#underWay = undefined;
        // Traffic is served by the items of this mode before those of another one are removed.
        if (!this.#formerModes.pending) return;
        const isRest = this.#complete === false && summary.failures.length === 0 && summary.unknown === 0;
        // Retries make up for what failed in the full pass.
        if (!summary.full && !isRest) return;
        this.#complete = isRest || isComplete(summary);
        this.#enqueue(() => this.#removeFormer());
      },
      failed: (error) => {
        this.#complete = undefined;
        events.failed(error);
      },
      retrying: (milliseconds) => events.retrying(milliseconds),
    };
  }
}

/** Time for which refused Services keep the state of a former mode, in ms, if they are fewer than half. */
const PATIENCE = 60_000;

const now = () => performance.now();
