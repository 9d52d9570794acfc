// What clients saw. All times are of one monotonic clock, in ms since the start of the recording.
import type { Target } from './frontends.js';
import type { ProxySample } from './growth.js';
import type { Event, FaultName, History } from './history.js';

/**
 * How a client uses a connection: `once` opens one and asks once; `long` asks many times over one TCP connection; `stream`
 * sends many datagrams from one UDP socket.
 */
export type Use = 'once' | 'long' | 'stream';

/** How a request ended. */
export type Result = 'answered' | 'refused' | 'reset' | 'timeout' | 'unreachable';

/** A request of a client. */
export interface Observation {
  readonly use: Use;
  /** The connection or socket; requests of one `long` or `stream` have the same, and the first one opens it. */
  readonly connection: number;
  readonly target: Target;
  readonly began: number;
  readonly ended: number;
  readonly result: Result;
  /** The name of the pod that answered. */
  readonly by?: string;
  /** The source address that the pod saw. */
  readonly seen?: string;
}

/** The result of a request. */
export type Reply = Pick<Observation, 'result' | 'by' | 'seen'>;

/** An event that the API server has stored. */
export interface Change {
  readonly at: number;
  readonly event: Exclude<Event, { readonly do: 'fault' }>;
}

/** A fault that happened. */
export interface FaultPeriod {
  readonly fault: FaultName;
  readonly began: number;
  /** Equal to `began` for damage that is done at once. */
  readonly ended: number;
  /** The time whose objects the API server had during the fault, if it was an earlier one. */
  readonly restored?: number;
  /** Whether the proxy ended during the fault although it should not have, and was started again. */
  readonly died?: boolean;
}

/**
 * The faults, if the proxy ended at a time after the last one because of one: a process that lacks memory takes time to end. That fault then ends
 * at this time. Undefined if no fault explains it.
 */
export function withDeath(faults: readonly FaultPeriod[], at: number): FaultPeriod[] | undefined {
  const cause = faults.findLastIndex(
    ({ fault, died }) => (fault === 'memoryShort' || fault === 'descriptorsShort') && !died,
  );
  const found = faults[cause];
  return found && faults.with(cause, { ...found, ended: at, died: true });
}

/** A time in which the proxy waited for a processor, or what it depends on did: the API server of the run, and programs that it started. */
export interface Wait {
  readonly from: number;
  readonly until: number;
  /** In ms, at most the time itself. */
  readonly waited: number;
}

/** All that happened in a run of a history. */
export interface Recording {
  readonly history: History;
  /** In the order of time, as the other lists. */
  readonly changes: readonly Change[];
  readonly faults: readonly FaultPeriod[];
  readonly observations: readonly Observation[];
  /** Undefined if nobody measured it. */
  readonly waits?: readonly Wait[];
  /** The proxy after the history, without its objects; undefined if nobody measured it. */
  readonly after?: ProxySample;
  /** The end of the recording. */
  readonly ended: number;
}
