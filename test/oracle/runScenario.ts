// A recorded cluster on the real kernel of this process's network namespace. Prints the result as JSON for the test, so
// that a namespace needs only one process.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { openIpvsKernel } from '../../src/modes/ipvs/open.js';
import { cleanUp } from '../../src/reconcile/cleanUp.js';
import { differences, type Scenario, scenarios } from '../support/oracle.js';
import { IpvsNode } from '../support/testNode.js';
import { feed, layOut, readSysctl, SYSCTLS, tool, toolOutput, tools } from '../support/tools.js';

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
  /** `ipvsadm -L --timeout` after the last step. */
  readonly timeouts: string;
  /** Our remaining lines after the clean-up, and foreign lines that it removed. */
  readonly cleanUp: { readonly left: readonly string[]; readonly differences: readonly string[] };
  /** Number of failed operations of all passes. */
  readonly failures: readonly string[];
}

async function main(scenario: Scenario): Promise<ScenarioReport> {
  layOut(scenario);
  const kernel = await openIpvsKernel(false);
  const failures: string[] = [];
  const newNode = () => new IpvsNode(scenario, kernel, release());
  const sync = async (node: ReturnType<typeof newNode>) => {
    const summary = await node.sync();
    failures.push(...summary.failures.map(({ error }) => error.message));
    return summary.operations;
  };
  const before = bystanders();
  const settingsBefore = spoilSettings();

  const node = newNode();
  const steps = [];
  for (const step of scenario.steps) {
    await node.load(`${step}/objects.yaml`);
    await sync(node);
    const found = differences(step, withoutBystanders());
    node.reconciler.requestFullSync();
    steps.push({ step, differences: found, again: await sync(node) });
  }
  const settings = changed(settingsBefore, allSettings());
  const timeouts = tool('ipvsadm', '-L', '--timeout').trim();
  const last = scenario.steps.at(-1) as string;
  const restart = async () => {
    const again = newNode();
    await again.load(`${last}/objects.yaml`);
    return sync(again);
  };
  const restarted = await restart();
  // With one step, the first start was already at the last step.
  let fromNothing: string[] = [];
  if (scenario.steps.length > 1) {
    failures.push(...(await cleanUp(node.mode)).failures.map(({ error }) => error.message));
    await restart();
    fromNothing = differences(last, withoutBystanders());
  }
  const final = await cleanUp(node.mode);
  failures.push(...final.failures.map(({ error }) => error.message));
  const lost = lineDifferences(before, everything());
  kernel.close();
  const cleaned = { left: final.left, differences: lost };
  return { steps, restarted, fromNothing, settings, timeouts, cleanUp: cleaned, failures };
}

/** Creates foreign items, which must survive, and returns their lines. */
function bystanders(): string[] {
  const rules =
    '*filter\n:SOMEBODY - [0:0]\n-A INPUT -m comment --comment "not ours" -j SOMEBODY\nCOMMIT\n' +
    '*nat\n:SOMEBODY - [0:0]\n-A OUTPUT -j SOMEBODY\nCOMMIT\n';
  const sets = 'create somebody-elses hash:ip\nadd somebody-elses 198.51.100.97\n';
  const server = '-A -t 198.51.100.99:80 -s wlc\n-a -t 198.51.100.99:80 -r 198.51.100.98:80 -m -w 5\n';
  feed([
    ['iptables-restore --noflush', rules],
    ['ip6tables-restore --noflush', rules],
    ['ipset restore', sets],
    ['ipvsadm -R', `${server}-A -f 77 -s rr\n`],
  ]);
  return everything();
}

/** The state without foreign virtual services; recordings do not include foreign sets and chains. */
function withoutBystanders() {
  const output = toolOutput();
  const theirs = /198\.51\.100\.99|-f 77/;
  const ipvsadm = output.ipvsadm.split('\n').filter((line) => !theirs.test(line));
  return { ...output, ipvsadm: ipvsadm.join('\n') };
}

/** Virtual services, sets, rules and links, one per line, without values that change over time. */
function everything(): string[] {
  const [ipvsadm = [], ipset = [], links = [], ...saved] = tools(
    'ipvsadm -S -n',
    'ipset save',
    'ip -o link',
    'iptables-save',
    'ip6tables-save',
  ).map((output) => output.split('\n'));
  const rules = saved.flatMap((lines, family) =>
    lines
      .filter((line) => !line.startsWith('#'))
      .map((line) => `${family === 0 ? 'IPv4' : 'IPv6'} ${line.replace(/ \[\d+:\d+\]$/, '')}`),
  );
  return [...ipvsadm, ...ipset, ...rules, ...links.map((line) => line.split(':')[1] ?? '')];
}

function lineDifferences(before: readonly string[], after: readonly string[]): string[] {
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
}

/** Writes a wrong value to every setting that ipvs mode may write. */
function spoilSettings(): Map<string, string> {
  for (const name of SYSCTLS) writeFileSync(`/proc/sys/${name}`, readSysctl(name) === '0' ? '1' : '0');
  for (const [name, value] of Object.entries(WRONG)) writeFileSync(`/proc/sys/${name}`, value);
  return allSettings();
}

const WRONG: Readonly<Record<string, string>> = {
  'net/ipv4/vs/conntrack': '0',
  'net/ipv4/vs/expire_nodest_conn': '0',
  'net/ipv4/vs/expire_quiescent_template': '0',
  'net/ipv4/ip_forward': '0',
  'net/ipv4/conf/all/arp_ignore': '0',
  'net/ipv4/conf/all/arp_announce': '0',
};

/** All readable network settings, except counters and those of kube-ipvs0. */
function allSettings(): Map<string, string> {
  const settings = new Map<string, string>();
  const walk = (folder: string) => {
    for (const name of readdirSync(`/proc/sys/${folder}`)) {
      const path = join(folder, name);
      if (name === 'kube-ipvs0' || /_count$|stat_refresh/.test(name)) continue;
      if (statSync(`/proc/sys/${path}`).isDirectory()) walk(path);
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

const scenario = scenarios('ipvs').find(({ name }) => name === process.argv[2]);
if (!scenario) throw new Error(`there is no recording ${process.argv[2]}`);
process.stdout.write(JSON.stringify(await main(scenario)));
