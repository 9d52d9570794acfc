// The node agent: creates the proxy, its servers and its watches, and connects them. It ends if a restart is needed.
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Family, familyOf } from '../../kernel/net/address.js';
import type { ResourceContact } from '../../proxy/api/contact.js';
import type { FormerMode } from '../../proxy/modes/mode.js';
import type { ReachChange } from '../../proxy/nodes/types.js';
import { createProxy, type ServiceProxy } from '../../proxy/proxy.js';
import type { NodeFacts } from '../../proxy/services/types.js';
import type { Source } from '../../proxy/source/source.js';
import type { Configuration } from '../config/configuration.js';
import { behaviourOf } from '../config/mirroredVersion.js';
import { CONFIGURATION_UPDATED } from '../config/reload.js';
import { servedAddresses } from '../config/servedAddresses.js';
import { settingRulesOf, settingRulesOn } from '../config/serviceSettings.js';
import { externalConfiguration } from '../config/writeConfig.js';
import { HealthThread } from '../health/openThread.js';
import { CLOCK, ProxyHealth } from '../health/proxyHealth.js';
import { MODES } from '../modes/select.js';
import type { OpenedMode } from '../modes/shared/definition.js';
import { packetMetrics, probeMetrics } from '../servers/kubeProxyMetrics.js';
import { bindHint } from '../servers/listen.js';
import type { Metrics } from '../servers/metrics.js';
import { contactMetrics } from '../servers/ownMetrics.js';
import { AgentState } from './agentReport.js';
import type { Announcer } from './announce.js';
import { ConfigurationFollower, type FollowedConfiguration } from './followConfiguration.js';
import { keepYoungGenerationSmall } from './heap.js';
import { LeftOut } from './leftOut.js';
import { inOrder, type ProxyListener } from './listeners.js';
import { serveLocalhostNodePorts } from './localhostNodePorts.js';
import { levelOf } from './log.js';
import { logEvents } from './logEvents.js';
import { measure, withTimedListing } from './measure.js';
import { ownIdentity, watchForOtherAgents } from './otherAgents.js';
import { followOwnNode } from './ownNode.js';
import { ruleMetrics } from './ruleMetrics.js';
import { BindError, openServers, type ServerName } from './servers.js';
import { telemetry } from './telemetry.js';

/** Time for the current batch to end after a stop signal, in ms; the next start applies the remaining batches. */
const STOP_LIMIT = 500;

/** The parts of an agent. */
export interface AgentParts {
  readonly log: Logger;
  readonly version: string;
  /** Start time of the process, in ms since 1970. */
  readonly startedAt: number;
  readonly metrics: Metrics;
  readonly configuration: Configuration;
  /** The configuration file, and the function that reads it again; undefined if there is no file. */
  readonly configFile: FollowedConfiguration | undefined;
  /** Exit if the address of the health server cannot be bound: `--healthz-bind-hard-fail`. */
  readonly healthHardFail?: boolean;
  /** Wait the whole `minSyncPeriod` after each pass, whatever it took; default false. */
  readonly wholeMinSyncPeriod?: boolean;
  /** Endpoints on nodes that do not answer get no new connections; default false. */
  readonly leaveUnreachableNodes?: boolean;
  /** The values of all flags, for /flagz. */
  readonly flags: Readonly<Record<string, string>>;
  readonly opened: Pick<
    OpenedMode,
    | ('mode' | 'layout' | 'families' | 'minSyncPeriod' | 'kernel')
    | ('metrics' | 'foreignChains' | 'localhostNodePorts' | 'refusedSettings' | 'withoutEffect')
  >;
  /** Other modes that may have run on this node before; none by default. */
  readonly formerModes?: readonly FormerMode[];
  /** Maximum time for which connections keep the items of a former mode, in ms; default 15 minutes. */
  readonly drainBound?: number | undefined;
  readonly source: Source;
  /** The node at the start of the agent. */
  readonly node: NodeFacts;
  /** Addresses of the Node object at the start, internal ones first; undefined if it was not read. */
  readonly nodeAddresses?: readonly string[] | undefined;
  /** The source has this node's Node object: load balancers do not use the node before it is seen. */
  readonly hasNode?: boolean;
  /**
   * Waits for the Node object; resolves to what takes the place of `node` and `nodeAddresses`. The servers answer meanwhile, and
   * nothing is programmed. `missing` is called if the Nodes have been read and there is none of this node's name. Default: both
   * are known.
   */
  readonly ownNode?: (missing: () => void) => Promise<NodeAtStart>;
  /** The contact with the API server; undefined if the source is manifests. */
  readonly contacts?: () => readonly ResourceContact[];
  readonly announcer: Announcer;
  /** Name of the socket by which agents find each other; default one for each network namespace. */
  readonly meetingPoint?: string;
  /** Aborted when the process receives a stop signal; the reason is the signal's name. */
  readonly stop: AbortSignal;
}

/** What is known of the node once its Node object has been waited for. */
export type NodeAtStart = Pick<AgentParts, 'node' | 'nodeAddresses'>;

/** Runs until `stop` is aborted (status 0), or until a change or an error requires a restart (status 1). */
export async function runAgent(parts: AgentParts): Promise<number> {
  const { log, configuration, opened, announcer, metrics, startedAt } = parts;
  let proxy: ServiceProxy | undefined;
  const ending = new Ending(log, parts.stop);
  const healthThread = openHealthThread(parts, ending);
  const health = new ProxyHealth(CLOCK, (facts) => healthThread.tell(facts));
  if (parts.hasNode) health.awaitNode();
  probeMetrics(metrics.registry, (probe, status) => healthThread.probes.get(probe, status));
  const leftOut = new LeftOut({ metrics, announcer });
  const { families } = opened;
  const { countsPorts } = opened.metrics;
  const foreignChains = () => opened.foreignChains?.() ?? [];
  const localhost = serveLocalhostNodePorts({
    ...{ localhost: opened.localhostNodePorts, expected: families, configuration, log, metrics },
    open: (served, events, settings) => healthThread.openLocalhostPorts(served, events, settings),
  });
  const listeners = [
    logEvents(log, foreignChains),
    telemetry({ families, countsPorts, metrics, health, serviceHealth: healthThread, leftOut }),
    { reachChanged: (change: ReachChange) => announcer.reachChanged(change) },
    localhost.listener,
  ];
  ending.closes(() => localhost.close());
  const state = new AgentState(aboutAgent(parts), leftOut, Date.now, parts.contacts);
  state.foreignChains = foreignChains;
  state.withoutEffect = opened.withoutEffect ?? [];
  if (parts.hasNode) state.nodeObject = 'unread';
  if (parts.contacts) contactMetrics(metrics.registry, parts.contacts);
  let follower: ConfigurationFollower | undefined;
  try {
    const about = { version: parts.version, startedAt, now: Date.now };
    const pages = {
      leftOut: () => leftOut.summary(),
      report: () => state.report(),
      frontends: async () => (await proxy?.frontends()) ?? [],
    };
    const shown = { ...about, ...pages, ...shownBy(parts, () => follower?.configuration ?? configuration) };
    const { healthHardFail } = parts;
    const servers = await openServers({
      ...{ configuration, healthHardFail, health: healthThread, metrics, shown },
      ...serverLog(log, 'metrics'),
    });
    ending.closes(() => servers.close());
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    announcer.serverFailed(error.server, error.message);
    await announcer.flush();
    throw error;
  }
  if (parts.configFile !== undefined) {
    const followed = new ConfigurationFollower(parts.configFile, {
      ...{ log, events: inOrder(listeners), health, metrics, announcer },
      node: parts.node.name,
      modes: MODES,
      exit: () => ending.reach(1, CONFIGURATION_UPDATED),
    });
    follower = followed;
    state.configurationFile = followed;
    ending.closes(async () => followed.close());
  }
  const { version, node, mode } = aboutAgent(parts);
  const others = watchForOtherAgents(ownIdentity(version, { mode, layout: opened.layout }, startedAt), log, {
    name: parts.meetingPoint,
    refused: (reason) => ending.reach(1, reason),
  });
  ending.closes(async () => others.close());
  log.info({ version, node, mode, families }, 'starting');
  announcer.starting();
  for (const family of opened.families) health.updated(family);
  const close = () => Promise.race([ending.close(), wait(STOP_LIMIT, undefined, { ref: false })]);
  const missing = () => {
    state.nodeObject = 'missing';
  };
  const known = await nodeAtStart(parts, missing, ending).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (known) {
    const settled = { ...parts, ...known };
    healthThread.serveServices(nodePortAddresses(settled.node));
    const ownNode = followingOwnNode(settled, health, ending, state);
    proxy = proxyOf(settled, [state.listener(), ...listeners, ownNode]);
    startProxy(proxy, others.admitted, ending);
  }
  const status = await ending.reached;
  await close();
  return status;
}

/** Starts the proxy once other agents admit it. */
function startProxy(proxy: ServiceProxy, admitted: Promise<void>, ending: Ending): void {
  ending.closes(() => proxy.stop());
  void admitted
    .then(() => (ending.isReached ? undefined : proxy.start()))
    .catch((error) => ending.reach(1, String(error)));
}

/** What is known of the node once it has been waited for; undefined if the agent ends before. */
async function nodeAtStart(
  { node, nodeAddresses, ownNode }: AgentParts,
  missing: () => void,
  ending: Ending,
): Promise<NodeAtStart | undefined> {
  const known = ownNode
    ? await Promise.race([ownNode(missing), ending.reached.then(() => undefined)])
    : { node, nodeAddresses };
  return ending.isReached ? undefined : known;
}

function aboutAgent({ version, node, opened, startedAt }: AgentParts) {
  const { mode, families } = opened;
  return {
    version,
    node: node.name,
    mode: mode.name,
    families,
    startedAt: new Date(startedAt).toISOString(),
  };
}

/** The end of the agent: its exit status, and the parts to close. */
class Ending {
  readonly reached: Promise<number>;
  readonly reach: (status: number, reason: string) => void;
  /** The agent ends. */
  isReached = false;
  readonly #close: (() => Promise<void>)[] = [];

  constructor(log: Logger, stop: AbortSignal) {
    let resolve: (status: number) => void = () => {};
    this.reached = new Promise((done) => {
      resolve = done;
    });
    this.reach = (status, reason) => {
      log[status === 0 ? 'info' : 'error']({ reason }, 'stopping; the kernel keeps its state');
      this.isReached = true;
      resolve(status);
    };
    const stopped = () => this.reach(0, String(stop.reason));
    if (stop.aborted) stopped();
    else stop.addEventListener('abort', stopped, { once: true });
  }

  closes(close: () => Promise<void>): void {
    this.#close.push(close);
  }

  async close(): Promise<void> {
    await Promise.all(this.#close.map((close) => close()));
  }
}

/**
 * Passes rest this many times as long as they take, `minSyncPeriod` at most: the period spares a proxy whose passes take long, and passes
 * never take more than a fifth of the time.
 */
const REST_FACTOR = 4;

function proxyOf(agent: AgentParts, listeners: readonly ProxyListener[]) {
  const { opened, formerModes = [], drainBound, source, node, configuration, metrics, log } = agent;
  const { mode, minSyncPeriod, kernel } = opened;
  const { conntrack, rtnetlink } = kernel;
  const { ruleCounts, packets } = opened.metrics;
  const { failedRestores } = measure(kernel, opened, metrics);
  if (packets) packetMetrics(metrics.registry, packets.counters, () => packetsOf(packets, log));
  return createProxy({
    source,
    mode,
    formerModes,
    drainBound,
    rtnetlink,
    conntrack: withTimedListing(conntrack, metrics),
    watchHost: kernel.watchHost,
    watchNodes: agent.leaveUnreachableNodes ? kernel.watchNodes : undefined,
    nodeName: node.name,
    bindAddress: configuration.bindAddress,
    ...servedAddresses(configuration),
    settingRules: settingRulesOn(settingRulesOf(configuration, MODES), opened.refusedSettings),
    rest: minSyncPeriod,
    restFactor: agent.wholeMinSyncPeriod ? undefined : REST_FACTOR,
    events: inOrder([
      ...(ruleCounts ? [ruleMetrics({ ruleCounts, failedRestores }, metrics)] : []),
      ...listeners,
    ]),
  });
}

/** Packets by counter; none if they cannot be read, so that the other metrics are shown. */
async function packetsOf(
  packets: Pick<NonNullable<OpenedMode['metrics']['packets']>, 'read'>,
  log: Logger,
): Promise<ReadonlyMap<string, number>> {
  try {
    return await packets.read();
  } catch (error) {
    log.error({ err: String(error) }, 'cannot read the counters of packets');
    return new Map();
  }
}

/** A listener that handles changes of this node's Node object. */
function followingOwnNode(
  { node, nodeAddresses, hasNode, configuration, log }: AgentParts,
  health: ProxyHealth,
  ending: Ending,
  state: AgentState,
): ProxyListener {
  const { exitsOnNodeChange } = behaviourOf(configuration);
  const known = { podCIDRs: node.podCIDRs, addresses: nodeAddresses };
  const follow = followOwnNode(node.name, known, {
    eligible(eligible) {
      state.nodeObject = 'seen';
      health.setNodeEligible(eligible);
    },
    podCIDRsChanged(before, now) {
      if (configuration.detectLocalMode !== 'NodeCIDR') return;
      log.error({ before, now }, 'spec.podCIDRs of the Node changed');
      ending.reach(1, 'the rules for local traffic depend on spec.podCIDRs');
    },
    nodeIPsChanged(before, now) {
      log.info({ before, now }, 'NodeIPs changed for the node');
      if (exitsOnNodeChange && hasNode) ending.reach(1, 'the addresses of the Node changed');
    },
    deleted() {
      state.nodeObject = 'deleted';
      log.warn({ node: node.name }, 'Node is being deleted');
      if (exitsOnNodeChange && hasNode) ending.reach(1, 'the Node was deleted');
    },
  });
  return { changed: follow };
}

/** Health-check ports listen on all addresses, or, with nodePortAddresses, on those that matched at the start. */
function nodePortAddresses({ host }: NodeFacts): { [family in Family]?: readonly string[] } {
  const { nodePortAddresses, unrestricted, loopback = [] } = host;
  const addresses: { [family in Family]?: readonly string[] } = {};
  for (const family of [4, 6] as const) {
    if (unrestricted.has(family)) continue;
    const own = loopback.filter((address) => familyOf(address) === family);
    addresses[family] = [...new Set([...nodePortAddresses[family], ...own])];
  }
  return addresses;
}

/** The thread that serves the health of the proxy and of Services. */
function openHealthThread({ log, announcer, opened }: AgentParts, ending: Ending): HealthThread {
  return new HealthThread({
    timeout: 2 * opened.mode.auditPeriod,
    online: keepYoungGenerationSmall,
    ...serverLog(log, 'health'),
    serviceFailed(service, port, error) {
      log.error(
        { service, port, err: error.message, hint: bindHint(error) },
        'cannot listen on the health-check port of a Service',
      );
      announcer.serviceHealthFailed(service, port, error.message);
    },
    serviceRecovered: (service, port) =>
      log.info({ service, port }, 'the health-check port of a Service is open'),
    ended: (error) => ending.reach(1, `the health thread has ended: ${error}`),
  });
}

/** Logs the failures of an HTTP server. */
function serverLog(log: Logger, server: ServerName) {
  return {
    failed: (error: unknown, retryInMs?: number) =>
      log.error({ server, retryInMs, err: String(error), hint: bindHint(error) }, 'HTTP server failed'),
    recovered: () => log.info({ server }, 'HTTP server listens now'),
  };
}

/** The configuration that the metrics server shows, and the log level that it can change. */
function shownBy({ configuration, flags, log, opened }: AgentParts, inForce: () => Configuration) {
  const gates = configuration.featureGates;
  const setVerbosity = (level: number) => {
    log.level = levelOf(level);
  };
  return {
    emulates: behaviourOf(configuration).version,
    proxyMode: opened.mode.name,
    configuration: () => externalConfiguration(inForce(), MODES),
    statusz: gates['ComponentStatusz'] ?? false,
    ...(gates['ComponentFlagz'] ? { flagz: flags } : {}),
    ...(configuration.enableProfiling ? { profiling: { setVerbosity } } : {}),
  };
}
