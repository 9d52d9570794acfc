// The real kernel of this process's network namespace, as a recorded cluster needs it in each mode.
import { readdirSync } from 'node:fs';
import { release } from 'node:os';
import { openNfacct } from '../../../src/command/kernel/nfacct/index.js';
import { createCounters } from '../../../src/command/modes/iptables/open.js';
import { openIpvsKernel } from '../../../src/command/modes/ipvs/parts.js';
import { openHostKernel } from '../../../src/command/modes/shared/hostKernel.js';
import type {
  Item as IptablesItem,
  Operation as IptablesModeOperation,
} from '../../../src/proxy/modes/iptables/index.js';
import type { Item as IpvsItem, Operation as IpvsOperation } from '../../../src/proxy/modes/ipvs/index.js';
import type { KeyedOperation } from '../../../src/proxy/modes/mode.js';
import {
  feed,
  layOut,
  readSysctl,
  SYSCTLS,
  toolOutput,
  tools,
  VIRTUAL_SERVICES,
} from '../namespaces/tools.js';
import type { RecordedMode, Scenario, ToolOutput } from './oracle.js';
import { IptablesNode, IpvsNode, type TestNode } from './testNode.js';

/** A kernel that a mode programs. */
export interface RecordedKernel<Item, Operation extends KeyedOperation<Item>> {
  readonly mode: RecordedMode;
  /** A node on this kernel. */
  newNode(scenario: Scenario): TestNode<Item, Operation>;
  /** Creates items of other programs, which must stay. */
  addOthers(): void;
  /** The state of a recording, without items of other programs. */
  output(): ToolOutput;
  /** All items of any program, one per line, without values that change over time. */
  everything(): string[];
  /** Wrong values of the settings that the mode may write. */
  readonly settings: Readonly<Record<string, string>>;
}

type Run<Item, Operation extends KeyedOperation<Item>, Result> = (
  kernel: RecordedKernel<Item, Operation>,
) => Promise<Result>;

/** Opens the kernel for a mode, runs, and closes it. In ipvs mode, nothing of any program is left for the next recording. */
export const RECORDED_KERNELS = {
  async ipvs<Result>(scenario: Scenario, run: Run<IpvsItem, IpvsOperation, Result>): Promise<Result> {
    layOut(scenario);
    const kernel = await openIpvsKernel(false);
    const report = await run({
      mode: 'ipvs',
      newNode: (cluster) => new IpvsNode(cluster, kernel, release()),
      addOthers: () => feed([...otherRules(), ...OTHER_SERVERS]),
      output: withoutOtherServers,
      everything: () => everything(VIRTUAL_SERVICES, 'ipset save'),
      settings: WRONG_SETTINGS,
    });
    kernel.close();
    clear();
    return report;
  },

  async iptables<Result>(
    _scenario: Scenario,
    run: Run<IptablesItem, IptablesModeOperation, Result>,
  ): Promise<Result> {
    const kernel = await openHostKernel();
    await addCounters();
    const report = await run({
      mode: 'iptables',
      newNode: (cluster) => new IptablesNode(cluster, kernel),
      addOthers: () => {
        if (!everything().some((line) => line.includes('SOMEBODY'))) feed(otherRules());
      },
      output: () => {
        const [iptables = '', ip6tables = ''] = tools('iptables-save', 'ip6tables-save');
        const localnet = readSysctl('net/ipv4/conf/all/route_localnet');
        const sysctl = `net.ipv4.conf.all.route_localnet = ${localnet}\n`;
        return { ipvsadm: '', ipset: '', iptables, ip6tables, address: '', sysctl };
      },
      everything: () => everything(),
      settings: { 'net/ipv4/conf/all/route_localnet': '0' },
    });
    kernel.close();
    return report;
  },
};

const OTHER_RULES =
  '*filter\n:SOMEBODY - [0:0]\n-A INPUT -m comment --comment "not ours" -j SOMEBODY\nCOMMIT\n' +
  '*nat\n:SOMEBODY - [0:0]\n-A OUTPUT -j SOMEBODY\nCOMMIT\n';

function otherRules(): (readonly [command: string, input: string])[] {
  return ['iptables-restore', 'ip6tables-restore'].map((program) => [`${program} --noflush`, OTHER_RULES]);
}

const OTHER_SERVERS: readonly (readonly [command: string, input: string])[] = [
  ['ipset restore', 'create somebody-elses hash:ip\nadd somebody-elses 198.51.100.97\n'],
  [
    'ipvsadm -R',
    '-A -t 198.51.100.99:80 -s wlc\n-a -t 198.51.100.99:80 -r 198.51.100.98:80 -m -w 5\n-A -f 77 -s rr\n',
  ],
];

const NO_RULES = '*nat\nCOMMIT\n*filter\nCOMMIT\n*mangle\nCOMMIT\n';

/** lo, and what a namespace has of drivers that are loaded or built in: a file of bonding, and tunnels that cannot be deleted. */
const KEPT = /^(lo|bonding_masters|(erspan|gre|gretap|ip6gre|ip6tnl|ip6_vti|ip_vti|sit|tunl)0)$/;

/** Removes all virtual services, rules, sets and links of the namespace. Settings stay: each recording writes them first. */
function clear(): void {
  const links = readdirSync('/sys/class/net').filter((link) => !KEPT.test(link));
  feed([
    ['ipvsadm -C', ''],
    ['iptables-restore', NO_RULES],
    ['ip6tables-restore', NO_RULES],
    ['ipset destroy', ''],
    ['ip -batch -', links.map((link) => `link delete ${link}\n`).join('')],
  ]);
}

/** The state without foreign virtual services; recordings do not include foreign sets and chains. */
function withoutOtherServers(): ToolOutput {
  const output = toolOutput();
  const ipvsadm = output.ipvsadm.split('\n').filter((line) => !/198\.51\.100\.99|-f 77/.test(line));
  return { ...output, ipvsadm: ipvsadm.join('\n') };
}

/**
 * Names of links, chains and rules of both families, and the lines that other tools print. Tables without chains and rules are left
 * out: reading a table can create it.
 */
function everything(...others: readonly string[]): string[] {
  const [links = '', ipv4 = '', ipv6 = '', ...rest] = tools(
    'ip -o link',
    'iptables-save',
    'ip6tables-save',
    ...others,
  );
  return [
    ...rest.flatMap((text) => text.split('\n')),
    ...links.split('\n').map((line) => line.split(':')[1] ?? ''),
    ...rulesIn('IPv4', ipv4),
    ...rulesIn('IPv6', ipv6),
  ];
}

function rulesIn(family: string, saved: string): string[] {
  let table = '';
  return saved.split('\n').flatMap((line) => {
    if (line.startsWith('*')) table = line.slice(1);
    if (!/^(-A|:\S+ -) /.test(line)) return [];
    return [`${family} ${table} ${line.replace(/ \[\d+:\d+\]$/, '')}`];
  });
}

/** The value that the mode changes, or keeps, in each case. */
const WRONG_SETTINGS = Object.fromEntries(SYSCTLS.map((name) => [name, '0']));

/** Creates the counters to which rules refer. */
async function addCounters(): Promise<void> {
  const nfacct = await openNfacct();
  await createCounters(nfacct);
  nfacct.close();
}
