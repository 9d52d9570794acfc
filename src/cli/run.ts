// Does what the command line asks for: opens the kernel and the source, and hands them to what works with them.
import { access, constants } from 'node:fs/promises';
import { release } from 'node:os';
import type { Logger } from 'pino';
import { SILENT } from '../agent/announce.js';
import { type Api, openApi } from '../agent/api.js';
import { type Kernel, openKernel, usableFamilies } from '../agent/kernel.js';
import { openLog } from '../agent/log.js';
import { applySettings } from '../agent/processSettings.js';
import type { KernelCommand } from '../config/commandLine.js';
import { clusterCIDRWarning, crossCheck, type NodeSituation } from '../config/crossChecks.js';
import { fileError } from '../config/goSyntax.js';
import { flagLines, flagTexts } from '../config/help.js';
import { type Loaded, loadConfiguration } from '../config/load.js';
import type { ConfigurationFile } from '../config/reload.js';
import { writeConfiguration } from '../config/writeConfig.js';
import {
  type Cure,
  checkScheduler,
  createIpvsMode,
  type IpvsOptions,
  prepare,
  probeScheduler,
} from '../modes/ipvs/index.js';
import type { Metrics } from '../servers/metrics.js';
import { nodeFacts } from '../services/nodeFacts.js';
import type { NodeFacts } from '../services/types.js';
import { ManifestSource } from '../source/manifests.js';
import type { Source } from '../source/source.js';
import { curesOf, ipvsOptions } from './options.js';
import { runCleanUp, runOnce, runPlan } from './passes.js';
import { recheck } from './recheck.js';
import { logHangups } from './signals.js';
import { VERSION } from './version.js';

/** What every command has once it has begun. */
interface Session extends Loaded {
  readonly command: KernelCommand;
  readonly log: Logger;
  readonly kernel: Kernel;
  readonly options: IpvsOptions;
  /** Aborted when the process is told to end, with the signal's name as its reason. */
  readonly stop: AbortSignal;
}

/**
 * Does what the command asks for; resolves to the exit status. Inputs are checked before the kernel is touched: a mistake
 * in them must not hide behind a module that is missing.
 *
 * @param stop aborted when the process is told to end, with the signal's name as its reason
 */
export async function run(command: KernelCommand, stop: AbortSignal): Promise<number> {
  const cures = curesOf(command.cures);
  const loaded = loadConfiguration(command);
  const { configuration, notices } = loaded;
  const log = openLog(configuration.logging);
  logHangups(log);
  if (configuration.logging.verbosity > 0) for (const line of flagLines(command.given)) log.info(line);
  for (const notice of notices) log.warn(notice);
  if (command.writeConfigTo !== undefined) {
    writeConfiguration(command.writeConfigTo, configuration);
    return 0;
  }
  const origin = await openOrigin({ command, loaded, cures, log });
  try {
    return await runOnKernel({ ...loaded, command, log, stop }, cures, origin);
  } finally {
    if (origin && 'api' in origin) origin.api.close();
  }
}

async function runOnKernel(
  begun: Omit<Session, 'kernel' | 'options'>,
  cures: ReadonlySet<Cure>,
  origin: Manifests | ApiOrigin | undefined,
): Promise<number> {
  const { command, configuration, log } = begun;
  // A plan changes nothing, and so loads no module.
  const kernel = await openKernel(command.do !== 'plan');
  try {
    const options = ipvsOptions(configuration, {
      families: await usableFamilies(kernel.iptables, log),
      kernelRelease: release(),
      ownAll: command.ownAll,
      cures,
      ...(command.drainBound === undefined ? {} : { drainBound: command.drainBound }),
    });
    const session = { ...begun, kernel, options };
    if (command.do === 'cleanup') return await runCleanUp(createIpvsMode(kernel, options), log);
    if (origin === undefined) return await initialize(session);
    if (options.families.length === 0) throw new Error('iptables is not available on this host');
    return 'api' in origin ? await runOnApi(session, origin) : await runOnManifests(session, origin);
  } finally {
    kernel.close();
  }
}

/** Objects come from a folder or file of manifests. */
interface Manifests {
  readonly source: Source;
}

/** Objects come from an API server. */
interface ApiOrigin {
  readonly api: Api;
  readonly metrics: Metrics;
}

/**
 * Opens the source of objects that the command names; undefined where it needs none. Rejects with an Error that names
 * the flag or the file where there is none.
 */
async function openOrigin({
  command,
  loaded: { configuration, nodeName },
  cures,
  log,
}: {
  readonly command: KernelCommand;
  readonly loaded: Loaded;
  readonly cures: ReadonlySet<Cure>;
  readonly log: Logger;
}): Promise<Manifests | ApiOrigin | undefined> {
  const { manifests: path, master } = command;
  if (command.do === 'cleanup' || command.initOnly) return undefined;
  if (path !== '') {
    await access(path, constants.R_OK).catch((error: unknown) => {
      throw new Error(`--manifests: ${fileError(error, path)}`);
    });
    log.debug({ manifests: path }, 'objects come from manifests');
    return { source: new ManifestSource({ path, follow: follows(command) }) };
  }
  const metrics = await openOwnMetrics();
  const allNodes = cures.has('other-nodes');
  const api = await openApi({ configuration, master, nodeName, allNodes, version: VERSION, log, metrics });
  return { api, metrics };
}

/** Whether a command goes on as objects change. */
function follows(command: KernelCommand): boolean {
  return command.do === 'run' && !command.once;
}

/** `--init-only`: what needs more rights than the rest, and once. */
async function initialize({ configuration, kernel, options, log }: Session): Promise<number> {
  await applySettings(configuration, kernel.sysctl, log, SILENT);
  await prepare(kernel, options);
  return 0;
}

async function runOnManifests(session: Session, { source }: Manifests): Promise<number> {
  const node = await ownFacts(session, undefined);
  warnOfClusterCIDR(session, node);
  if (!follows(session.command)) return runPass(session, source, node);
  await probeScheduler(session.kernel, session.options.scheduler);
  const { runAgent } = await agentModule();
  return runAgent({
    ...agentParts(session, await openOwnMetrics(), undefined),
    source,
    node,
    announcer: SILENT,
  });
}

async function runOnApi(session: Session, { api, metrics }: ApiOrigin): Promise<number> {
  const own = await api.ownNode(session.stop);
  if (session.stop.aborted) return 0;
  const node = await ownFacts(session, own);
  checkAgainst(session, node);
  if (!follows(session.command)) return runPass(session, api.source, node);
  return runAgentOnApi(session, api, node, metrics);
}

async function runAgentOnApi(session: Session, api: Api, node: NodeFacts, metrics: Metrics): Promise<number> {
  const { configuration, kernel, options, log } = session;
  const { source, announcer } = api;
  await applySettings(configuration, kernel.sysctl, log, announcer);
  await probeScheduler(kernel, options.scheduler);
  const { runAgent } = await agentModule();
  return runAgent({ ...agentParts(session, metrics, situationOf(session, node)), source, node, announcer });
}

/** One pass, carried out or only told. */
async function runPass(session: Session, source: Source, node: NodeFacts): Promise<number> {
  const { command, kernel, options, configuration, log } = session;
  const print = (text: string) => process.stdout.write(text);
  const parts = { kernel, options, source, node, configuration, log, print };
  if (command.do === 'plan') {
    const unknown = await checkScheduler(kernel, options.scheduler);
    if (unknown !== undefined) log.warn(unknown);
    return runPlan(parts, command.output);
  }
  await probeScheduler(kernel, options.scheduler);
  return runOnce(parts);
}

/** @param situation what a changed configuration is compared with; undefined where objects come from manifests */
function agentParts(session: Session, metrics: Metrics, situation: NodeSituation | undefined) {
  const { command, configuration, file, log, kernel, options, stop } = session;
  const read = (former: ConfigurationFile) => () => recheck({ command, former, kernel, node: situation });
  return {
    log,
    version: VERSION,
    startedAt: startedAt(),
    metrics,
    configuration,
    configFile: file && { file, read: read(file) },
    flags: Object.fromEntries(flagTexts(command.given)),
    kernel,
    options,
    stop,
  };
}

/** The node as it is now; its Node object is unknown where objects come from manifests, until they have been read. */
async function ownFacts(
  { kernel, nodeName, configuration }: Session,
  node: Parameters<typeof nodeFacts>[1],
): Promise<NodeFacts> {
  const addresses = await kernel.rtnetlink.listAddresses();
  const host = addresses.map(({ link, address }) => ({ link, address }));
  return nodeFacts(nodeName, node, host, new Set(), configuration.bindAddress);
}

function warnOfClusterCIDR({ configuration, log }: Session, { primaryFamily }: NodeFacts): void {
  const warning = clusterCIDRWarning(configuration, primaryFamily);
  if (warning !== undefined) log.warn(warning);
}

/** Compares the configuration with the node. Throws an Error when they cannot work together. */
function checkAgainst(session: Session, node: NodeFacts): void {
  const { configuration, log } = session;
  warnOfClusterCIDR(session, node);
  const { warnings, faults } = crossCheck(configuration, situationOf(session, node));
  for (const warning of warnings) log.warn(warning);
  if (faults.length > 0) throw new Error(faults.join('; '));
}

function situationOf({ options }: Session, node: NodeFacts): NodeSituation {
  return { families: options.families, ...node };
}

/** Loaded on first use: a single pass over manifests needs neither the agent's servers nor the metrics library. */
const agentModule = () => import('../agent/agent.js');

async function openOwnMetrics(): Promise<Metrics> {
  const [{ EMULATES }, { openMetrics }] = await Promise.all([agentModule(), import('../servers/metrics.js')]);
  const about = { version: VERSION, kubernetesVersion: `v${EMULATES}.0` };
  return openMetrics({ ...about, startedAt: startedAt(), now: Date.now });
}

/** When this process started, ms since 1970. */
function startedAt(): number {
  return Math.round(Date.now() - process.uptime() * 1000);
}
