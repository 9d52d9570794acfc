// Recorded clusters on the real kernel of this process's network namespace, one after the other. Prints the results as
// JSON for the test, so that a namespace needs only one process. Arguments: the mode, and names of recordings.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyedOperation } from '../../src/proxy/modes/mode.js';
import { cleanUp } from '../../src/proxy/reconcile/cleanUp.js';
import { tool } from '../support/namespaces/tools.js';
import { differences, type RecordedMode, type Scenario, scenarios } from '../support/oracle/oracle.js';
import { RECORDED_KERNELS, type RecordedKernel } from '../support/oracle/recordedKernels.js';

/** The result of a scenario. */
export interface ScenarioReport {
  /** Differences from the recording after each step. */
  readonly steps: readonly {
    readonly step: string;
    readonly differences: string[];
    readonly again: number;
  }[];
  /** Number of operations of a restart after the last step. */
  readonly restarted: number;
  /** Differences after a start at the last step on an empty kernel. */
  readonly fromNothing: readonly string[];
  /** Written settings: name → value. */
  readonly settings: Readonly<Record<string, string>>;
  /** In ipvs mode, `ipvsadm -L --timeout` after the last step. */
  readonly timeouts: string;
  /** Our remaining lines after the clean-up, and foreign lines that it removed. */
  readonly cleanUp: { readonly left: readonly string[]; readonly differences: readonly string[] };
  /** Number of failed operations of all passes. */
  readonly failures: readonly string[];
}

async function main<Item, Operation extends KeyedOperation<Item>>(
  scenario: Scenario,
  kernel: RecordedKernel<Item, Operation>,
): Promise<ScenarioReport> {
  const failures: string[] = [];
  const sync = async (node: ReturnType<typeof kernel.newNode>) => {
    const summary = await node.sync();
    failures.push(...summary.failures.map(({ error }) => error.message));
    return summary.operations;
  };
  kernel.addOthers();
  const before = kernel.everything();
  const settingsBefore = spoil(kernel.settings);

  const node = kernel.newNode(scenario);
  const steps = [];
  for (const step of scenario.steps) {
    await node.load(step);
    await sync(node);
    const found = differences(step, kernel.output());
    node.reconciler.requestFullSync();
    steps.push({ step, differences: found, again: await sync(node) });
  }
  const settings = changed(settingsBefore, allSettings());
  const timeouts = kernel.mode === 'ipvs' ? tool('ipvsadm', '-L', '--timeout').trim() : '';
  const last = scenario.steps.at(-1) as string;
  const restart = async () => {
    const again = kernel.newNode(scenario);
    await again.load(last);
    return sync(again);
  };
  const restarted = await restart();
  // With one step, the first start was already at the last step.
  let fromNothing: string[] = [];
  if (scenario.steps.length > 1) {
    failures.push(...(await cleanUp(node.mode)).failures.map(({ error }) => error.message));
    await restart();
    fromNothing = differences(last, kernel.output());
  }
  const final = await cleanUp(node.mode);
  failures.push(...final.failures.map(({ error }) => error.message));
  const cleaned = { left: final.left, differences: lineDifferences(before, kernel.everything()) };
  return { steps, restarted, fromNothing, settings, timeouts, cleanUp: cleaned, failures };
}

function lineDifferences(before: readonly string[], after: readonly string[]): string[] {
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
}

/** Writes wrong values to the settings that the mode may write. */
function spoil(settings: Readonly<Record<string, string>>): Map<string, string> {
  for (const [name, value] of Object.entries(settings)) writeFileSync(`/proc/sys/${name}`, value);
  return allSettings();
}

/** All readable network settings, except counters and those of kube-ipvs0. */
function allSettings(): Map<string, string> {
  const settings = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of readdirSync(`/proc/sys/${folder}`, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === 'kube-ipvs0' || /_count$|stat_refresh/.test(entry.name)) continue;
      if (entry.isDirectory()) walk(path);
      else settings.set(path, tryRead(`/proc/sys/${path}`));
    }
  };
  walk('net');
  return settings;
}

/** Some settings are write-only. */
function tryRead(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function changed(before: Map<string, string>, after: Map<string, string>): Record<string, string> {
  return Object.fromEntries(
    [...after].filter(([name, value]) => before.has(name) && before.get(name) !== value),
  );
}

/** Runs the recordings with these names, or all if there are none. */
async function runAll(mode: RecordedMode, names: readonly string[]): Promise<void> {
  const reports: Record<string, ScenarioReport> = {};
  for (const scenario of scenarios(mode).filter(({ name }) => names.length === 0 || names.includes(name))) {
    try {
      reports[scenario.name] =
        mode === 'ipvs'
          ? await RECORDED_KERNELS.ipvs(scenario, (kernel) => main(scenario, kernel))
          : await RECORDED_KERNELS.iptables(scenario, (kernel) => main(scenario, kernel));
    } catch (error) {
      throw new Error(`recording ${scenario.name}`, { cause: error });
    }
  }
  process.stdout.write(JSON.stringify(reports));
}

const [mode = '', ...names] = process.argv.slice(2);
if (mode !== 'ipvs' && mode !== 'iptables') throw new Error(`there are no recordings of mode ${mode}`);
await runAll(mode, names);
