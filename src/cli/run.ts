// Runs the proxy on this host: opens the kernel, wires the parts, tells what happens.
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import type { Logger } from 'pino';
import { type KernelCommand, UsageError } from '../config/flags.js';
import { loadConfiguration } from '../config/load.js';
import { writeConfiguration } from '../config/writeConfig.js';
import { describeProblem, NetlinkError } from '../errors.js';
import { openConntrack } from '../kernel/conntrack/index.js';
import { openIpset } from '../kernel/ipset/index.js';
import { openIptables } from '../kernel/iptables/index.js';
import type { Iptables } from '../kernel/iptables/types.js';
import { type Ipvs, openIpvs } from '../kernel/ipvs/index.js';
import { loadModule } from '../kernel/modules.js';
import { openRtnetlink } from '../kernel/rtnetlink/index.js';
import { watchRtnetlink } from '../kernel/rtnetlink/watch.js';
import { openSysctl } from '../kernel/sysctl/index.js';
import { createIpvsMode } from '../modes/ipvs/index.js';
import type { Family } from '../net/address.js';
import { createProxy, type ProxyEvents, type ServiceProxy } from '../proxy.js';
import { cleanUp } from '../reconcile/cleanUp.js';
import type { SyncSummary } from '../reconcile/reconciler.js';
import { ManifestSource } from '../source/manifests.js';
import { openLog } from './log.js';
import { curesOf, ipvsOptions } from './options.js';
import { describeCleanUp, describeSummary } from './summary.js';

/** Ms for which changes of links and addresses are gathered: a network plugin makes several for each pod. */
const HOST_SETTLES = 200;

/** Does what the command asks for; resolves to the exit status. */
export async function run(command: KernelCommand): Promise<number> {
  const { configuration, nodeName, notices } = loadConfiguration(command);
  if (command.writeConfigTo !== undefined) {
    writeConfiguration(command.writeConfigTo, configuration);
    return 0;
  }
  if (command.do !== 'cleanup' && command.manifests === '') {
    throw new UsageError('--manifests must name a folder or file');
  }
  const log = openLog(configuration.logging.verbosity);
  for (const notice of notices) log.warn(notice);
  const kernel = await openKernel(command);
  try {
    // What is to be removed may be there although the host has lost the family's programs since.
    const families = await usableFamilies(kernel.iptables, log);
    const options = ipvsOptions(configuration, {
      families,
      kernelRelease: release(),
      ownAll: command.ownAll,
      cures: curesOf(command.cures),
      ...(command.drainBound === undefined ? {} : { drainBound: command.drainBound }),
    });
    const mode = createIpvsMode(kernel, options);
    if (command.do === 'cleanup') return await runCleanUp(mode, log);
    const follow = command.do === 'run' && !command.once;
    const proxy = createProxy({
      source: new ManifestSource({ path: command.manifests, follow }),
      mode,
      rtnetlink: kernel.rtnetlink,
      watchHost: (changed) => watchRtnetlink({ gather: HOST_SETTLES }, changed),
      nodeName,
      bindAddress: configuration.bindAddress,
      periods: { audit: configuration.ipvs.syncPeriod },
      events: logEvents(log),
    });
    if (command.do === 'plan') return await runPlan(proxy);
    if (command.once) return await runOnce(proxy, log);
    log.info({ node: nodeName, manifests: command.manifests, families }, 'starting');
    return await runUntilSignal(proxy, log);
  } finally {
    for (const part of [kernel.ipvs, kernel.conntrack, kernel.ipset, kernel.rtnetlink]) part.close();
  }
}

async function openKernel(command: KernelCommand) {
  return {
    // A plan changes nothing, and so loads no module.
    ipvs: command.do === 'plan' ? await openIpvs() : await openIpvsWithModule(),
    conntrack: await openConntrack(),
    ipset: await openIpset(),
    rtnetlink: await openRtnetlink(),
    iptables: openIptables(),
    sysctl: openSysctl(),
  };
}

async function runPlan(proxy: ServiceProxy): Promise<number> {
  const lines = await proxy.plan();
  process.stdout.write(lines.map((line) => `${line}\n`).join('') || 'nothing would change\n');
  return lines.length === 0 ? 0 : 1;
}

async function runCleanUp(mode: Parameters<typeof cleanUp>[0], log: Logger): Promise<number> {
  const { operations, failures, left } = await cleanUp(mode);
  for (const { key, error } of failures) log.error({ key, code: error.code }, error.message);
  process.stdout.write(describeCleanUp(operations, left));
  return failures.length === 0 && left.length === 0 ? 0 : 1;
}

async function runOnce(proxy: ServiceProxy, log: Logger): Promise<number> {
  const summary = await proxy.once();
  logFailures(log, summary);
  process.stdout.write(describeSummary(summary));
  return summary.failures.length === 0 ? 0 : 1;
}

async function runUntilSignal(proxy: ServiceProxy, log: Logger): Promise<number> {
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, resolve);
  });
  await proxy.start();
  log.info({ signal: await signal }, 'stopping; the kernel keeps its state');
  await proxy.stop();
  return 0;
}

/** IPVS's netlink family exists only while its module is loaded, and nothing loads it on demand. */
async function openIpvsWithModule(): Promise<Ipvs> {
  try {
    return await openIpvs();
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    const said = await loadModule('ip_vs');
    if (said === undefined) return openIpvs();
    throw new NetlinkError({ ...error, kernelMessage: said, hint: 'IPVS needs the kernel module ip_vs' });
  }
}

/** IPv4, and IPv6 where the host has it: a kernel booted without it, or without ip6tables, is programmed for IPv4 alone. */
async function usableFamilies(iptables: Iptables, log: Logger): Promise<Family[]> {
  if (!existsSync('/proc/net/if_inet6')) return [4];
  try {
    await iptables.save(6);
    return [4, 6];
  } catch (error) {
    log.warn({ reason: String(error) }, 'IPv6 is left out');
    return [4];
  }
}

function logEvents(log: Logger): ProxyEvents {
  return {
    synced(summary, latency) {
      const { full, services, operations, phases, milliseconds } = summary;
      // A look at connections that run out, and found them running, is nothing to tell.
      const level = full || services > 0 || operations > 0 ? 'info' : 'debug';
      log[level](
        {
          full,
          services,
          operations,
          phases: Object.fromEntries(phases),
          planMs: round(milliseconds.plan),
          kernelMs: round(milliseconds.kernel),
          latencyMs: round(latency),
          failures: summary.failures.length,
        },
        'synced',
      );
      for (const { key, services: claimants } of summary.contested) {
        log.warn(
          { key, services: claimants },
          'several Services claim one address and port; the first has it',
        );
      }
      logFailures(log, summary);
    },
    problems(problems) {
      for (const problem of problems) log.error(describeProblem(problem));
    },
    failed: (error) => log.error({ reason: String(error) }, 'the kernel could not be read'),
    retrying: (milliseconds) => log.info({ milliseconds }, 'what failed is tried again'),
  };
}

function logFailures(log: Logger, summary: SyncSummary): void {
  for (const { key, error } of summary.failures) log.error({ key, code: error.code }, error.message);
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
