// Does what the command line asks for: opens the kernel and the source, and hands them to what works with them.
import { release } from 'node:os';
import type { Logger } from 'pino';
import { SILENT } from '../agent/announce.js';
import { type Api, openApi } from '../agent/api.js';
import { type Kernel, openKernel, usableFamilies } from '../agent/kernel.js';
import { openLog } from '../agent/log.js';
import { applySettings } from '../agent/processSettings.js';
import { crossCheck } from '../config/crossChecks.js';
import { flagLines, flagTexts, type KernelCommand } from '../config/flags.js';
import { type Loaded, loadConfiguration } from '../config/load.js';
import { writeConfiguration } from '../config/writeConfig.js';
import { createIpvsMode, type IpvsOptions, prepare, probeScheduler } from '../modes/ipvs/index.js';
import type { Metrics } from '../servers/metrics.js';
import { nodeFacts } from '../services/nodeFacts.js';
import type { NodeFacts } from '../services/types.js';
import { ManifestSource } from '../source/manifests.js';
import type { Source } from '../source/source.js';
import { curesOf, ipvsOptions } from './options.js';
import { runCleanUp, runOnce, runPlan } from './passes.js';
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
 * Does what the command asks for; resolves to the exit status.
 *
 * @param stop aborted when the process is told to end, with the signal's name as its reason
 */
export async function run(command: KernelCommand, stop: AbortSignal): Promise<number> {
  const cures = curesOf(command.cures);
  const loaded = loadConfiguration(command);
  const { configuration, notices } = loaded;
  const log = await openLog(configuration.logging);
  if (configuration.logging.verbosity > 0) for (const line of flagLines(command.given)) log.info(line);
  for (const notice of notices) log.warn(notice);
  if (command.writeConfigTo !== undefined) {
    writeConfiguration(command.writeConfigTo, configuration);
    return 0;
  }
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
    const session = { ...loaded, command, log, kernel, options, stop };
    if (command.do === 'cleanup') return await runCleanUp(createIpvsMode(kernel, options), log);
    if (command.initOnly) return await initialize(session);
    if (options.families.length === 0) throw new Error('iptables is not available on this host');
    return command.manifests === '' ? await runOnApi(session) : await runOnManifests(session);
  } finally {
    kernel.close();
  }
}

/** `--init-only`: what needs more rights than the rest, and once. */
async function initialize({ configuration, kernel, options, log }: Session): Promise<number> {
  await applySettings(configuration, kernel.sysctl, log, SILENT);
  await prepare(kernel, options);
  return 0;
}

async function runOnManifests(session: Session): Promise<number> {
  const { command } = session;
  const follow = command.do === 'run' && !command.once;
  const source = new ManifestSource({ path: command.manifests, follow });
  session.log.debug({ manifests: command.manifests }, 'objects come from manifests');
  const node = await ownFacts(session, undefined);
  if (!follow) return runPass(session, source, node);
  await probeScheduler(session.kernel, session.options.scheduler);
  const { runAgent } = await agentModule();
  return runAgent({ ...agentParts(session, await openOwnMetrics()), source, node, announcer: SILENT });
}

async function runOnApi(session: Session): Promise<number> {
  const { command, configuration, nodeName, log, options } = session;
  const metrics = await openOwnMetrics();
  const { master } = command;
  const allNodes = options.cures.has('other-nodes');
  const api = await openApi({ configuration, master, nodeName, allNodes, version: VERSION, log, metrics });
  try {
    const own = await api.ownNode(session.stop);
    if (session.stop.aborted) return 0;
    const node = await ownFacts(session, own);
    checkAgainst(session, node);
    if (command.do === 'plan' || command.once) return await runPass(session, api.source, node);
    return await runAgentOnApi(session, api, node, metrics);
  } finally {
    api.close();
  }
}

async function runAgentOnApi(session: Session, api: Api, node: NodeFacts, metrics: Metrics): Promise<number> {
  const { configuration, kernel, options, log } = session;
  const { source, announcer } = api;
  await applySettings(configuration, kernel.sysctl, log, announcer);
  await probeScheduler(kernel, options.scheduler);
  const { runAgent } = await agentModule();
  return runAgent({ ...agentParts(session, metrics), source, node, announcer });
}

/** One pass, carried out or only told. */
async function runPass(session: Session, source: Source, node: NodeFacts): Promise<number> {
  const { command, kernel, options, configuration, log } = session;
  if (command.do === 'plan') return runPlan({ kernel, options, source, node, configuration, log });
  await probeScheduler(kernel, options.scheduler);
  return runOnce({ kernel, options, source, node, configuration, log });
}

function agentParts({ command, configuration, file, log, kernel, options, stop }: Session, metrics: Metrics) {
  return {
    log,
    version: VERSION,
    startedAt: startedAt(),
    metrics,
    configuration,
    configFile: file,
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

/** Holds the configuration against the node; throws for what cannot work. */
function checkAgainst({ configuration, options, log }: Session, node: NodeFacts): void {
  const { warnings, faults } = crossCheck(configuration, { families: options.families, ...node });
  for (const warning of warnings) log.warn(warning);
  if (faults.length > 0) throw new Error(faults.join('; '));
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
