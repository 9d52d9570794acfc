// Waits at the start for fields of the Node that the control plane writes.

import type { ApiSource } from '../api/apiSource.js';
import type { Node } from '../objects/types.js';

/** A wait. */
export interface NodeWait {
  readonly source: Pick<ApiSource, 'waitForNode'>;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
  /** Longest wait, in ms; default as documented at each function. */
  readonly limit?: number;
}

/**
 * The Node once it has an address, or its state after 30 s: kube-proxy 1.34 and later use defaults then. Undefined if there
 * is no such Node, or the API server did not answer.
 */
export async function waitForNodeAddresses({
  source,
  signal,
  limit = 30_000,
}: NodeWait): Promise<Node | undefined> {
  const ready = ({ addresses }: Node) => addresses.length > 0;
  return (await source.waitForNode({ ready, limit, signal })).node;
}

/**
 * The Node once it has pod networks and is not being deleted; undefined when the signal ended the wait. Rejects after
 * 5 min with the Error that kube-proxy ends with in detectLocalMode NodeCIDR.
 */
export async function waitForPodCIDRs({
  source,
  signal,
  limit = 300_000,
}: NodeWait): Promise<Node | undefined> {
  const ready = ({ podCIDRs, deleting }: Node) => podCIDRs.length > 0 && !deleting;
  const { node, met } = await source.waitForNode({ ready, limit, signal });
  if (node && met) return node;
  if (signal?.aborted) return undefined;
  throw new Error(
    'timeout waiting for PodCIDR allocation to configure detect-local-mode NodeCIDR: timed out waiting for the condition',
  );
}
