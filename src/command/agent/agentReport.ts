// The state of the agent for the command `status`: /status of the metrics server.

import type { Family } from '../../kernel/net/address.js';
import type { ContactState, ResourceContact } from '../../proxy/api/contact.js';
import type { SyncSummary } from '../../proxy/reconcile/summary.js';
import type { ConfigurationReport } from './followConfiguration.js';
import type { LeftOut } from './leftOut.js';
import type { ProxyListener } from './listeners.js';

/** Number of failures and of problems that are listed. */
const LISTED = 100;

/** A failed operation. */
export interface FailureReport {
  /** The key of its item. */
  readonly item: string;
  /** The Services that need the item, `namespace/name`; none for items of the node, and for items to be removed. */
  readonly services: readonly string[];
  /** The fields that lead to what the kernel refused, with their objects and values; none if they are unknown. */
  readonly fields: readonly string[];
  readonly code: string;
  readonly message: string;
}

/** The last pass. */
interface PassReport {
  /** RFC 3339. */
  readonly endedAt: string;
  /** It read the kernel before it compared all items. */
  readonly full: boolean;
  /** Number of Services that it planned. */
  readonly services: number;
  readonly operations: number;
  /** From the arrival of its oldest change to its start. Absent without a change. */
  readonly waitMilliseconds?: number;
  readonly planMilliseconds: number;
  readonly kernelMilliseconds: number;
  /** Number of operations that failed; they are retried. */
  readonly failed: number;
  /** Number of items whose last operation failed, in this pass or before it. */
  readonly unknown: number;
  /** The first 100 of them. */
  readonly failures: readonly FailureReport[];
}

/** A mode that ran on this node before, and whose state is still in the kernel. */
export interface FormerModeReport {
  readonly mode: string;
  /** Number of connections that use the state; it stays until they end, or for 15 minutes. */
  readonly connections: number;
  /** Why the state could not be removed; null if nothing failed. */
  readonly error: string | null;
}

/** The contact with the API server for one resource. Times are RFC 3339. */
export interface ContactReport {
  /** `endpointslices`. */
  readonly resource: string;
  /** `lost`: for 30 s, no request has succeeded. */
  readonly state: ContactState;
  /** Since when the state is this one. */
  readonly since: string;
  /** The last event, bookmark or successful answer; null before the first. */
  readonly lastContact: string | null;
  /** Why the last request failed; null after a success. */
  readonly error: string | null;
}

/** What the agent knows of its Node object: not read yet, read and not there, seen, or deleted since. */
type NodeObjectState = 'unread' | 'missing' | 'seen' | 'deleted';

/** The state of the agent. */
export interface AgentReport {
  /** `0.1.0`. */
  readonly version: string;
  readonly node: string;
  /** `ipvs`, `iptables` or `nftables`. */
  readonly mode: string;
  readonly families: readonly Family[];
  /** Start of the process, RFC 3339. */
  readonly startedAt: string;
  /** What is known of the Node object. Absent if the source is manifests. */
  readonly nodeObject?: NodeObjectState;
  /** The contact with the API server. Absent if the source is manifests. */
  readonly contacts?: readonly ContactReport[];
  /** null before the first pass ends. */
  readonly lastPass: PassReport | null;
  /** Errors of what all Services need, as settings and chains: while there are any, nothing of a former mode is removed. Absent: none. */
  readonly lacking?: readonly string[];
  /** Why the kernel could not be read after the last pass; null if it could. */
  readonly kernelError: string | null;
  /** Number of operations that repaired changes by other programs, since the start. */
  readonly repaired: number;
  /** Number of items that the last audit repaired and the audit before it repaired too. Absent: none. */
  readonly repeated?: number;
  /** Options that have no effect on this node, each with the reason. Absent: none. */
  readonly withoutEffect?: readonly string[];
  /** Base chains of other programs in the tables of the mode, which stay. Absent: none. */
  readonly foreignChains?: readonly string[];
  /** Names of other nodes that do not answer this one: their endpoints get no new connections. Absent: none. */
  readonly unreachableNodes?: readonly string[];
  /** Number of real servers with weight 0 whose connections have not ended. Absent in modes without real servers. */
  readonly draining?: number;
  /** Former modes with state in the kernel. Absent if there are none. */
  readonly formerModes?: readonly FormerModeReport[];
  /** The configuration file. Absent if there is none. */
  readonly configuration?: ConfigurationReport;
  /** Number of problems of objects that are left out, completely or partly. */
  readonly leftOut: number;
  /** The first 100 of them. */
  readonly problems: readonly string[];
}

/** Collects the state from the events of a proxy. */
export class AgentState {
  readonly #about: Pick<AgentReport, 'version' | 'node' | 'mode' | 'families' | 'startedAt'>;
  readonly #leftOut: Pick<LeftOut, 'lines'>;
  readonly #now: () => number;
  readonly #contacts: (() => readonly ResourceContact[]) | undefined;
  /** Undefined if the source is manifests. */
  nodeObject: NodeObjectState | undefined;
  #lastPass: PassReport | null = null;
  #lacking: readonly string[] = [];
  #kernelError: string | null = null;
  #repaired = 0;
  #repeated = 0;
  #draining: number | undefined;
  readonly #unreachableNodes = new Set<string>();
  /** The configuration file that is followed, if there is one. */
  configurationFile: { readonly report: ConfigurationReport } | undefined;
  /** Texts of the base chains of other programs in the tables of the mode. */
  foreignChains: () => readonly string[] = () => [];
  /** See {@link AgentReport.withoutEffect}. */
  withoutEffect: readonly string[] = [];
  readonly #formerModes = new Map<string, FormerModeReport>();

  /**
   * @param now time of day, in ms since 1970
   * @param contacts those of the API server; default: the source is manifests
   */
  constructor(
    about: Pick<AgentReport, 'version' | 'node' | 'mode' | 'families' | 'startedAt'>,
    leftOut: Pick<LeftOut, 'lines'>,
    now: () => number,
    contacts?: () => readonly ResourceContact[],
  ) {
    this.#contacts = contacts;
    this.#about = about;
    this.#leftOut = leftOut;
    this.#now = now;
  }

  /** A listener that collects it. */
  listener(): ProxyListener {
    return {
      synced: (summary, latency) => this.#synced(summary, latency),
      failed: (error) => {
        this.#kernelError = String(error);
      },
      switched: (mode, summary) => {
        const left = summary.left.length;
        if (left === 0) this.#formerModes.delete(mode);
        else this.#formerModes.set(mode, { mode, connections: 0, error: `items left: ${left}` });
      },
      reachChanged: ({ node, reachable }) => {
        if (reachable) this.#unreachableNodes.delete(node);
        else this.#unreachableNodes.add(node);
      },
      kept: (mode, connections) => {
        this.#formerModes.set(mode, { mode, connections, error: null });
      },
      unswitched: (mode, error) => {
        this.#formerModes.set(mode, { mode, connections: 0, error: String(error) });
      },
    };
  }

  /** The current state. */
  report(): AgentReport {
    const lines = this.#leftOut.lines();
    const foreignChains = this.foreignChains();
    return {
      ...this.#about,
      ...(this.nodeObject && { nodeObject: this.nodeObject }),
      ...(this.#contacts && { contacts: this.#contacts().map(contactReport) }),
      lastPass: this.#lastPass,
      ...(this.#lacking.length === 0 ? {} : { lacking: this.#lacking }),
      kernelError: this.#kernelError,
      repaired: this.#repaired,
      ...(this.#repeated === 0 ? {} : { repeated: this.#repeated }),
      ...(this.withoutEffect.length === 0 ? {} : { withoutEffect: this.withoutEffect }),
      ...(foreignChains.length === 0 ? {} : { foreignChains }),
      ...(this.#unreachableNodes.size === 0
        ? {}
        : { unreachableNodes: [...this.#unreachableNodes].slice(0, LISTED) }),
      ...(this.#draining === undefined ? {} : { draining: this.#draining }),
      ...(this.#formerModes.size === 0 ? {} : { formerModes: [...this.#formerModes.values()] }),
      ...(this.configurationFile && { configuration: this.configurationFile.report }),
      leftOut: lines.length,
      problems: lines.slice(0, LISTED),
    };
  }

  /** @param latency since the source reported the oldest change of the pass, in ms; 0 without a change */
  #synced(summary: SyncSummary, latency: number): void {
    const { full, services, operations, failures, unknown, milliseconds, repaired, counts } = summary;
    this.#kernelError = null;
    // What is held back is a consequence of the others.
    this.#lacking = summary.vitalUnknown
      .filter(({ code }) => code !== 'ERR_HELD_BACK')
      .slice(0, LISTED)
      .map(({ message }) => message);
    this.#repaired += repaired;
    this.#repeated = summary.repeated ?? this.#repeated;
    this.#draining = counts['draining'];
    this.#lastPass = {
      endedAt: new Date(this.#now()).toISOString(),
      full,
      services,
      operations,
      ...(latency > 0 && { waitMilliseconds: waitOf(milliseconds, latency) }),
      planMilliseconds: milliseconds.plan,
      kernelMilliseconds: milliseconds.kernel,
      failed: failures.length,
      unknown,
      failures: failures.slice(0, LISTED).map(({ key, services = [], fields = [], error }) => ({
        item: key,
        services,
        fields,
        code: error.code,
        message: error.message,
      })),
    };
  }
}

function contactReport({ resource, state, since, lastContact, error }: ResourceContact): ContactReport {
  return {
    ...{ resource, state, since: timeOf(since) },
    lastContact: lastContact === undefined ? null : timeOf(lastContact),
    error: error ?? null,
  };
}

/** The part of the time of a change in which it waited for its pass, in ms. */
export function waitOf({ plan, kernel }: SyncSummary['milliseconds'], latency: number): number {
  return Math.max(0, latency - plan - kernel);
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
