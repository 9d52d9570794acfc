// The agent's HTTP servers: health, metrics, and one per Service with a health-check port.
import type { Configuration } from '../config/configuration.js';
import { splitHostPort } from '../config/goSyntax.js';
import type { ProxyHealth } from '../servers/health.js';
import { healthHandler } from '../servers/healthServer.js';
import { type HttpServer, type ListenAddress, openServer } from '../servers/listen.js';
import type { Metrics } from '../servers/metrics.js';
import { type MetricsServerOptions, metricsHandler } from '../servers/metricsServer.js';

/** What the servers show. */
export interface ServerParts {
  readonly configuration: Pick<
    Configuration,
    'healthzBindAddress' | 'metricsBindAddress' | 'bindAddressHardFail'
  >;
  readonly health: ProxyHealth;
  readonly metrics: Metrics;
  /** What the metrics server shows beside metrics. */
  readonly shown: Omit<MetricsServerOptions, 'metrics'>;
  /** A server's address could not be bound, or a request could not be answered; `retryIn` ms, if it is tried again. */
  readonly failed: (server: ServerName, error: unknown, retryIn?: number) => void;
  /** A server listens whose address could not be bound before. */
  readonly recovered: (server: ServerName) => void;
}

/** Which server. */
export type ServerName = 'health' | 'metrics';

/** A server that must not be without its address, by `bindAddressHardFail`, is. */
export class BindError extends Error {
  readonly server: ServerName;

  constructor(server: ServerName, cause: unknown) {
    super(`failed to start ${server} server: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.server = server;
  }
}

/** Opens both servers. Rejects with a BindError where the configuration says that it must not go on without one. */
export async function openServers({
  configuration,
  health,
  metrics,
  shown,
  failed,
  recovered,
}: ServerParts): Promise<{ close(): Promise<void> }> {
  const { healthzBindAddress, metricsBindAddress, bindAddressHardFail: hardFail } = configuration;
  const open: HttpServer[] = [];
  const close = async () => {
    await Promise.all(open.map((server) => server.close()));
  };
  const start = async (
    name: ServerName,
    address: string,
    handler: Parameters<typeof openServer>[0]['handler'],
  ) => {
    const where = listenAddress(address);
    if (!where) return;
    const tell = (error: unknown, retryIn?: number) => failed(name, error, retryIn);
    try {
      const recover = () => recovered(name);
      open.push(await openServer({ where, handler, hardFail, failed: tell, recovered: recover }));
    } catch (error) {
      await close();
      throw new BindError(name, error);
    }
  };
  await start('health', healthzBindAddress, healthHandler(health, metrics.probed));
  await start('metrics', metricsBindAddress, metricsHandler({ metrics, ...shown }));
  return { close };
}

/** `IP:port`, checked with the configuration; nothing for none. */
function listenAddress(text: string): ListenAddress | undefined {
  const parts = splitHostPort(text);
  return typeof parts === 'string' ? undefined : { address: parts.host, port: Number(parts.port) };
}
