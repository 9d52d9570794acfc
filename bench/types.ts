// The types of the benchmark: what is measured, how, and the report.

/** One group of operations whose cost is measured. Titles are in `scenarios.ts`. */
export type ScenarioName =
  /** Virtual services, and real servers in them. */
  | 'ipvs'
  /** Entries of two sets: hash:ip,port and hash:ip. */
  | 'ipset'
  /** Addresses of a link that is down. */
  | 'addresses'
  /** Deletion of the UDP flows of one address, among flows of all addresses. */
  | 'conntrack'
  /** The rules of ipvs mode: those of both families are saved and restored. */
  | 'rules'
  /** The same rules are restored once more. */
  | 'rulesAgain'
  /** Everything that a node needs: sets, entries, rules, virtual services, real servers, addresses. */
  | 'full'
  /** One endpoint of one Service is replaced: from the source's report to the kernel's acknowledgement. */
  | 'endpoint'
  /** A start of the proxy on a kernel that is already programmed. */
  | 'restart'
  /** The zone of the node changes, and nothing follows. */
  | 'nodeLabel'
  /** All endpoints of every tenth Service terminate. */
  | 'drain'
  /** All Services and EndpointSlices are deleted. */
  | 'deletion'
  /** One audit of an unchanged kernel. */
  | 'audit'
  /** The proxy's own part of `full`: the kernel is replaced by functions that accept everything. */
  | 'fullInMemory'
  /** `nodeLabel` on the same kernel. */
  | 'nodeLabelInMemory'
  /** iptables mode: everything that a node needs, in an empty kernel. */
  | 'iptablesFull'
  /** iptables mode: one endpoint of one Service is replaced. */
  | 'iptablesEndpoint'
  /** iptables mode: a start of the proxy on a kernel that is already programmed. */
  | 'iptablesRestart'
  /** iptables mode: the zone of the node changes, and nothing follows. */
  | 'iptablesNodeLabel'
  /** iptables mode: one audit of an unchanged kernel. */
  | 'iptablesAudit'
  /** The proxy's own part of `iptablesFull`, with the text for iptables-restore. */
  | 'iptablesFullInMemory'
  /** The proxy's own part of `iptablesEndpoint`, with the text for iptables-restore. */
  | 'iptablesEndpointInMemory'
  /** nftables mode: everything that a node needs, in an empty kernel. */
  | 'nftablesFull'
  /** nftables mode: one endpoint of one Service is replaced. */
  | 'nftablesEndpoint'
  /** nftables mode: one Service is added, with its endpoints. */
  | 'nftablesService'
  /** nftables mode: one endpoint of each of 1 000 Services is replaced, reported at once. */
  | 'nftablesEndpoints'
  /** nftables mode: a start of the proxy on a kernel that is already programmed. */
  | 'nftablesRestart'
  /** nftables mode: the zone of the node changes, and nothing follows. */
  | 'nftablesNodeLabel'
  /** nftables mode: one audit of an unchanged kernel. */
  | 'nftablesAudit'
  /** The proxy's own part of `nftablesFull`: transactions are written, and not sent. */
  | 'nftablesFullInMemory'
  /** The proxy's own part of `nftablesEndpoint`. */
  | 'nftablesEndpointInMemory'
  /** nftables mode with layout `scalable`: everything that a node needs, in an empty kernel. */
  | 'scalableFull'
  /** The same layout: one endpoint of one Service is replaced. */
  | 'scalableEndpoint'
  /** The same layout: a start of the proxy on a kernel that is already programmed. */
  | 'scalableRestart'
  /** Memory of the command as an agent: a {@link MemoryFigure}, and no {@link Figure}. */
  | 'memory'
  /** The same in nftables mode. */
  | 'nftablesMemory'
  /** The same in nftables mode with layout `scalable`. */
  | 'scalableMemory'
  /** The library: one addition of a real server; without IPVS, of an address. */
  | 'oneOperation'
  /** The library: one batch of 1 000 additions of real servers; without IPVS, of addresses. */
  | 'batch';

/** A mode of the proxy. */
export type ModeName = 'ipvs' | 'iptables' | 'nftables';

/** A proxy whose life is measured: a mode, or nftables mode with layout `scalable`. */
export type LifeName = ModeName | 'scalable';

/** A method to carry out the operations of a scenario. Titles are in `scenarios.ts`. */
export type MethodName =
  /** This project: the proxy where the scenario has Services, else the library with batches. */
  | 'ours'
  /** A C++ loop that sends prepared messages, many in one buffer; for rules, `iptables-restore` with the same input, by posix_spawn. */
  | 'raw'
  /** The same loop, with entries of sets through libipset's data API. Only ipset. */
  | 'rawLibipset'
  /** The same loop with one message in each buffer. */
  | 'rawSingle'
  /** The library with one awaited call for each operation. */
  | 'single'
  /** The batch modes of the tools: `ipvsadm -R`, `ipset restore`, `ip -batch`, one `iptables-restore`, `nft -f`. */
  | 'toolBatch'
  /** A process for each operation with posix_spawn, from C++. */
  | 'spawn'
  /** A process for each operation with execFile of Node.js. */
  | 'execFile';

/** Size of a cluster. */
export interface Size {
  readonly services: number;
  /** Endpoints of each Service. */
  readonly endpoints: number;
}

/** Values of repeated runs, in their order. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
  readonly values: readonly number[];
}

/** CPU time of the process with all its threads, and of its children, in ms. */
export interface CpuTime {
  readonly user: number;
  readonly system: number;
  readonly children: number;
}

/** One scenario, at one size, by one method. */
export interface Figure {
  readonly scenario: ScenarioName;
  readonly method: MethodName;
  readonly size: Size;
  /** Operations of the whole scenario. */
  readonly operations: number;
  /**
   * Operations that were measured, if fewer: `wall`, `cpu`, `processes` and `messages` are then extrapolated, linearly with the
   * number of operations.
   */
  readonly sample?: number;
  /** Time of each run, in ms, without the warm-up. */
  readonly wall: Spread;
  /** Sum of user, system and children, in ms. */
  readonly cpu: Spread;
  /** Of the median run by `wall`. */
  readonly cpuTime: CpuTime;
  /** Time of the warm-up, in ms: code that is not compiled yet. Only at the least size. */
  readonly first?: number;
  /** Resident memory of this process before the run, in bytes: the price of each fork depends on it. Median. */
  readonly parentMemory: number;
  /** Highest resident memory of this process during the run, in bytes. Median. */
  readonly peakMemory: number;
  /** Processes that were started. */
  readonly processes: number;
  /** Bytes of input for iptables-restore, without the marks that acknowledge it, median. Only scenarios with Services by `ours`. */
  readonly input?: number;
  /** Messages sent to the kernel by netlink, where this process sends them. */
  readonly messages?: number;
  /** System calls of the process and of its children, counted by strace in a run of its own. Absent if not counted. */
  readonly systemCalls?: number;
  /** Longest time for which the event loop was blocked, in ms, median. Only scenarios with Services by `ours`. */
  readonly longestBlock?: number;
  /** Heap that the proxy keeps after the pass, with its objects, after a garbage collection, in bytes. Only `fullInMemory`. */
  readonly heap?: number;
  /** Time until the cluster's DNS Service and the API's own were complete in the kernel, in ms. Only `full` by `ours`. */
  readonly firstService?: Spread;
}

/** Memory of the command as an agent, with the objects of an API server in another process. */
export interface MemoryFigure {
  readonly size: Size;
  /** Absent: ipvs mode. */
  readonly mode?: Exclude<ModeName, 'ipvs'>;
  /** Absent: that of kube-proxy. */
  readonly layout?: 'scalable';
  /** Resident memory without any Service, in bytes. */
  readonly idleResident: number;
  /** Resident memory after the first pass, in bytes. */
  readonly resident: number;
}

/** A figure that could not be measured. */
export interface Unavailable {
  readonly scenario: ScenarioName;
  /** Absent if it concerns all methods. */
  readonly method?: MethodName;
  /** `the kernel has no IPVS`, `the tool ipvsadm is missing: install the package ipvsadm`. */
  readonly reason: string;
}

/** The machine and the programs. */
export interface Machine {
  /** `uname -r`. */
  readonly kernel: string;
  readonly architecture: string;
  readonly processor: string;
  readonly processors: number;
  /** In bytes. */
  readonly memory: number;
  /** `User Mode Linux`, `QEMU`, or `virtual machine` for others; absent on hardware or if unknown. */
  readonly virtualization?: string;
  readonly node: string;
  /** Version of this package. */
  readonly version: string;
  /** First line of each tool's version, by its name. Absent tools are left out. */
  readonly tools: Readonly<Record<string, string>>;
}

/** The options of a benchmark. */
export interface BenchOptions {
  readonly sizes: readonly Size[];
  readonly scenarios: readonly ScenarioName[];
  readonly methods: readonly MethodName[];
  /** Measured runs of each figure, at most. At the least size a warm-up precedes them. */
  readonly repetitions: number;
  /** Time for the runs of each figure, in s. No run starts that would exceed it, but every figure has one run. */
  readonly budget: number;
  /** Seed of the clusters. */
  readonly seed: number;
  /** Commands of the methods that start a process for each operation, at most. */
  readonly sample: number;
  /** Whether to count system calls with strace, at the smallest size, in a run of its own. */
  readonly countSystemCalls: boolean;
}

/** What the benchmark does now. */
export interface Step {
  readonly scenario: ScenarioName;
  readonly method: MethodName;
  readonly size: Size;
  /** 0 is the warm-up. */
  readonly repetition: number;
}

/** Reports of a benchmark under way. */
export interface BenchEvents {
  /** Before the first step: all steps, in their order. `weight` is proportional to the expected time. */
  planned?(steps: readonly (Step & { readonly weight: number })[]): void;
  started?(step: Step): void;
  /** The step ended, or was left out for lack of time; it may have failed, then it is in {@link BenchReport.unavailable}. */
  ended?(step: Step): void;
}

/** How a target is computed, and from which figures. */
export interface TargetDefinition {
  /** Stable, for programs: `full-to-raw`. */
  readonly id: string;
  /** A sentence part for people: `full programming, 10 000 x 10: wall ÷ raw limit`. */
  readonly name: string;
  readonly relation: '≤' | '≥' | '=';
  readonly limit: number;
  /** `''` for ratios and counts. */
  readonly unit: '' | 'ms' | 'MB' | 'B';
  /** Its value; a string is the reason why it was not measured. */
  readonly compute: (figures: TargetInput) => number | string;
}

/** The figures from which targets are computed. */
export interface TargetInput {
  readonly figures: readonly Figure[];
  readonly memory: readonly MemoryFigure[];
  readonly unavailable: readonly Unavailable[];
  /** Whether code and system calls take the time that they take on hardware: neither User Mode Linux nor QEMU. */
  readonly native: boolean;
}

/** A target with its value. */
export interface TargetResult {
  readonly id: string;
  readonly name: string;
  /** `≤ 1.25`, `≤ 80 MB`. */
  readonly target: string;
  /** Absent if it was not measured. */
  readonly value?: number;
  /** Absent if it was not measured. */
  readonly met?: boolean;
  /** Why it was not measured. */
  readonly reason?: string;
}

/** The result of a benchmark. */
export interface BenchReport {
  readonly version: 1;
  /** RFC 3339. */
  readonly started: string;
  /** Duration of the whole benchmark, in s. */
  readonly duration: number;
  readonly machine: Machine;
  readonly options: BenchOptions;
  readonly figures: readonly Figure[];
  readonly memory: readonly MemoryFigure[];
  readonly unavailable: readonly Unavailable[];
  readonly targets: readonly TargetResult[];
}
