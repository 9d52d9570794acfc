// The comparison of this proxy with another one: its options and its report.
import type { Machine, Size, Spread } from '../types.js';

/** One of the two proxies. */
export type ProxyName = 'ours' | 'other';

/** A command line that starts a proxy, and how its passes are recognized. */
export interface ProxyCommand {
  readonly name: ProxyName;
  /** For `sh -c`. `{kubeconfig}` and `{node}` are replaced by the path of a kubeconfig and the name of the node. */
  readonly command: string;
  /** Matches the line of its log at the end of a pass. */
  readonly passPattern: RegExp;
}

/** A steady stream of changes. */
export interface StreamOptions {
  /** Changes of endpoints a second. */
  readonly rate: number;
  /** Duration, in s. */
  readonly seconds: number;
}

/** How a proxy keeps up with a stream. Times are in ms, from the change at the API server until a client has the answer of the new endpoint. */
export interface StreamFigure {
  readonly rate: number;
  readonly changes: number;
  /** Changes that no client saw before the next one of the same Service. */
  readonly missed: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  /** CPUs that the process and its ended children used. */
  readonly cpus: number;
  /** Resident memory at the end, in bytes. */
  readonly resident: number;
}

/** The options of a comparison. */
export interface AgainstOptions {
  readonly proxies: readonly ProxyCommand[];
  readonly sizes: readonly Size[];
  /** Starts of each proxy at each size. */
  readonly repetitions: number;
  /** Changes of one endpoint, and of the node, after each start. */
  readonly changes: number;
  /** After these changes. */
  readonly stream?: StreamOptions;
  /** Seed of the clusters. */
  readonly seed: number;
  /** Longest time of a first sync, in ms. */
  readonly timeout: number;
}

/** A proxy at one size. Times are in ms; they end when the line of a pass is read. */
export interface ProxyFigure {
  readonly proxy: ProxyName;
  readonly size: Size;
  /** From the start of the process to the end of its first pass. */
  readonly firstSync: Spread;
  /** From the change of an EndpointSlice at the API server to the end of the next pass. Absent if none followed. */
  readonly endpointChange?: Spread;
  /** The same for a label of the node. */
  readonly nodeChange?: Spread;
  /** CPU time of the process and of its ended children until the end of the first pass, in ms. */
  readonly cpu: Spread;
  /** Resident memory after the first pass (VmRSS), and at its highest (VmHWM), in bytes. */
  readonly resident: Spread;
  readonly peak: Spread;
  /** Processes and threads that were started until the end of the first pass. */
  readonly started: Spread;
  /** The same for one changed endpoint, after a first one. Absent if no pass followed. */
  readonly startedByChange?: Spread;
  /** Of each run. */
  readonly streams: readonly StreamFigure[];
}

/** A proxy that could not be measured. */
export interface FailedProxy {
  readonly proxy: ProxyName;
  readonly size: Size;
  /** With the end of its log. */
  readonly reason: string;
}

/** The result of a comparison. */
export interface AgainstReport {
  readonly version: 1;
  /** RFC 3339. */
  readonly started: string;
  readonly machine: Machine;
  /** Numbers of processes that run or wait for a CPU, mean of a minute, before and after. */
  readonly load: readonly [before: number, after: number];
  /** First line that each command prints with `--version`; absent if it prints none. */
  readonly versions: Readonly<Partial<Record<ProxyName, string>>>;
  readonly commands: Readonly<Record<ProxyName, string>>;
  /** The pattern of the passes of the other proxy. */
  readonly passPattern: string;
  readonly figures: readonly ProxyFigure[];
  readonly failed: readonly FailedProxy[];
}

/** Called before each start of a proxy. */
export type AgainstProgress = (proxy: ProxyName, size: Size, repetition: number) => void;
