// Waits at the start for fields of the Node that the control plane writes.

import type { ApiSource } from '../../proxy/api/apiSource.js';
import type { Node } from '../../proxy/objects/types.js';

/** A wait. It has no limit until the API server has sent the Nodes: an input that was not read decides nothing. */
export interface NodeWait {
  readonly source: Pick<ApiSource, 'waitForNode'>;
  readonly nodeName: string;
  /** Called once the Nodes have been read, if there is none of that name. */
  readonly missing?: () => void;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
  /** Longest wait from then on, in ms; default as documented at each function. */
  readonly limit?: number | undefined;
}

/**
 * The Node once it has an address, or its state 30 s after the Nodes have been read: kube-proxy 1.34 and later use defaults
 * then. Undefined if there is no such Node, or the signal ended the wait.
 */
export async function waitForNodeAddresses({
  source,
  missing,
  signal,
  limit = 30_000,
}: NodeWait): Promise<Node | undefined> {
  const ready = ({ addresses }: Node) => addresses.length > 0;
  return (await source.waitForNode({ ready, limit, missing, signal })).node;
}

/**
 * The Node once it has pod networks and is not being deleted; undefined when the signal ended the wait. Rejects after
 * 5 min with the Error that kube-proxy ends with in detectLocalMode NodeCIDR.
 */
export async function waitForPodCIDRs({
  source,
  nodeName,
  missing,
  signal,
  limit = 300_000,
}: NodeWait): Promise<Node | undefined> {
  const ready = ({ podCIDRs, deleting }: Node) => podCIDRs.length > 0 && !deleting;
  const { node, met } = await source.waitForNode({ ready, limit, missing, signal });
  if (node && met) return node;
  if (signal?.aborted) return undefined;
  const name = JSON.stringify(nodeName);
  throw new Error(
    node
      ? `timeout waiting for PodCIDR allocation on node ${name}`
      : `timeout waiting for node ${name} to exist`,
  );
}

/** Calls `missing` at once and then every 30 s as long as the Nodes have been read and the Node was never among them. */
export async function reportMissingNode(
  { source, missing = () => {} }: Pick<NodeWait, 'source' | 'missing'>,
  signal: AbortSignal,
  period = 30_000,
): Promise<void> {
  let found: Node | undefined;
  while (!found && !signal.aborted) {
    const { node } = await source.waitForNode({ ready: () => true, limit: period, missing, signal });
    found = node;
  }
}
