// Node ports on localhost that the agent serves: their listeners follow the passes of the proxy.
import type { Logger } from 'pino';
import type { Family } from '../../kernel/net/address.js';
import { HOST } from '../../kernel/shared/hints.js';
import type { Configuration } from '../config/configuration.js';
import type {
  LocalhostPortEvents,
  LocalhostPortSettings,
  PlannedPorts,
} from '../localhostPorts/localhostPorts.js';
import { LocalhostPlans } from '../localhostPorts/plans.js';
import type { LocalhostNodePorts } from '../modes/shared/definition.js';
import { localhostMetrics, ofFamily, rejectedMetric } from '../servers/kubeProxyMetrics.js';
import { bindHint } from '../servers/listen.js';
import type { Metrics } from '../servers/metrics.js';
import { RepeatedFailures } from '../servers/repeatedFailures.js';
import type { ProxyListener } from './listeners.js';
import { mostOpenFiles } from './resourceLimits.js';

/** The parts of the listeners. */
interface LocalhostNodePortParts {
  /** What the mode says of them; undefined: it has none. */
  readonly localhost: LocalhostNodePorts | undefined;
  readonly configuration: Pick<Configuration, 'conntrack'>;
  readonly log: Logger;
  /** The families that are programmed. */
  readonly expected: readonly Family[];
  readonly metrics: Pick<Metrics, 'registry'>;
  /** Opens the listeners. They relay connections on another thread than the one that plans. */
  readonly open: OpenLocalhostPorts;
  /** Most open files of this process; undefined: any number. Default: that of the process. */
  readonly openFiles?: number | undefined;
}

/** Opens node ports on localhost. `apply` takes those of the Services that a pass has planned. */
export type OpenLocalhostPorts = (
  families: readonly Family[],
  events: LocalhostPortEvents,
  settings: LocalhostPortSettings,
) => { apply(planned: PlannedPorts): unknown; close(): Promise<void> };

/** Shares of the open files: for listeners, and for connections, each of which has two. */
interface FileShares {
  readonly mostListeners: number;
  readonly mostConnections: number;
}

/** Most connections to node ports on localhost. */
const MOST_CONNECTIONS = 256;
/** Open files that stay for the health and metrics servers with their clients, the API server, the kernel and programs. */
const RESERVE = 1024;

/** Of few open files, health and metrics keep three eighths, and connections get a quarter. */
export function sharesOf(openFiles = Number.POSITIVE_INFINITY): FileShares {
  const mostConnections = Math.min(MOST_CONNECTIONS, Math.floor(openFiles / 8));
  const reserve = Math.min(RESERVE, Math.ceil((3 * openFiles) / 8));
  return { mostListeners: openFiles - reserve - 2 * mostConnections, mostConnections };
}

/** Number of node ports of the default range, 30000–32767. A cluster has seldom more. */
const USUAL_PORTS = 2768;

/** Node ports on localhost that follow the events of a proxy. */
interface ServedLocalhost {
  readonly listener: ProxyListener;
  /** Closes the ports and their connections. */
  close(): Promise<void>;
}

/** Opens and closes node ports on localhost after each pass; none without a family to serve. */
export function serveLocalhostNodePorts(parts: LocalhostNodePortParts): ServedLocalhost {
  const { localhost } = parts;
  if (!localhost) return { listener: {}, close: async () => {} };
  const metrics = localhost.hasMetrics ? showMetrics(localhost, parts) : undefined;
  if (localhost.families.length === 0) return { listener: {}, close: async () => {} };
  const ports = openPorts(localhost, parts, metrics);
  const plans = new LocalhostPlans(localhost.families);
  return {
    listener: {
      planned: (service, input) => plans.planned(service, input),
      synced() {
        const planned = plans.take();
        if (planned.size > 0) void ports.apply(planned);
      },
    },
    close: () => ports.close(),
  };
}

function showMetrics(localhost: LocalhostNodePorts, { expected, metrics, log }: LocalhostNodePortParts) {
  const shown = localhostMetrics(metrics.registry, expected);
  rejectedMetric(metrics.registry, () => rejected(localhost, log));
  return shown;
}

/** Packets that were rejected; none if they cannot be read, so that the other metrics are shown. */
async function rejected(localhost: LocalhostNodePorts, log: Logger) {
  try {
    return await localhost.readRejected();
  } catch (error) {
    log.error({ err: String(error) }, 'failed to list nftables counters');
    return [];
  }
}

/** Limits of idle connections are those after which conntrack forgets a connection; 0, which keeps the kernel's, keeps the usual ones. */
function timesOf({ conntrack }: Pick<Configuration, 'conntrack'>) {
  const { tcpEstablishedTimeout: idle, tcpCloseWaitTimeout: halfClosed } = conntrack;
  return { ...(idle > 0 && { idle }), ...(halfClosed > 0 && { halfClosed }) };
}

const FEW_FILES =
  'each node port on localhost needs an open file: those beyond mostListeners are not served on localhost, so that health and metrics are';

function openPorts(
  { families }: LocalhostNodePorts,
  { open, configuration, log, openFiles = mostOpenFiles(HOST.read) }: LocalhostNodePortParts,
  metrics: ReturnType<typeof localhostMetrics> | undefined,
): ReturnType<OpenLocalhostPorts> {
  const failures = new RepeatedFailures();
  const shares = sharesOf(openFiles);
  const { mostListeners } = shares;
  if (mostListeners < USUAL_PORTS * families.length)
    log.warn({ limit: 'RLIMIT_NOFILE', value: openFiles, mostListeners }, FEW_FILES);
  const nameOf = ({ family, port }: { readonly family: number; readonly port: number }) =>
    `${family} ${port}`;
  return open(
    families,
    {
      opened(port, endpoints) {
        const found = { ...port, protocol: 'TCP', endpoints };
        if (failures.succeeded(nameOf(port)))
          log.info(found, 'Created localhost nodeport proxy after a failure');
        else log.debug(found, 'Created localhost nodeport proxy');
      },
      closed: (port) => log.debug({ ...port, protocol: 'TCP' }, 'Removing localhost nodeport proxy'),
      refused(port, error) {
        metrics?.failures.inc(ofFamily(port.family));
        if (!failures.failed(nameOf(port), error)) return;
        const found = { ...port, protocol: 'TCP', err: error.message, hint: bindHint(error) };
        log.error(found, 'Failed to create localhost nodeport proxy');
      },
      failed: (port, error) =>
        log.debug({ ...port, protocol: 'TCP', err: error.message }, 'Failed to connect to backend'),
      beyond(count) {
        if (count > 0)
          log.error(
            { nodePorts: count, mostListeners },
            'node ports are not served on localhost: RLIMIT_NOFILE is too low',
          );
        else log.info('all node ports are served on localhost again');
      },
      listeners: (family, count) => metrics?.listeners.set(ofFamily(family), count),
    },
    { times: timesOf(configuration), ...shares },
  );
}
