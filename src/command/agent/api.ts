// Connects the agent to the API server: the source of objects, the Node at the start, and events.
import type { Logger } from 'pino';
import { ApiSource, type ApiTrouble } from '../../proxy/api/apiSource.js';
import { ApiClient, type ApiTimeouts } from '../../proxy/api/client.js';
import { connectToApi } from '../../proxy/api/connection.js';
import type { ResourceContact } from '../../proxy/api/contact.js';
import type { ReflectorTimes } from '../../proxy/api/reflector.js';
import { SERVICE_CIDRS } from '../../proxy/api/resources.js';
import type { Node } from '../../proxy/objects/types.js';
import type { Source } from '../../proxy/source/source.js';
import type { Configuration } from '../config/configuration.js';
import type { Metrics } from '../servers/metrics.js';
import { type Announcer, announcer } from './announce.js';
import { EventRecorder } from './events.js';

/** The parts that a connection to the API server needs. */
interface ApiParts {
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
  /** Default: failures are not counted. */
  readonly metrics?: Pick<Metrics, 'own'>;
  /** Is called with each failure, besides the log and the metrics. */
  readonly failed?: ((error: Error) => void) | undefined;
  /** Default: those of the client and of its watches. */
  readonly times?: Partial<ReflectorTimes>;
  readonly timeouts?: Partial<ApiTimeouts>;
}

/** A wait for this node's Node object. */
interface OwnNodeWait {
  /** Ends the wait early. */
  readonly stop: AbortSignal;
  /** Called if the Nodes have been read, and there is none of this node's name. */
  readonly missing?: () => void;
  /** Longest wait for its addresses or podCIDRs once the Nodes have been read, in ms; default kube-proxy's. */
  readonly limit?: number | undefined;
  /** Warn of a missing Node at once and every 30 s; default true. */
  readonly warns?: boolean;
}

/** A configured API server. No request has been sent yet. */
export interface Api {
  readonly source: Source;
  readonly announcer: Announcer;
  /** The contact with the API server for each followed resource. */
  contacts(): readonly ResourceContact[];
  /**
   * Waits for this node's Node object, without a limit until the Nodes have been read. It has addresses, or may lack them 30 s
   * later. In detectLocalMode NodeCIDR it has podCIDRs, or the promise rejects.
   */
  ownNode(wait: OwnNodeWait): Promise<Node | undefined>;
  close(): void;
}

const NO_NODE = 'there is no Node of this name: compare --hostname-override with kubectl get nodes';

/** Reads the kubeconfig or the service account. Rejects with an Error that names the fault in it. */
export async function openApi(parts: ApiParts): Promise<Api> {
  const { configuration, master, nodeName, allNodes, serviceCIDRs = false, version, log } = parts;
  const { kubeconfig, qps, burst } = configuration.clientConnection;
  const connection = await connectToApi({ kubeconfig, master });
  const userAgent = `kube-netlink-proxy/${version}`;
  const { times, timeouts } = parts;
  const client = new ApiClient(connection, {
    ...{ userAgent, rate: { qps, burst } },
    ...(timeouts && { timeouts }),
  });
  const trouble = (found: ApiTrouble) => report(parts, found);
  const recorder = new EventRecorder({
    client,
    failed: ({ reason: event }, err) => log.warn({ event, err }, 'cannot send an event'),
  });
  const contact = (now: ResourceContact, before: ResourceContact) => reportContact(log, now, before);
  const source = new ApiSource({
    ...{ client, nodeName, allNodes, serviceCIDRs, trouble, contact },
    ...(times && { times }),
  });
  const end = new AbortController();
  return {
    source,
    contacts: () => source.contacts(),
    announcer: announcer(nodeName, recorder, parts.objectEvents),
    ownNode({ stop: signal, missing = () => {}, limit, warns = true }) {
      if (warns) {
        const told = () => log.warn({ node: nodeName }, NO_NODE);
        void reportMissingNode({ source, missing: told }, end.signal);
      }
      const wait = configuration.detectLocalMode === 'NodeCIDR' ? waitForPodCIDRs : waitForNodeAddresses;
      return wait({ source, nodeName, signal, limit, missing });
    },
    close() {
      end.abort();
      source.stop();
      void recorder.stop();
      client.close();
    },
  };
}

function report({ log, metrics, failed }: ApiParts, { resource, error, retryIn }: ApiTrouble): void {
  const code = error.code === 'ERR_STATUS' && error.status > 0 ? `${error.status}` : error.code;
  metrics?.own.requestFailures.inc({ resource, code });
  const isAbsent = resource === SERVICE_CIDRS.name && error.status === 404;
  const hint = isAbsent ? `Kubernetes ${SERVICE_CIDRS.since} is the first with ServiceCIDRs` : undefined;
  log.warn(
    { resource, err: error.message, retryInMs: Math.round(retryIn), hint },
    'request to the API server failed, retrying',
  );
  failed?.(error);
}

function reportContact(
  log: Logger,
  { resource, state, error }: ResourceContact,
  before: ResourceContact,
): void {
  if (state === 'lost')
    log.warn(
      { resource, err: error, lastContact: timeOf(before.lastContact) },
      'no contact with the API server: what is known stays in force',
    );
  else if (before.state === 'lost')
    log.info({ resource, lostSince: timeOf(before.since) }, 'contact with the API server again');
}

/** RFC 3339; null for none. */
function timeOf(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}

// Waits at the start for fields of the Node that the control plane writes.

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
