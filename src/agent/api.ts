// Connects the agent to the API server: the source of objects, the Node at the start, and events.
import type { Logger } from 'pino';
import { ApiSource, type ApiTrouble } from '../api/apiSource.js';
import { ApiClient } from '../api/client.js';
import { connectToApi } from '../api/connection.js';
import { SERVICE_CIDRS } from '../api/resources.js';
import type { Configuration } from '../config/configuration.js';
import type { Node } from '../objects/types.js';
import type { Metrics } from '../servers/metrics.js';
import type { Source } from '../source/source.js';
import { type Announcer, announcer } from './announce.js';
import { EventRecorder } from './events.js';
import { waitForNodeAddresses, waitForPodCIDRs } from './waitForNode.js';

/** The parts that a connection to the API server needs. */
export interface ApiParts {
  readonly configuration: Pick<Configuration, 'clientConnection' | 'detectLocalMode'>;
  /** URL that overrides the one of the kubeconfig; empty for none. */
  readonly master: string;
  readonly nodeName: string;
  /** Watch all Nodes, because a correction of `--cures` needs their addresses. */
  readonly allNodes: boolean;
  /** Watch ServiceCIDRs, because the mode needs them; default false. */
  readonly serviceCIDRs?: boolean;
  /** Send events about objects that are left out; default false. */
  readonly objectEvents?: boolean;
  readonly version: string;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'requestFailed'>;
  /** Is called with each failure, besides the log and the metrics. */
  readonly failed?: ((error: Error) => void) | undefined;
}

/** A configured API server. No request has been sent yet. */
export interface Api {
  readonly source: Source;
  readonly announcer: Announcer;
  /**
   * Waits for this node's Node object. It has addresses, or is undefined after 30 s. In detectLocalMode NodeCIDR it has
   * podCIDRs, or the promise rejects.
   */
  ownNode(stop: AbortSignal): Promise<Node | undefined>;
  close(): void;
}

/** Reads the kubeconfig or the service account. Rejects with an Error that names the fault in it. */
export async function openApi(parts: ApiParts): Promise<Api> {
  const { configuration, master, nodeName, allNodes, serviceCIDRs = false, version, log } = parts;
  const { kubeconfig, qps, burst } = configuration.clientConnection;
  const connection = await connectToApi({ kubeconfig, master });
  const userAgent = `kube-netlink-proxy/${version}`;
  const client = new ApiClient(connection, { userAgent, rate: { qps, burst } });
  const trouble = (found: ApiTrouble) => report(parts, found);
  const recorder = new EventRecorder({
    client,
    failed: ({ reason: event }, err) => log.warn({ event, err }, 'cannot send an event'),
  });
  const source = new ApiSource({ client, nodeName, allNodes, serviceCIDRs, trouble });
  return {
    source,
    announcer: announcer(nodeName, recorder, parts.objectEvents),
    ownNode: (signal) =>
      configuration.detectLocalMode === 'NodeCIDR'
        ? waitForPodCIDRs({ source, signal })
        : waitForNodeAddresses({ source, signal }),
    close() {
      source.stop();
      void recorder.stop();
      client.close();
    },
  };
}

function report({ log, metrics, failed }: ApiParts, { resource, error, retryIn }: ApiTrouble): void {
  metrics.requestFailed(
    resource,
    error.code === 'ERR_STATUS' && error.status > 0 ? `${error.status}` : error.code,
  );
  const isAbsent = resource === SERVICE_CIDRS.name && error.status === 404;
  const hint = isAbsent ? `Kubernetes ${SERVICE_CIDRS.since} is the first with ServiceCIDRs` : undefined;
  log.warn(
    { resource, err: error.message, retryInMs: Math.round(retryIn), hint },
    'request to the API server failed, retrying',
  );
  failed?.(error);
}
