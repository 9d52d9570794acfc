// The agent's HTTP servers for health and metrics.
import { setTimeout as wait } from 'node:timers/promises';
import type { Configuration } from '../config/configuration.js';
import { splitHostPort } from '../config/goSyntax.js';
import type { HealthThread } from '../health/openThread.js';
import { plain } from '../servers/handler.js';
import { bindHint, type ListenAddress, listen, openServer } from '../servers/listen.js';
import type { Metrics } from '../servers/metrics.js';
import { type MetricsServerOptions, metricsHandler } from '../servers/metricsServer.js';

/** The parts of the servers. */
export interface ServerParts {
  readonly configuration: Pick<
    Configuration,
    'healthzBindAddress' | 'metricsBindAddress' | 'bindAddressHardFail'
  >;
  /** Reject if the address of the health server cannot be bound, also without `bindAddressHardFail`. */
  readonly healthHardFail?: boolean | undefined;
  readonly health: Pick<HealthThread, 'serve' | 'close'>;
  readonly metrics: Metrics;
  /** Data of the metrics server other than metrics. */
  readonly shown: Omit<MetricsServerOptions, 'metrics'>;
  /** See {@link openServer}, of the metrics server. */
  readonly failed: (error: unknown, retryIn?: number) => void;
  readonly recovered: () => void;
}

/** Name of a server. */
export type ServerName = 'health' | 'metrics';

/** With `bindAddressHardFail`, the address of a server could not be bound. */
export class BindError extends Error {
  readonly server: ServerName;

  constructor(server: ServerName, cause: unknown) {
    super(`failed to start ${server} server: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.server = server;
  }
}

/** Opens both servers, and closes the health thread with them. Rejects with a {@link BindError} if binding fails and has to be fatal. */
export async function openServers({
  configuration,
  healthHardFail = false,
  health,
  metrics,
  shown,
  failed,
  recovered,
}: ServerParts): Promise<{ close(): Promise<void> }> {
  const { healthzBindAddress, metricsBindAddress, bindAddressHardFail: hardFail } = configuration;
  const healthAddress = listenAddress(healthzBindAddress);
  const where = listenAddress(metricsBindAddress);
  const fail = async (error: unknown, server: ServerName): Promise<never> => {
    await health.close();
    throw new BindError(server, error);
  };
  if (healthAddress)
    await health.serve(healthAddress, hardFail || healthHardFail).catch((error) => fail(error, 'health'));
  const handler = metricsHandler({ metrics, ...shown });
  const server = where
    ? await openServer({ where, handler, hardFail, failed, recovered }).catch((error) =>
        fail(error, 'metrics'),
      )
    : undefined;
  return {
    async close() {
      await Promise.all([health.close(), server?.close()]);
    },
  };
}

/** Time for which a program that is ending may still have the health port, in ms; below the delay of the readiness probe of deploy/. */
const HANDOVER = 3000;

/**
 * Rejects with a {@link BindError} if the address of the health server cannot be bound. For the begin of a start: until the servers are open,
 * which may take as long as the API server does, another program would answer the probes of the pod. Resolves when `stop` is aborted.
 */
export async function checkHealthAddress(
  { healthzBindAddress }: Pick<Configuration, 'healthzBindAddress'>,
  stop: AbortSignal,
): Promise<void> {
  const where = listenAddress(healthzBindAddress);
  if (!where) return;
  const end = performance.now() + HANDOVER;
  while (!stop.aborted) {
    try {
      const listener = await listen(
        where,
        () => plain(503, ''),
        () => {},
      );
      return await listener.close();
    } catch (error) {
      const hint = bindHint(error);
      if (hint === undefined) throw new BindError('health', error);
      const { message } = error as Error;
      if (performance.now() >= end)
        throw new BindError('health', new Error(`${message}: ${hint}`, { cause: error }));
      await wait(HANDOVER / 20, undefined, { signal: stop }).catch(() => {});
    }
  }
}

/** Splits `IP:port`, which has been validated; undefined for an empty text. */
function listenAddress(text: string): ListenAddress | undefined {
  const parts = splitHostPort(text);
  return typeof parts === 'string' ? undefined : { address: parts.host, port: Number(parts.port) };
}
