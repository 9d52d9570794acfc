// The benchmark: its jobs in their order, one repetition after another, so that all methods meet the same noise.
import { performance } from 'node:perf_hooks';
import { loadModules } from '../src/command/modes/shared/loadModules.js';
import { familyJob, fullJob } from './additions.js';
import type { ProxyCommand } from './against/types.js';
import { conntrackJob } from './conntrackJob.js';
import type { Context, Job } from './context.js';
import { kernelJob } from './kernelJob.js';
import { libraryJob } from './library.js';
import { inMemoryJob, proxyJob } from './lifecycle.js';
import { describeMachine, hasTool } from './machine.js';
import { agentJob } from './memory.js';
import { nftablesFullJob, nftablesKernelJob } from './nftables/methods.js';
import { NO_IPVS } from './phases.js';
import { Results } from './results.js';
import { RULE_MODULES } from './ruleModules.js';
import { rulesJob } from './rulesJob.js';
import { Sandbox } from './sandbox.js';
import { LIFE_NAMES, LIVES, lifeOf, OF_IPVS, SCENARIOS, SIZELESS } from './scenarios.js';
import { SystemCallCounter } from './systemCalls.js';
import { targetsOf } from './targets.js';
import { TimeBudget } from './timeBudget.js';
import { PACKAGES } from './toolCommands.js';
import type {
  BenchEvents,
  BenchOptions,
  BenchReport,
  LifeName,
  MethodName,
  ScenarioName,
  Size,
  Step,
} from './types.js';
import { weightOf } from './weights.js';

/** The defaults of a benchmark. */
export const BENCH_DEFAULTS = {
  repetitions: 5,
  budget: 60,
  seed: 1,
  sample: 50,
  countSystemCalls: true,
} as const;

/**
 * Runs a benchmark. Every run is in a new network namespace, into which it moves the thread: nothing of the machine's own network
 * changes, and the caller must not use the network afterwards. Rejects with a NetlinkError without CAP_SYS_ADMIN and
 * CAP_NET_ADMIN, and with the signal's reason. Whatever else fails is in {@link BenchReport.unavailable}.
 *
 * @param agent the command as an agent; without it, its memory is not measured
 */
export async function runBench(
  options: BenchOptions,
  events: BenchEvents = {},
  signal?: AbortSignal,
  agent?: ProxyCommand,
): Promise<BenchReport> {
  const started = new Date().toISOString();
  const began = performance.now();
  const machine = await describeMachine();
  const results = new Results();
  const counter = options.countSystemCalls && hasTool('strace') ? new SystemCallCounter() : undefined;
  const context: Context = { options, events, results, signal, counter, agent, workloads: new Map() };
  await findObstacles(results);
  const jobs = jobsOf(options, results, counter !== undefined);
  events.planned?.(
    jobs.flatMap(({ steps }) => steps.map((step) => ({ ...step, weight: weightOf(step, options) }))),
  );
  const budget = new TimeBudget(options);
  for (const job of jobs) await runJob(job, context, budget);
  const figures = results.figures();
  const { memory, reasons: unavailable } = results;
  const native = !EMULATORS.has(machine.virtualization);
  return {
    version: 1,
    started,
    duration: (performance.now() - began) / 1000,
    machine,
    options,
    figures,
    memory,
    unavailable,
    targets: targetsOf({ figures, memory, unavailable, native }),
  };
}

/** Machines on which times without a ratio have no meaning. */
const EMULATORS: ReadonlySet<string | undefined> = new Set(['User Mode Linux', 'QEMU']);

async function runJob(job: Job, context: Context, budget: TimeBudget): Promise<void> {
  context.signal?.throwIfAborted();
  if (!budget.allows(job)) {
    for (const step of job.steps) context.events.ended?.(step);
    return;
  }
  const began = performance.now();
  try {
    await job.run(context);
    budget.spend(job, performance.now() - began);
  } catch (error) {
    context.signal?.throwIfAborted();
    // The preparation failed: no step of the job can be measured.
    for (const { scenario, method } of job.steps) {
      context.results.unavailable({ scenario, method, reason: (error as Error).message });
    }
  }
}

/** Methods that run tools, and the tools that each scenario needs for them. */
const BY_TOOLS: readonly MethodName[] = ['toolBatch', 'spawn', 'execFile'];
const TOOLS: Partial<Record<ScenarioName, readonly string[]>> = {
  ipvs: ['ipvsadm'],
  ipset: ['ipset'],
  addresses: ['ip'],
  conntrack: ['conntrack'],
  rules: ['iptables-restore'],
  rulesAgain: ['iptables-restore'],
  iptablesFull: ['iptables-restore'],
  iptablesEndpoint: ['iptables-restore'],
  full: ['ipvsadm', 'ipset', 'ip', 'iptables-restore'],
  endpoint: ['ipvsadm'],
  nftablesFull: ['nft'],
  nftablesEndpoint: ['nft'],
  nftablesService: ['nft'],
  nftablesEndpoints: ['nft'],
  scalableFull: ['nft'],
  scalableEndpoint: ['nft'],
};

/** Records what this machine lacks. Rejects if it cannot make a network namespace. */
async function findObstacles(results: Results): Promise<void> {
  const sandbox = await Sandbox.enter();
  // What cannot be loaded shows where it is needed.
  await loadModules(RULE_MODULES);
  const hasIpvs = sandbox.ipvs !== undefined;
  await sandbox.leave();
  if (!hasIpvs) for (const scenario of OF_IPVS) results.unavailable({ scenario, reason: NO_IPVS });
  for (const [scenario, tools] of Object.entries(TOOLS) as [ScenarioName, readonly string[]][]) {
    const missing = tools.find((tool) => !hasTool(tool));
    if (missing === undefined) continue;
    const reason = `the tool ${missing} is missing: install the package ${PACKAGES[missing]}`;
    for (const method of BY_TOOLS) results.unavailable({ scenario, method, reason });
  }
}

/** All jobs in their order: sizes, then repetitions, then scenarios with their methods. */
function jobsOf(options: BenchOptions, results: Results, counting: boolean): Job[] {
  const { sizes, repetitions } = options;
  const smallest = sizes.reduce((least, size) => (size.services < least.services ? size : least));
  const jobs: Job[] = [];
  for (const size of sizes) {
    const last = counting && size === smallest ? repetitions + 1 : repetitions;
    for (let repetition = size === smallest ? 0 : 1; repetition <= last; repetition++) {
      const steps = stepsOf(options, size, repetition, size === smallest).filter(
        (step) => !results.isUnavailable(step),
      );
      jobs.push(...jobsOfSteps(steps, size));
    }
  }
  return jobs;
}

function stepsOf(options: BenchOptions, size: Size, repetition: number, withSizeless: boolean): Step[] {
  return SCENARIOS.filter(
    ({ name }) => options.scenarios.includes(name) && (withSizeless || !SIZELESS.has(name)),
  ).flatMap(({ name, methods, most = {} }) =>
    methods
      .filter((method) => options.methods.includes(method))
      .filter((method) => size.services <= (most[method] ?? size.services))
      .map((method) => ({ scenario: name, method, size, repetition })),
  );
}

const FAMILIES: ReadonlySet<ScenarioName> = new Set(['ipvs', 'ipset', 'addresses']);
const RULES: ReadonlySet<ScenarioName> = new Set(['rules', 'rulesAgain']);
const MEMORY: ReadonlySet<ScenarioName> = new Set(Object.values(LIVES).flatMap(({ memory }) => memory ?? []));

function jobsOfSteps(steps: readonly Step[], size: Size): Job[] {
  const others = new Set(steps);
  const take = (matches: (step: Step) => boolean): Step[] => {
    const taken = [...others].filter(matches);
    for (const step of taken) others.delete(step);
    return taken;
  };
  const families = take(({ scenario }) => FAMILIES.has(scenario));
  const flows = take(({ scenario }) => scenario === 'conntrack');
  const rules = take(({ scenario }) => RULES.has(scenario));
  const library = take(({ scenario }) => SIZELESS.has(scenario));
  const agents = take(({ scenario }) => MEMORY.has(scenario));
  return [
    ...families.map((step) => familyJob(step as Parameters<typeof familyJob>[0])),
    ...flows.map(conntrackJob),
    ...rules.map(rulesJob),
    ...LIFE_NAMES.flatMap((life) =>
      jobsOfLife(
        take(({ scenario }) => lifeOf(scenario) === life),
        size,
        life,
      ),
    ),
    // Measured once: the memory hardly varies.
    ...agents.filter(({ repetition }) => repetition === 1).map(agentJob),
    ...library.map((step) => libraryJob(step as Parameters<typeof libraryJob>[0])),
  ];
}

/** The jobs of the life of the proxy, and of the methods that make the same changes. */
function jobsOfLife(steps: readonly Step[], size: Size, name: LifeName): Job[] {
  const life = LIVES[name];
  const scenariosInMemory = Object.values(life.inMemory ?? {});
  const inMemory = steps.filter(({ scenario }) => scenariosInMemory.includes(scenario));
  const onKernel = steps.filter((step) => !inMemory.includes(step));
  const proxy = onKernel.filter(({ method }) => method === 'ours');
  const methods = onKernel.filter(({ method }) => method !== 'ours');
  const full = methods.filter(({ scenario }) => scenario === life.full);
  const later = methods.filter((step) => !full.includes(step));
  const isRecorded = name === 'nftables' || name === 'scalable';
  return [
    // In other modes, what the other methods add is read from the kernel that the proxy has programmed.
    ...((isRecorded ? proxy : onKernel).length > 0 ? [proxyJob(proxy, size, name)] : []),
    ...full.map((step) => (isRecorded ? nftablesFullJob(step, name) : fullJob(step))),
    ...(later.length > 0
      ? [isRecorded ? nftablesKernelJob(later, size, name) : kernelJob(later, size, name)]
      : []),
    ...(inMemory.length > 0 ? [inMemoryJob(inMemory, size, name)] : []),
  ];
}
