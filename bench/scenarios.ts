// The scenarios and the methods: their titles, and which methods each scenario has.
import { NFTABLES_SCENARIOS, SCALABLE_SCENARIOS } from './nftables/scenarios.js';
import type { LifeName, MethodName, ModeName, ScenarioName, Size } from './types.js';

/** A scenario as it is shown and selected. */
export interface Scenario {
  readonly name: ScenarioName;
  readonly title: string;
  /** Sentences for readers of the report. */
  readonly description: string;
  /** The unit of {@link Figure.operations}. */
  readonly operation: string;
  readonly methods: readonly MethodName[];
  /** Greatest number of Services for a method whose time grows faster than the size; the description has it too. */
  readonly most?: Partial<Readonly<Record<MethodName, number>>>;
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

/** The life of a proxy, as scenarios. */
export interface Life {
  readonly mode: ModeName;
  /** Of nftables mode. Absent: that of kube-proxy. */
  readonly layout?: 'scalable';
  readonly full: ScenarioName;
  readonly nodeLabel?: ScenarioName;
  readonly endpoint: ScenarioName;
  readonly restart: ScenarioName;
  readonly audit?: ScenarioName;
  readonly drain?: ScenarioName;
  readonly deletion?: ScenarioName;
  /** One Service is added. */
  readonly service?: ScenarioName;
  /** One endpoint of each of many Services is replaced at once. */
  readonly endpoints?: ScenarioName;
  /** The memory of the agent. */
  readonly memory?: ScenarioName;
  /** With a kernel in memory. */
  readonly inMemory?: {
    readonly full: ScenarioName;
    readonly nodeLabel?: ScenarioName;
    readonly endpoint?: ScenarioName;
  };
}

/** The lives of the proxy. */
export const LIVES: Readonly<Record<LifeName, Life>> = {
  ipvs: {
    mode: 'ipvs',
    full: 'full',
    nodeLabel: 'nodeLabel',
    endpoint: 'endpoint',
    restart: 'restart',
    audit: 'audit',
    drain: 'drain',
    deletion: 'deletion',
    memory: 'memory',
    inMemory: { full: 'fullInMemory', nodeLabel: 'nodeLabelInMemory' },
  },
  iptables: {
    mode: 'iptables',
    full: 'iptablesFull',
    nodeLabel: 'iptablesNodeLabel',
    endpoint: 'iptablesEndpoint',
    restart: 'iptablesRestart',
    audit: 'iptablesAudit',
    inMemory: { full: 'iptablesFullInMemory', endpoint: 'iptablesEndpointInMemory' },
  },
  nftables: {
    mode: 'nftables',
    full: 'nftablesFull',
    nodeLabel: 'nftablesNodeLabel',
    endpoint: 'nftablesEndpoint',
    service: 'nftablesService',
    endpoints: 'nftablesEndpoints',
    restart: 'nftablesRestart',
    audit: 'nftablesAudit',
    memory: 'nftablesMemory',
    inMemory: { full: 'nftablesFullInMemory', endpoint: 'nftablesEndpointInMemory' },
  },
  scalable: {
    mode: 'nftables',
    layout: 'scalable',
    full: 'scalableFull',
    endpoint: 'scalableEndpoint',
    restart: 'scalableRestart',
    memory: 'scalableMemory',
  },
};

/** The names of the lives, in the order in which they are measured. */
export const LIFE_NAMES = Object.keys(LIVES) as readonly LifeName[];

/** The life of the proxy of which a scenario is. */
export function lifeOf(scenario: ScenarioName): LifeName {
  return LIFE_NAMES.find((name) => scenario.startsWith(name)) ?? 'ipvs';
}

/** Scenarios that do not depend on the number of Services. Those of the library use IPVS where the kernel has it. */
export const SIZELESS: ReadonlySet<ScenarioName> = new Set<ScenarioName>([
  'rules',
  'rulesAgain',
  'oneOperation',
  'batch',
]);

/** A method as it is shown and selected. */
export interface Method {
  readonly name: MethodName;
  /** At most 28 characters: the label of a line in a chart. */
  readonly title: string;
  readonly description: string;
}

/** Sizes that are measured by default. */
export const SIZES: readonly Size[] = [100, 1000, 5000, 10_000].map((services) => ({
  services,
  endpoints: 10,
}));

const EACH: readonly MethodName[] = ['ours', 'raw', 'rawSingle', 'single', 'toolBatch', 'spawn', 'execFile'];

/** All scenarios, in their order. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'ipvs',
    title: 'Add virtual services and real servers',
    description: 'A virtual service for each Service, and a real server in it for each endpoint.',
    operation: 'virtual service or real server',
    methods: EACH,
  },
  {
    name: 'ipset',
    title: 'Add entries to sets',
    description:
      'One entry for each Service in a set of type hash:ip,port, and one in a set of type hash:ip.',
    operation: 'entry',
    methods: ['ours', 'raw', 'rawLibipset', 'rawSingle', 'single', 'toolBatch', 'spawn', 'execFile'],
  },
  {
    name: 'addresses',
    title: 'Add addresses to a link',
    description: 'One address for each Service on a link that is down.',
    operation: 'address',
    methods: EACH,
  },
  {
    name: 'conntrack',
    title: 'Delete the UDP flows of one Service',
    description: 'Four flows of each Service exist. Those of one Service are found and deleted.',
    operation: 'deletion',
    methods: ['ours', 'spawn', 'execFile'],
  },
  {
    name: 'rules',
    title: 'Save and restore the rules',
    description:
      'iptables-save and iptables-restore for both families, with the rules of ipvs mode, as at the start of the proxy. kube-netlink-proxy starts as many processes as the other ways: its iptables-restore of each family keeps running.',
    operation: 'save or restore',
    methods: ['ours', 'raw', 'execFile'],
  },
  {
    name: 'rulesAgain',
    title: 'Restore the rules again',
    description:
      'The same rules are restored once more. The iptables-restore of kube-netlink-proxy runs since the first restore; the other ways start one for each family.',
    operation: 'restore',
    methods: ['ours', 'raw', 'execFile'],
  },
  {
    name: 'full',
    title: 'Full programming of a node',
    description:
      'All sets, entries, rules, virtual services, real servers and addresses that a node needs, in an empty kernel. kube-netlink-proxy also reads the kernel, and computes from the objects what the node needs; the other ways begin with the finished list.',
    operation: 'change of the kernel',
    methods: EACH,
  },
  {
    name: 'endpoint',
    title: 'One endpoint changed',
    description:
      'One endpoint of one Service is replaced: a real server is added, and another one deleted. The time of kube-netlink-proxy is from the report of the change to the acknowledgement of the kernel.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'rawSingle', 'spawn', 'execFile'],
  },
  {
    name: 'restart',
    title: 'Restart on a programmed kernel',
    description:
      'A new process finds the kernel as it must be. It reads and compares everything, and changes nothing. The raw limit only reads.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
  {
    name: 'nodeLabel',
    title: 'Label of the node changed',
    description: 'The zone of the node changes, on which no Service depends.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'drain',
    title: 'Endpoints of every tenth Service terminate',
    description:
      'All endpoints of every tenth Service terminate: each real server gets the weight 0 until its connections end.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'deletion',
    title: 'Deletion of all Services',
    description: 'All Services and EndpointSlices are deleted, and the kernel is empty again.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'audit',
    title: 'Audit of an unchanged kernel',
    description: 'The periodic comparison with a kernel that nobody has changed. The raw limit only reads.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
  {
    name: 'fullInMemory',
    title: 'Full programming, kernel in memory',
    description:
      'The same as the full programming of a node, with functions in place of the kernel that accept everything: the work of the process alone.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'nodeLabelInMemory',
    title: 'Label of the node changed, kernel in memory',
    description: 'The same as the label of the node, with functions in place of the kernel.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'iptablesFull',
    title: 'iptables mode: full programming',
    description:
      'All chains and rules that a node needs in iptables mode, in an empty kernel. kube-netlink-proxy also reads the kernel, computes the rules from the objects, and sends them in pieces of 256 Services. The raw limit and the commands restore the same finished pieces; the batch mode restores everything of a family at once, of at most 1 000 Services, because the time of iptables-restore grows faster than its input.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch', 'execFile'],
    most: { toolBatch: 1000 },
  },
  {
    name: 'iptablesEndpoint',
    title: 'iptables mode: one endpoint changed',
    description:
      'One endpoint of one Service is replaced. The time of kube-netlink-proxy is from the report of the change to the acknowledgement of iptables-restore; the other ways restore the same finished rules.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'execFile'],
  },
  {
    name: 'iptablesRestart',
    title: 'iptables mode: restart on a programmed kernel',
    description:
      'A new process finds the rules as they must be. It reads and compares all of them, and changes nothing. The raw limit only runs iptables-save for each family.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
  {
    name: 'iptablesNodeLabel',
    title: 'iptables mode: label of the node changed',
    description: 'The zone of the node changes, on which no Service depends.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'iptablesAudit',
    title: 'iptables mode: audit of unchanged rules',
    description:
      'The periodic comparison with rules that nobody has changed. The raw limit only runs iptables-save for each family.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
  {
    name: 'iptablesFullInMemory',
    title: 'iptables mode: full programming, kernel in memory',
    description:
      'The same as the full programming in iptables mode, with functions in place of the programs: the work of the process alone, with the input for iptables-restore.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'iptablesEndpointInMemory',
    title: 'iptables mode: one endpoint changed, kernel in memory',
    description:
      'The same as one endpoint in iptables mode, with functions in place of the programs: the work of the process alone, with the input for iptables-restore.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  ...NFTABLES_SCENARIOS,
  ...SCALABLE_SCENARIOS,
  {
    name: 'memory',
    title: 'Memory of the agent',
    description:
      'Resident memory of the command as an agent, with the objects of an API server in another process.',
    operation: 'endpoint',
    methods: ['ours'],
  },
  {
    name: 'nftablesMemory',
    title: 'nftables mode: memory of the agent',
    description:
      'Resident memory of the command as an agent in nftables mode, with the objects of an API server in another process.',
    operation: 'endpoint',
    methods: ['ours'],
  },
  {
    name: 'scalableMemory',
    title: 'nftables mode, layout scalable: memory of the agent',
    description:
      'Resident memory of the command as an agent in nftables mode with --nftables-layout scalable, with the objects of an API server in another process.',
    operation: 'endpoint',
    methods: ['ours'],
  },
  {
    name: 'oneOperation',
    title: 'Library: one operation',
    description:
      '500 additions, each awaited before the next one. They are real servers; without IPVS, addresses.',
    operation: 'real server',
    methods: ['ours', 'rawSingle'],
  },
  {
    name: 'batch',
    title: 'Library: batch of 1 000 operations',
    description: '1 000 additions in one call. They are real servers; without IPVS, addresses.',
    operation: 'real server',
    methods: ['ours', 'raw'],
  },
];

/** All methods, in their order. */
export const METHODS: readonly Method[] = [
  {
    name: 'raw',
    title: 'raw limit (C++)',
    description:
      'a C++ loop that sends prepared messages, many in one buffer, and starts iptables-restore by posix_spawn with the same input',
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
    title: 'one request each (Node.js)',
    description: 'one awaited call of the library for each operation',
  },
  {
    name: 'toolBatch',
    title: "tools' batch modes",
    description:
      'one process of ipvsadm -R, ipset restore, ip -batch or iptables-restore for all operations of a kind, or of nft -f for all',
  },
  {
    name: 'spawn',
    title: 'one command each (C++)',
    description: 'a process for each operation, started by posix_spawn from C++',
  },
  {
    name: 'execFile',
    title: 'one command each (Node.js)',
    description:
      'a process for each operation, started by execFile of Node.js; for nftables, nft -f for each change',
  },
];
