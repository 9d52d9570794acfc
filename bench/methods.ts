// The methods of additions. Each prepares a phase, which takes no measured time, and then adds it.
import { execFile } from 'node:child_process';
import { loadBenchAddon } from './addon.js';
import { packedEntries } from './bytes.js';
import { type Cost, costOf, Meter, scaled, sumOf } from './cost.js';
import {
  countOperations,
  type KernelNumbers,
  libraryOperations,
  NO_IPVS,
  type Phase,
  sampleOf,
} from './phases.js';
import { additionMessages } from './rawMessages.js';
import { check, type Sandbox } from './sandbox.js';
import { batchCommands, singleCommands, type ToolCommand } from './toolCommands.js';
import type { MethodName } from './types.js';

/** Adds phases. */
export type Adder = (phases: readonly Phase[], sandbox: Sandbox) => Promise<Run>;

/** What is ready to be measured. */
export type Run = () => Promise<Cost>;

/** Operations of a call of the library. */
const LIBRARY_BATCH = 4096;
/** Messages of a buffer of the raw limit. */
const RAW_LOAD = 256;
/** Bytes offered for the answers of additions, which are short. */
export const DATAGRAM = 8192;

/** The adder of a method. @param sample commands at most */
export function adderOf(method: MethodName, sample: number): Adder {
  switch (method) {
    case 'ours':
      return byPhase((phase, sandbox) => addWithLibrary(phase, sandbox, LIBRARY_BATCH));
    case 'single':
      return byPhase((phase, sandbox) => addWithLibrary(phase, sandbox, 1));
    case 'raw':
      return byPhase(async (phase, sandbox) => prepareMessages(phase, await sandbox.numbers(), false));
    case 'rawSingle':
      return byPhase(async (phase, sandbox) => prepareMessages(phase, await sandbox.numbers(), true));
    case 'rawLibipset':
      return byPhase(async (phase) => prepareEntries(phase));
    case 'toolBatch':
      return byPhase(async (phase) => spawnAll(batchCommands(phase)));
    case 'spawn':
      return sampled(sample, async (phase) => spawnAll(singleCommands(phase)));
    case 'execFile':
      return sampled(sample, async (phase) => execAll(singleCommands(phase)));
  }
}

function byPhase(prepare: (phase: Phase, sandbox: Sandbox) => Promise<Run>): Adder {
  return async (phases, sandbox) => {
    const runs: Run[] = [];
    for (const phase of phases) runs.push(await prepare(phase, sandbox));
    return async () => {
      const costs: Cost[] = [];
      for (const run of runs) costs.push(await run());
      return sumOf(costs);
    };
  };
}

/** Runs the commands of a sample, and scales its cost to all operations; rules are few, and are run as they are. */
function sampled(limit: number, prepare: (phase: Phase, sandbox: Sandbox) => Promise<Run>): Adder {
  return async (phases, sandbox) => {
    const rules = phases.filter(({ kind }) => kind === 'rules');
    const countable = phases.filter(({ kind }) => kind !== 'rules');
    const sample = sampleOf(countable, limit);
    const times = countOperations(countable) / Math.max(1, countOperations(sample));
    const [runSample, runRules] = [
      await byPhase(prepare)(sample, sandbox),
      await byPhase(prepare)(rules, sandbox),
    ];
    return async () => sumOf([scaled(await runSample(), times), await runRules()]);
  };
}

async function addWithLibrary(phase: Phase, sandbox: Sandbox, batch: number): Promise<Run> {
  if (phase.kind === 'rules') {
    return measured(async () => {
      for (const { family, operations } of phase.restores) {
        check(await sandbox.iptables.restore(family, operations));
      }
      return 0;
    });
  }
  const { client, operations } = libraryOperations(phase);
  const apply = applierOf(client, sandbox);
  return measured(async () => {
    for (let start = 0; start < operations.length; start += batch) {
      check(await apply(operations.slice(start, start + batch)));
    }
    return 0;
  });
}

type Applier = (operations: readonly unknown[]) => Promise<(Error | undefined)[]>;

function applierOf(client: 'ipvs' | 'ipset' | 'rtnetlink', { ipvs, ipset, host }: Sandbox): Applier {
  const found = { ipvs, ipset, rtnetlink: host.rtnetlink }[client];
  if (!found) throw new Error(NO_IPVS);
  return (operations) => found.apply(operations as never);
}

async function prepareMessages(phase: Phase, numbers: KernelNumbers, each: boolean): Promise<Run> {
  if (phase.kind === 'rules') return spawnAll(singleCommands(phase));
  const { protocol, bytes } = additionMessages(phase, numbers, each);
  const messages = new (loadBenchAddon().PreparedMessages)(protocol, bytes, each ? 1 : RAW_LOAD, DATAGRAM);
  return async () => costOf(messages.send());
}

function prepareEntries(phase: Phase): Run {
  if (phase.kind !== 'entries') throw new Error(`libipset does not add ${phase.kind}`);
  const entries = packedEntries(phase.entries);
  return async () => {
    // libipset does not report how many messages it has sent.
    const { messages: _, ...cost } = costOf(loadBenchAddon().addEntriesWithLibipset(phase.set.name, entries));
    return cost;
  };
}

/** Runs commands one after another from C++. */
export function spawnAll(commands: readonly ToolCommand[]): Run {
  const runs = groupsByInput(commands).map(
    ({ input, group }) =>
      new (loadBenchAddon().PreparedCommands)(
        group.map(({ command }) => command),
        Buffer.from(input),
      ),
  );
  return async () => sumOf(runs.map((prepared) => costOf(prepared.run())));
}

function groupsByInput(commands: readonly ToolCommand[]): { input: string; group: ToolCommand[] }[] {
  const groups: { input: string; group: ToolCommand[] }[] = [];
  for (const command of commands) {
    const last = groups.at(-1);
    if (last?.input === command.input) last.group.push(command);
    else groups.push({ input: command.input, group: [command] });
  }
  return groups;
}

/** Runs commands one after another with execFile. */
export function execAll(commands: readonly ToolCommand[]): Run {
  return measured(async () => {
    for (const { command, input } of commands) await exec(command, input);
    return commands.length;
  });
}

function exec([program, ...words]: ToolCommand['command'], input: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, words, (error, _stdout, stderr) => {
      if (error) reject(new Error(`${[program, ...words].join(' ')}: ${stderr.trim() || error.message}`));
      else resolve();
    });
    // A program that ends before it has read its input reports the reason on stderr; the broken pipe has no reason.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** @param work resolves to the number of processes that it started, without those of the addon */
function measured(work: () => Promise<number>): Run {
  return async () => {
    const meter = new Meter();
    return meter.stop(await work());
  };
}
