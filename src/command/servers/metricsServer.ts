// The metrics server: metrics, the configuration and, if enabled, profiles and debugging.
import { integerRule } from '../../kernel/arguments.js';
import { BadRequest, type Handler, json, onlyOnHost, plain, type Response, routes } from './handler.js';
import type { Metrics } from './metrics.js';
import { profilingHandlers } from './profiling.js';
import { openSlis } from './slis.js';
import { flagzHandler, type Status, statuszHandler } from './zpages.js';

/** Contents and callbacks of the metrics server. */
export interface MetricsServerOptions extends Omit<Status, 'paths'> {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** `ipvs`. */
  readonly proxyMode: string;
  /** The current KubeProxyConfiguration as v1alpha1 JSON, with apiVersion and kind. */
  readonly configuration: () => object;
  /** Absent without `enableProfiling`: /debug/ is 404. */
  readonly profiling?: {
    /** Sets the log verbosity, 0 or more. */
    readonly setVerbosity: (level: number) => void;
  };
  /** The state of the agent, for /status, which only clients on the node can read: plain values. */
  readonly report: () => object;
  /** The frontends of all Services with their names, for /services, which is for clients on the node too: plain values. */
  readonly frontends: () => Promise<readonly object[]>;
  /** Feature gate ComponentStatusz; without it, /statusz is 404. */
  readonly statusz: boolean;
  /** With feature gate ComponentFlagz: the value of every flag by its name without dashes. Absent: /flagz is 404. */
  readonly flagz?: Readonly<Record<string, string>>;
}

/** The handler of the metrics server. */
export function metricsHandler(options: MetricsServerOptions): Handler {
  const { metrics, startedAt, profiling, flagz } = options;
  const slis = openSlis();
  const table: Record<string, Handler> = {
    '/metrics': async () =>
      plain(200, await metrics.text(), {
        'Content-Type': metrics.contentType,
        'Process-Start-Time-Unix': `${Math.floor(startedAt / 1000)}`,
      }),
    '/metrics/slis': slis.handler,
    '/healthz': ({ query }) => {
      slis.passed(PING);
      return plain(200, query.has('verbose') ? '[+]ping ok\nhealthz check passed\n' : 'ok');
    },
    '/healthz/ping': () => {
      slis.passed(PING);
      return plain(200, 'ok');
    },
    '/proxyMode': () => plain(200, options.proxyMode),
    // They have names and addresses of all namespaces, and the port may be open to the network for Prometheus.
    '/status': onlyOnHost(() => json(200, `${JSON.stringify(options.report())}\n`)),
    '/services': onlyOnHost(async () =>
      json(200, `${JSON.stringify({ frontends: await options.frontends() })}\n`),
    ),
    '/configz': () => json(200, JSON.stringify({ 'kubeproxy.config.k8s.io': options.configuration() })),
  };
  if (flagz) table['/flagz'] = flagzHandler(flagz);
  if (options.statusz) {
    const paths = [...Object.keys(table), '/statusz'].sort();
    table['/statusz'] = statuszHandler({ ...options, paths });
  }
  if (profiling) {
    Object.assign(table, profilingHandlers());
    table['/debug/flags/v'] = verbosityHandler(profiling.setVerbosity);
  }
  return routes(table);
}

/** The only check; it passes whenever the server responds. */
const PING = { name: 'ping', type: 'healthz' };

/** klog's maximum verbosity, an int32. */
const MOST_VERBOSE = 2 ** 31 - 1;

function verbosityHandler(setVerbosity: (level: number) => void): Handler {
  return async (request): Promise<Response> => {
    if (request.method !== 'PUT') return plain(406, 'unsupported http method: PUT the new verbosity\n');
    const text = (await request.body()).trim();
    const level = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
    if (level === undefined || level > MOST_VERBOSE) {
      throw new BadRequest(`the verbosity ${integerRule(0, MOST_VERBOSE)}, found ${JSON.stringify(text)}`);
    }
    setVerbosity(level);
    return plain(200, `successfully set klog.logging.verbosity to ${level}`);
  };
}
