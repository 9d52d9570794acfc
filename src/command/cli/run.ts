// Runs the command: opens the source, the mode and its kernel, and runs the agent or one pass.
import { access, constants } from 'node:fs/promises';
import type { Logger } from 'pino';
import { ErrorWithNextStep } from '../../kernel/errors.js';
import { HOST } from '../../kernel/shared/hints.js';
import type { FormerMode } from '../../proxy/modes/mode.js';
import { selectedLoopback } from '../../proxy/modes/shared/plan/nodePortAddresses.js';
import { type NodeParts, nodeFacts } from '../../proxy/services/nodeFacts.js';
import type { NodeFacts } from '../../proxy/services/types.js';
import { ManifestSource } from '../../proxy/source/manifests.js';
import type { Source } from '../../proxy/source/source.js';
import { SILENT } from '../agent/announce.js';
import { type Api, openApi } from '../agent/api.js';
import { openLog } from '../agent/log.js';
import { applySettings } from '../agent/processSettings.js';
import { describeShortage, findShortages } from '../agent/resourceLimits.js';
import { OutputClosed, writeOutput } from '../agent/standardStreams.js';
import type { KernelCommand } from '../config/commandLine.js';
import type { Configuration } from '../config/configuration.js';
import {
  allAddressesRule,
  clusterCIDRWarning,
  crossCheck,
  type NodeSituation,
  profilingWarning,
} from '../config/crossChecks.js';
import { fileError, quote } from '../config/goSyntax.js';
import { flagLines, flagTexts } from '../config/help.js';
import { type Loaded, loadConfiguration } from '../config/load.js';
import { behaviourOf } from '../config/mirroredVersion.js';
import type { ConfigurationFile } from '../config/reload.js';
import { writeConfiguration } from '../config/writeConfig.js';
import { withAbsentPrograms } from '../modes/iptablesRules/absentPrograms.js';
import { findFamilies } from '../modes/iptablesRules/families.js';
import { iptablesWithout } from '../modes/iptablesRules/rulesInUse.js';
import { checkModeFlags, formerModes, MODES, selectMode } from '../modes/select.js';
import type { ModeDefinition, OpenedMode } from '../modes/shared/definition.js';
import { nodePortAddressesOf } from '../modes/shared/fromConfiguration.js';
import { openHostKernel } from '../modes/shared/hostKernel.js';
import type { Metrics } from '../servers/metrics.js';
import { AnswerLimit } from './answerLimit.js';
import { type Preview, runCleanUp, runOnce, runPreview } from './passes.js';
import { recheck } from './recheck.js';
import { logHangups, logWarnings } from './signals.js';
import { VERSION } from './version.js';

/** Default of `--timeout`, in s. */
const ANSWER_LIMIT = 30;

/** The parts of a command after the kernel is opened. */
interface Session extends Loaded {
  readonly command: KernelCommand;
  readonly log: Logger;
  readonly opened: OpenedMode;
  /** Other modes that may have run on this node before. */
  readonly former: readonly FormerMode[];
  /** Aborted when the process receives a stop signal; the reason is the signal's name. */
  readonly stop: AbortSignal;
  /** Shows the operations of the command `plan`. */
  readonly show: (preview: Preview) => void;
  /** Time limit of the API server; undefined: it is tried again for as long as it takes. */
  readonly limit: AnswerLimit | undefined;
}

/** A session before the kernel is opened. */
type Begun = Omit<Session, 'opened' | 'former'>;

/**
 * Runs the command; resolves to the exit status. Inputs are validated before the kernel is used, so that a missing
 * module does not hide an error in them.
 *
 * @param stop aborted when the process receives a stop signal; the reason is the signal's name
 * @param show shows the operations of the command `plan`, which only computes them
 * @param given time limit of the API server; default: that of the command with `--once`, otherwise none
 */
export async function run(
  command: KernelCommand,
  stop: AbortSignal,
  show: Session['show'] = () => {},
  given?: AnswerLimit,
): Promise<number> {
  checkModeFlags(command);
  const loaded = loadConfiguration(command, MODES);
  const { configuration, notices } = loaded;
  const definition = selectMode(configuration.mode);
  const log = openLog(configuration.logging);
  logHangups(log);
  logWarnings(log);
  if (configuration.logging.verbosity > 0) for (const line of flagLines(command.given)) log.info(line);
  for (const notice of notices) log.warn(notice);
  const exposed = command.do === 'run' ? profilingWarning(configuration) : undefined;
  if (exposed !== undefined) log.warn(exposed);
  for (const shortage of findShortages(HOST.read, process.getuid?.() ?? 0))
    log.warn({ ...shortage }, describeShortage(shortage));
  if (command.writeConfigTo !== undefined) {
    writeConfiguration(command.writeConfigTo, configuration, MODES);
    return 0;
  }
  const begun = { ...loaded, command, log, stop, show, limit: given ?? limitOf(command) };
  if (command.healthHardFail && follows(command) && !command.initOnly)
    await healthAddressIsFree(configuration, stop);
  const origin = await openOrigin(begun, definition);
  try {
    return await runOnKernel(begun, definition, origin);
  } finally {
    if (origin && 'api' in origin) origin.api.close();
  }
}

async function healthAddressIsFree(configuration: Configuration, stop: AbortSignal): Promise<void> {
  const { checkHealthAddress } = await import('../agent/servers.js');
  await checkHealthAddress(configuration, stop);
}

/** The time limit of the API server; undefined: it is tried again for as long as it takes. */
function limitOf(command: KernelCommand): AnswerLimit | undefined {
  const { once, manifests, initOnly, timeout = ANSWER_LIMIT } = command;
  const reads = command.do === 'run' && once && manifests === '' && !initOnly;
  return reads ? new AnswerLimit(timeout) : undefined;
}

async function runOnKernel(
  begun: Begun,
  definition: ModeDefinition,
  origin: Manifests | ApiOrigin | undefined,
): Promise<number> {
  const { command, configuration, log } = begun;
  if (command.do === 'cleanup') return cleanUpHost(begun);
  // A plan changes nothing; therefore it loads no module.
  const settings = { configuration, command, loadModules: command.do !== 'plan', log };
  const opened = await definition.open(settings);
  try {
    const { families, rules, layout } = opened;
    const iptables = withAbsentPrograms(opened.kernel.iptables);
    const kernel = { ...opened.kernel, iptables: rules ? iptablesWithout(iptables, rules) : iptables };
    const former = formerModes(definition, { ...settings, kernel, families, layout });
    const session = { ...begun, opened, former };
    if (origin === undefined) return await initialize(session);
    if (opened.families.length === 0) throw new Error('iptables is not available on this host');
    return 'api' in origin ? await runOnApi(session, origin) : await runOnManifests(session, origin);
  } finally {
    opened.kernel.close();
  }
}

/** `--cleanup`: the same for every mode of the configuration. */
async function cleanUpHost({ command, configuration, log }: Begun): Promise<number> {
  const host = await openHostKernel();
  const kernel = { ...host, iptables: withAbsentPrograms(host.iptables) };
  try {
    const { usable, unusable } = await findFamilies(kernel.iptables);
    const settings = { configuration, command, kernel, families: [...usable.keys()] };
    const modes = formerModes(undefined, settings);
    return await runCleanUp({ modes, unusable, log, print });
  } finally {
    kernel.close();
  }
}

/** The source is a folder or file of manifests. */
interface Manifests {
  readonly source: Source;
}

/** The source is an API server. */
interface ApiOrigin {
  readonly api: Api;
  readonly metrics: Metrics;
}

/**
 * Opens the source of the command; undefined if it needs none. Rejects with an Error that names the flag or the file if
 * the source does not exist.
 */
async function openOrigin(
  { command, configuration, nodeName, log, limit }: Begun,
  definition: ModeDefinition,
): Promise<Manifests | ApiOrigin | undefined> {
  const { manifests: path, master } = command;
  if (command.do === 'cleanup' || command.initOnly) return undefined;
  if (path !== '') {
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw new Error(`--manifests: ${fileError(error, path)}`);
    });
    log.debug({ manifests: path }, 'reading objects from manifests');
    return { source: new ManifestSource({ path, follow: follows(command) }) };
  }
  const metrics = await openOwnMetrics(configuration);
  const allNodes = command.leaveUnreachableNodes || definition.needsAllNodes(command);
  const serviceCIDRs = definition.needsServiceCIDRs === true;
  const { objectEvents } = command;
  const api = await openApi({
    ...{ configuration, master, nodeName, allNodes, serviceCIDRs, objectEvents, version: VERSION },
    ...{ log, metrics },
    failed: (error) => limit?.failed(error),
  });
  return { api, metrics };
}

/** Whether the command follows changes of objects. */
function follows(command: KernelCommand): boolean {
  return command.do === 'run' && !command.once;
}

/** `--init-only`: the setup that needs full root privileges. */
async function initialize({ configuration, opened, log }: Session): Promise<number> {
  await applySettings(configuration, opened.kernel.sysctl, log, SILENT);
  await opened.prepare();
  return 0;
}

async function runOnManifests(session: Session, { source }: Manifests): Promise<number> {
  const node = await ownFacts(session, undefined);
  warnOfClusterCIDR(session, node);
  if (!follows(session.command)) return runPass(session, source, node);
  await session.opened.probe(session.configuration);
  const { runAgent } = await agentModule();
  return runAgent({
    ...agentParts(session, await openOwnMetrics(session.configuration), () => undefined),
    source,
    node,
    announcer: SILENT,
  });
}

async function runOnApi(session: Session, { api, metrics }: ApiOrigin): Promise<number> {
  const { stop, limit } = session;
  if (follows(session.command)) return runAgentOnApi(session, { api, metrics });
  const signal = limit ? AbortSignal.any([stop, limit.signal]) : stop;
  // A plan shows what there is. `--once` waits for an address, as an agent does. Either ends with an error without a Node.
  const patience = session.command.do === 'plan' ? { limit: 0 } : {};
  let isMissing = false;
  const missing = () => {
    isMissing = true;
  };
  const own = await api
    .ownNode({ stop: signal, missing, warns: false, ...patience })
    .catch((error: unknown) => {
      throw isMissing ? noNode(session.nodeName) : error;
    });
  if (stop.aborted) return 0;
  if (isMissing && !own) throw noNode(session.nodeName);
  limit?.check();
  const node = await ownFacts(session, own);
  checkAgainst(session, node);
  return runPass(session, limit?.around(api.source) ?? api.source, node);
}

function noNode(name: string): Error {
  return new ErrorWithNextStep(
    `the API server has no Node ${quote(name)}`,
    'set --hostname-override to the name of this node that kubectl get nodes shows',
  );
}

async function runAgentOnApi(session: Session, { api, metrics }: ApiOrigin): Promise<number> {
  const { configuration, opened, log, stop } = session;
  const { source, announcer } = api;
  const unknown = await ownFacts(session, undefined);
  let situation: NodeSituation | undefined;
  const ownNode = async (missing: () => void) => {
    const own = await api.ownNode({ stop, missing });
    const node = await ownFacts(session, own);
    if (!stop.aborted) checkAgainst(session, node);
    situation = situationOf(session, node);
    return { node, nodeAddresses: own?.addresses ?? [] };
  };
  await applySettings(configuration, opened.kernel.sysctl, log, announcer);
  await opened.probe(configuration);
  const { runAgent } = await agentModule();
  const about = agentParts(session, metrics, () => situation);
  const contacts = () => api.contacts();
  return runAgent({ ...about, source, node: unknown, hasNode: true, ownNode, contacts, announcer });
}

/** Runs or plans one pass. */
async function runPass(session: Session, source: Source, node: NodeFacts): Promise<number> {
  const { command, opened, former: formerModes, configuration, log } = session;
  const { drainBound } = command;
  const parts = { opened, formerModes, drainBound, source, node, configuration, log, print };
  if (command.do === 'plan') {
    const { changesAfter } = selectMode(configuration.mode);
    const unknown = await opened.check();
    if (unknown !== undefined) log.warn(unknown);
    const told = changesAfter && {
      changesAfter: (former: ReadonlySet<string>) => changesAfter(configuration, former),
    };
    return runPreview({ ...parts, ...told }, session.show);
  }
  await opened.probe(configuration);
  return runOnce(parts);
}

/** Prints the result of changes of the kernel. That nobody reads it does not change the exit status. */
function print(text: string): void {
  try {
    writeOutput(text);
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
  }
}

/** @param situation the node, to validate a changed configuration; undefined as long as it was not read, and with manifests */
function agentParts(session: Session, metrics: Metrics, situation: () => NodeSituation | undefined) {
  const { command, configuration, file, log, opened, former, stop } = session;
  const read = (former: ConfigurationFile) => () =>
    recheck({ command, former, mode: opened, node: situation() });
  return {
    log,
    version: VERSION,
    startedAt: startedAt(),
    metrics,
    configuration,
    configFile: file && { file, configuration, read: read(file), exitsOnChange: command.exitOnConfigChange },
    healthHardFail: command.healthHardFail,
    wholeMinSyncPeriod: command.wholeMinSyncPeriod,
    leaveUnreachableNodes: command.leaveUnreachableNodes,
    flags: Object.fromEntries(flagTexts(command.given)),
    opened,
    formerModes: former,
    drainBound: command.drainBound,
    stop,
  };
}

/** The current facts of the node. With manifests, its Node object is unknown until they have been read. */
async function ownFacts(
  { opened, nodeName, configuration }: Session,
  node: NodeParts['node'],
): Promise<NodeFacts> {
  const { bindAddress } = configuration;
  const addresses = await opened.kernel.rtnetlink.listAddresses();
  const host = (nodeIPs: NodeFacts['nodeIPs']) => ({
    ...opened.mode.host.facts(addresses, nodeIPs),
    loopback: selectedLoopback(nodePortAddressesOf(configuration), addresses, nodeIPs),
  });
  return nodeFacts(nodeName, { node, host, bindAddress });
}

function warnOfClusterCIDR({ configuration, log }: Session, { primaryFamily }: NodeFacts): void {
  const warning = clusterCIDRWarning(configuration, primaryFamily);
  if (warning !== undefined) log.warn(warning);
  const rule = allAddressesRule(configuration);
  if (rule !== undefined) log.error({ field: 'clusterCIDR' }, `clusterCIDR ${rule}`);
}

/** Validates the configuration for the node. Throws an Error if they are incompatible. */
function checkAgainst(session: Session, node: NodeFacts): void {
  const { configuration, log } = session;
  warnOfClusterCIDR(session, node);
  const { warnings, faults } = crossCheck(configuration, situationOf(session, node));
  for (const warning of warnings) log.warn(warning);
  if (faults.length > 0) throw new Error(faults.join('; '));
}

function situationOf({ opened }: Session, node: NodeFacts): NodeSituation {
  return { families: opened.families, ...node };
}

/** Loaded on first use: one pass over manifests needs neither the agent's servers nor the metrics library. */
const agentModule = () => import('../agent/agent.js');

async function openOwnMetrics(configuration: Configuration): Promise<Metrics> {
  const { openMetrics } = await import('../servers/metrics.js');
  const about = { version: VERSION, kubernetesVersion: `v${behaviourOf(configuration).version}.0` };
  return openMetrics({ ...about, startedAt: startedAt() });
}

/** Start time of this process, in ms since 1970. */
function startedAt(): number {
  return Math.round(Date.now() - process.uptime() * 1000);
}
