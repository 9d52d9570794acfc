// One recorded cluster on the real kernel of the network namespace that this process runs in. Prints what it found as
// JSON: everything in it has to be as the test says, so that a namespace costs one process.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { openIpvsKernel } from '../../src/modes/ipvs/open.js';
import { cleanUp } from '../../src/reconcile/cleanUp.js';
import { differences, type Scenario, scenarios } from '../support/oracle.js';
import { TestNode } from '../support/testNode.js';
import { feed, layOut, readSysctl, SYSCTLS, tool, toolOutput, tools } from '../support/tools.js';

/** What a scenario came to. */
export interface ScenarioReport {
  /** Differences from the recording after each step. */
  readonly steps: readonly {
    readonly step: string;
    readonly differences: string[];
    readonly again: number;
  }[];
  /** Operations of a process started after the last step. */
  readonly restarted: number;
  /** Differences when started at the last step, with nothing there. */
  readonly fromNothing: readonly string[];
  /** Settings that were written: name → value. */
  readonly settings: Readonly<Record<string, string>>;
  /** `ipvsadm -L --timeout` after the last step. */
  readonly timeouts: string;
  /** Lines that cleaning up left, and lines of others that it took. */
  readonly cleanUp: { readonly left: readonly string[]; readonly differences: readonly string[] };
  /** Operations that failed, anywhere. */
  readonly failures: readonly string[];
}

async function main(scenario: Scenario): Promise<ScenarioReport> {
  layOut(scenario);
  const kernel = await openIpvsKernel(false);
  const failures: string[] = [];
  const newNode = () => new TestNode(scenario, kernel, release());
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
  // With one step, starting at the last is what has just been tried.
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

/** Things of others, which must survive everything; what is there then, line by line. */
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

/** The state without the bystanders' virtual services: their sets and chains are none that a recording speaks of. */
function withoutBystanders() {
  const output = toolOutput();
  const theirs = /198\.51\.100\.99|-f 77/;
  const ipvsadm = output.ipvsadm.split('\n').filter((line) => !theirs.test(line));
  return { ...output, ipvsadm: ipvsadm.join('\n') };
}

/** Virtual services, sets, rules and links, a line each, without what changes by itself. */
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

/** Every setting that ipvs mode may write is given a wrong value first. */
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

/** Every network setting that can be read, but for those of our own device, and counters. */
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

/** Some settings can only be written. */
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
