// The API server as the agent uses it: the source of objects, the Node as it is at the start, and events.
import type { Logger } from 'pino';
import { ApiSource, type ApiTrouble } from '../api/apiSource.js';
import { ApiClient } from '../api/client.js';
import { connectToApi } from '../api/connection.js';
import { EventRecorder } from '../api/events.js';
import { waitForNodeAddresses, waitForPodCIDRs } from '../api/waitForNode.js';
import type { Configuration } from '../config/configuration.js';
import type { Node } from '../objects/types.js';
import type { Metrics } from '../servers/metrics.js';
import type { Source } from '../source/source.js';
import { type Announcer, announcer } from './announce.js';

/** What is needed to speak to the API server. */
export interface ApiParts {
  readonly configuration: Pick<Configuration, 'clientConnection' | 'detectLocalMode'>;
  /** URL in place of the kubeconfig's; empty for none. */
  readonly master: string;
  readonly nodeName: string;
  /** Follow every Node: a cure asks for their addresses. */
  readonly allNodes: boolean;
  readonly version: string;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'requestFailed'>;
}

/** An API server that has been found; nothing has been asked of it yet. */
export interface Api {
  readonly source: Source;
  readonly announcer: Announcer;
  /** The Node once it can be used, or undefined after 30 s; in detectLocalMode NodeCIDR, with its pod networks, or an error. */
  ownNode(stop: AbortSignal): Promise<Node | undefined>;
  close(): void;
}

/** Finds the API server. Rejects with an Error that names what is wrong with the kubeconfig or the service account. */
export async function openApi(parts: ApiParts): Promise<Api> {
  const { configuration, master, nodeName, allNodes, version, log } = parts;
  const { kubeconfig, qps, burst } = configuration.clientConnection;
  const connection = await connectToApi({ kubeconfig, master });
  const userAgent = `kube-netlink-proxy/${version}`;
  const client = new ApiClient(connection, { userAgent, rate: { qps, burst } });
  const trouble = (found: ApiTrouble) => tell(parts, found);
  const recorder = new EventRecorder({
    client,
    failed: ({ reason: event }, err) => log.warn({ event, err }, 'an event could not be sent'),
  });
  const source = new ApiSource({ client, nodeName, allNodes, trouble });
  return {
    source,
    announcer: announcer(nodeName, recorder),
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

function tell({ log, metrics }: ApiParts, { resource, error, retryIn }: ApiTrouble): void {
  metrics.requestFailed(resource, error.code);
  log.warn({ resource, err: error.message, retryInMs: Math.round(retryIn) }, 'the API server is tried again');
}
