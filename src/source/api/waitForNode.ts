// Waits, at the start, for what the control plane still has to write on the Node object.
import type { Node } from '../../objects/types.js';
import type { ApiTrouble } from './apiSource.js';
import type { ApiClient } from './client.js';
import { Reflector, type ReflectorTimes } from './reflector.js';
import { nodes } from './resources.js';

/** What to wait for, and how long. */
export interface NodeWait {
  readonly client: Pick<ApiClient, 'list' | 'watch'>;
  readonly nodeName: string;
  readonly trouble: (trouble: ApiTrouble) => void;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
  /** Ms; default as each function says. */
  readonly limit?: number;
  readonly times?: Partial<ReflectorTimes>;
}

/**
 * The Node once it has an address, or as it is after 30 s: kube-proxy 1.34 and later go on with defaults then. Undefined
 * when there is no such Node, or the API server did not answer.
 */
export async function waitForNodeAddresses({ limit = 30_000, ...wait }: NodeWait): Promise<Node | undefined> {
  return (await followNode(wait, limit, ({ addresses }) => addresses.length > 0)).node;
}

/**
 * The Node once it has pod networks and is not being deleted; undefined when the signal ended the wait. Rejects after
 * 5 min with the Error that kube-proxy ends with in detectLocalMode NodeCIDR.
 */
export async function waitForPodCIDRs({ limit = 300_000, ...wait }: NodeWait): Promise<Node | undefined> {
  const ready = ({ podCIDRs, deleting }: Node) => podCIDRs.length > 0 && !deleting;
  const { node, met } = await followNode(wait, limit, ready);
  if (node && met) return node;
  if (wait.signal?.aborted) return undefined;
  throw new Error(
    'timeout waiting for PodCIDR allocation to configure detect-local-mode NodeCIDR: timed out waiting for the condition',
  );
}

async function followNode(
  { client, nodeName, trouble, signal, times = {} }: Omit<NodeWait, 'limit'>,
  limit: number,
  ready: (node: Node) => boolean,
): Promise<{ node: Node | undefined; met: boolean }> {
  const end = new AbortController();
  const stop = () => end.abort();
  const timer = setTimeout(stop, limit);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  let node: Node | undefined;
  let met = false;
  const reflector = new Reflector({
    client,
    resource: nodes(nodeName),
    times,
    events: {
      changed(changes) {
        for (const { type, object } of changes) {
          if (object.kind !== 'Node') continue;
          node = type === 'set' ? object : undefined;
          met = node !== undefined && ready(node);
        }
        if (met) stop();
      },
      problems: () => {},
      listed: () => {},
      trouble: (error, retryIn) => trouble({ resource: 'nodes', error, retryIn }),
    },
  });
  await reflector.run(end.signal);
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
  return { node, met };
}
