// The scenarios and the opponents: their titles, and which opponents each scenario has.
import type { OpponentName, ScenarioName, Size } from './types.js';

/** A scenario as it is shown and selected. */
export interface Scenario {
  readonly name: ScenarioName;
  readonly title: string;
  /** What one operation is: the unit of {@link Figure.operations}. */
  readonly operation: string;
  readonly opponents: readonly OpponentName[];
}

/** Scenarios that need IPVS. */
export const OF_IPVS: ReadonlySet<ScenarioName> = new Set<ScenarioName>([
  'ipvs',
  'full',
  'endpoint',
  'restart',
  'nodeLabel',
  'drain',
  'deletion',
  'audit',
  'memory',
]);

/** Scenarios without a number of Services. They use IPVS where the kernel has it. */
export const SIZELESS: ReadonlySet<ScenarioName> = new Set<ScenarioName>(['oneOperation', 'batch']);

/** An opponent as it is shown and selected. */
export interface Opponent {
  readonly name: OpponentName;
  /** At most 28 characters: the label of a line in a chart. */
  readonly title: string;
  readonly description: string;
}

/** Sizes that are measured by default. */
export const SIZES: readonly Size[] = [100, 1000, 5000, 10_000].map((services) => ({
  services,
  endpoints: 10,
}));

const EACH: readonly OpponentName[] = [
  'ours',
  'raw',
  'rawSingle',
  'single',
  'toolBatch',
  'spawn',
  'execFile',
];

/** All scenarios, in their order. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'ipvs',
    title: 'Add virtual services and real servers',
    operation: 'virtual service or real server',
    opponents: EACH,
  },
  {
    name: 'ipset',
    title: 'Add entries to sets',
    operation: 'entry',
    opponents: ['ours', 'raw', 'rawLibipset', 'rawSingle', 'single', 'toolBatch', 'spawn', 'execFile'],
  },
  { name: 'addresses', title: 'Add addresses to a link', operation: 'address', opponents: EACH },
  {
    name: 'conntrack',
    title: 'Delete the UDP flows of one Service',
    operation: 'deletion',
    opponents: ['ours', 'spawn', 'execFile'],
  },
  { name: 'full', title: 'Full programming of a node', operation: 'change of the kernel', opponents: EACH },
  {
    name: 'endpoint',
    title: 'One endpoint changed',
    operation: 'change of the kernel',
    opponents: ['ours', 'raw', 'rawSingle', 'spawn', 'execFile'],
  },
  {
    name: 'restart',
    title: 'Restart on a programmed kernel',
    operation: 'change of the kernel',
    opponents: ['ours', 'raw'],
  },
  {
    name: 'nodeLabel',
    title: 'Label of the node changed',
    operation: 'change of the kernel',
    opponents: ['ours'],
  },
  {
    name: 'drain',
    title: 'Endpoints of every tenth Service terminate',
    operation: 'change of the kernel',
    opponents: ['ours'],
  },
  {
    name: 'deletion',
    title: 'Deletion of all Services',
    operation: 'change of the kernel',
    opponents: ['ours'],
  },
  {
    name: 'audit',
    title: 'Audit of an unchanged kernel',
    operation: 'change of the kernel',
    opponents: ['ours', 'raw'],
  },
  {
    name: 'fullInMemory',
    title: 'Full programming, kernel in memory',
    operation: 'change of the kernel',
    opponents: ['ours'],
  },
  {
    name: 'nodeLabelInMemory',
    title: 'Label of the node changed, kernel in memory',
    operation: 'change of the kernel',
    opponents: ['ours'],
  },
  { name: 'memory', title: 'Memory of the agent', operation: 'endpoint', opponents: ['ours'] },
  {
    name: 'oneOperation',
    title: 'Library: one operation',
    operation: 'real server',
    opponents: ['ours', 'rawSingle'],
  },
  {
    name: 'batch',
    title: 'Library: batch of 1 000 operations',
    operation: 'real server',
    opponents: ['ours', 'raw'],
  },
];

/** All opponents, in their order. */
export const OPPONENTS: readonly Opponent[] = [
  {
    name: 'raw',
    title: 'raw limit (C++)',
    description:
      'a C++ loop that sends prepared messages, many in one buffer, and the same iptables-restore processes',
  },
  {
    name: 'rawLibipset',
    title: 'raw limit, libipset (C++)',
    description: "the same loop, with entries of sets through libipset's data API",
  },
  { name: 'ours', title: 'kube-netlink-proxy', description: 'this project' },
  {
    name: 'rawSingle',
    title: 'one request each (C++)',
    description: 'the C++ loop with one message in each buffer',
  },
  {
    name: 'single',
    title: 'one request each (Node)',
    description: 'one awaited call of the library for each operation',
  },
  {
    name: 'toolBatch',
    title: "tools' batch modes",
    description: 'one process of ipvsadm -R, ipset restore or ip -batch for all operations of a kind',
  },
  {
    name: 'spawn',
    title: 'one command each (C++)',
    description: 'a process for each operation, started by posix_spawn from C++',
  },
  {
    name: 'execFile',
    title: 'one command each (Node)',
    description: 'a process for each operation, started by execFile of Node',
  },
];
