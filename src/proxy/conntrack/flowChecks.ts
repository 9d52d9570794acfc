// Checks of flows after changes: what is pending, and when; flows are listed and deleted.

import type { Conntrack, Flow, FlowSelection } from '../../kernel/conntrack/types.js';
import { NetlinkError } from '../../kernel/errors.js';
import { joinHostPort } from '../../kernel/net/address.js';

/** The flows of the kernel, as far as checks need them. */
export type CheckedFlows = Pick<Conntrack, 'list' | 'deleteFlows'>;

/** Time from a deletion to the next check, in ms: a new flow of the same kind may have been created meanwhile. */
const FLOW_CHECK = 1000;

/** Maximum number of checks after one change: flows that still reappear are created deliberately. */
const MOST_CHECKS = 3;

/** Number of selections above which all flows of a family are listed: each flow would be compared with each selection. */
export const MOST_SELECTIONS = 64;

/** The result of a check. */
export interface FlowResult {
  /** Attempted deletions; their keys are `flow udp 10.244.1.2:4000 10.96.0.10:53`. */
  readonly operations: readonly { readonly key: string; readonly phase: string }[];
  /** Failed deletions; the key is {@link UNLISTED} if flows could not be listed. */
  readonly failures: readonly { readonly key: string; readonly error: NetlinkError; readonly vital: false }[];
}

/** Key of the failure to list flows. */
export const UNLISTED = 'flows';

const NOTHING: FlowResult = { operations: [], failures: [] };

/** The results of several checks as one. */
export function joined(results: readonly FlowResult[]): FlowResult {
  return {
    operations: results.flatMap(({ operations }) => operations),
    failures: results.flatMap(({ failures }) => failures),
  };
}

/** Services of which the kernel refused an item. */
export type Unfinished = Pick<ReadonlySet<string>, 'has'>;

/** A subject whose flows are to be checked. */
interface Pending<Subject> {
  readonly service: string;
  readonly subject: Subject;
  /** Number of checks since the kernel has the items of the Service. */
  checks: number;
  /** The kernel does not have all items of the Service: the pass that programs them checks again. */
  waits: boolean;
}

/** How the flows of all pending subjects are found. */
interface FlowSearch<Subject> {
  /** The flows to list. */
  select(subjects: readonly Subject[]): readonly FlowSelection[];
  /** Those of the listed flows to delete. */
  choose(flows: readonly Flow[], subjects: readonly Subject[]): readonly Flow[];
}

/**
 * What is to be checked, by a key. A subject stays pending until the kernel has the items of its Service and a check finds no flow to
 * delete.
 */
export class FlowChecks<Subject> {
  readonly #conntrack: CheckedFlows;
  readonly #search: FlowSearch<Subject>;
  readonly #pending = new Map<string, Pending<Subject>>();

  constructor(conntrack: CheckedFlows, search: FlowSearch<Subject>) {
    this.#conntrack = conntrack;
    this.#search = search;
  }

  /** Time until the next check is due without a change, in ms; undefined if nothing is pending that the kernel has. */
  get dueIn(): number | undefined {
    for (const { waits } of this.#pending.values()) if (!waits) return FLOW_CHECK;
    return undefined;
  }

  /** Has a subject checked, as if it was not pending before. */
  add(key: string, service: string, subject: Subject): void {
    this.#pending.set(key, { service, subject, checks: 0, waits: false });
  }

  /** Replaces a pending subject; the number of its checks stays. */
  replace(key: string, subject: Subject): void {
    const pending = this.#pending.get(key);
    if (pending) this.#pending.set(key, { ...pending, subject, waits: false });
  }

  get(key: string): Subject | undefined {
    return this.#pending.get(key)?.subject;
  }

  delete(key: string): void {
    this.#pending.delete(key);
  }

  /** Deletes the flows of all pending subjects. */
  async run(unfinished: Unfinished = new Set()): Promise<FlowResult> {
    if (this.#pending.size === 0) return NOTHING;
    // First: if the flows cannot be listed, the subjects that do not wait are due again.
    for (const pending of this.#pending.values()) pending.waits = unfinished.has(pending.service);
    const subjects = Array.from(this.#pending.values(), ({ subject }) => subject);
    const listed = await listFlows(this.#conntrack, this.#search.select(subjects));
    if ('failed' in listed) return listed.failed;
    const flows = this.#search.choose(listed.flows, subjects);
    for (const [key, pending] of this.#pending) {
      if (pending.waits) continue;
      if (flows.length === 0 || ++pending.checks === MOST_CHECKS) this.#pending.delete(key);
    }
    return deleteFlows(this.#conntrack, flows);
  }
}

/** The selected flows, or the result with the error. */
async function listFlows(
  conntrack: CheckedFlows,
  selections: readonly FlowSelection[],
): Promise<{ readonly flows: readonly Flow[] } | { readonly failed: FlowResult }> {
  try {
    const flows = selections.length > 0 ? conntrack.list(selections, { partial: true }).toArray() : [];
    return { flows: await flows };
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    return { failed: { operations: [], failures: [{ key: UNLISTED, error, vital: false }] } };
  }
}

/** Deletes flows. If the call fails, all have its error. */
async function deleteFlows(conntrack: CheckedFlows, flows: readonly Flow[]): Promise<FlowResult> {
  if (flows.length === 0) return NOTHING;
  const operations = flows.map((flow) => ({ key: keyOf(flow), phase: 'deleteFlows' }));
  const results = await resultsOf(conntrack, flows);
  const failures = operations.flatMap(({ key }, i) => {
    const error = results[i];
    return error ? [{ key, error, vital: false as const }] : [];
  });
  return { operations, failures };
}

async function resultsOf(
  conntrack: CheckedFlows,
  flows: readonly Flow[],
): Promise<(NetlinkError | undefined)[]> {
  try {
    return await conntrack.deleteFlows(flows);
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    return flows.map(() => error);
  }
}

function keyOf({ protocol, original }: Flow): string {
  const { source, sourcePort, destination, destinationPort } = original;
  return `flow ${protocol} ${joinHostPort(source, sourcePort)} ${joinHostPort(destination, destinationPort)}`;
}
