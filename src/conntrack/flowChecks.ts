// What checks of flows after changes have in common: their times, how flows are listed and deleted, and the results.
import { NetlinkError } from '../errors.js';
import type { Conntrack, Flow, FlowSelection } from '../kernel/conntrack/types.js';
import { joinHostPort } from '../net/address.js';

/** The flows of the kernel, as far as checks need them. */
export type CheckedFlows = Pick<Conntrack, 'list' | 'deleteFlows'>;

/** Time from a deletion to the next check, in ms: a new flow of the same kind may have been created meanwhile. */
export const FLOW_CHECK = 1000;

/** Maximum number of checks after one change: flows that still reappear are created deliberately. */
export const MOST_CHECKS = 3;

/** Number of selections above which all flows of a family are listed: each flow would be compared with each selection. */
export const MOST_SELECTIONS = 64;

/** The result of a check. */
export interface FlowResult {
  /** Attempted deletions; their keys are `flow udp 10.244.1.2:4000 10.96.0.10:53`. */
  readonly operations: readonly { readonly key: string; readonly phase: string }[];
  /** Failed deletions; the key is `flows` if flows could not be listed. */
  readonly failures: readonly { readonly key: string; readonly error: NetlinkError; readonly vital: false }[];
}

/** The result of a check without anything to delete. */
export const NOTHING: FlowResult = { operations: [], failures: [] };

/** The selected flows, or the result with the error. */
export async function listFlows(
  conntrack: CheckedFlows,
  selections: readonly FlowSelection[],
): Promise<{ readonly flows: readonly Flow[] } | { readonly failed: FlowResult }> {
  try {
    const flows = selections.length > 0 ? conntrack.list(selections, { partial: true }).toArray() : [];
    return { flows: await flows };
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    return { failed: { operations: [], failures: [{ key: 'flows', error, vital: false }] } };
  }
}

/** Deletes flows. If the call fails, all have its error. */
export async function deleteFlows(conntrack: CheckedFlows, flows: readonly Flow[]): Promise<FlowResult> {
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
