// What the metrics server answers: metrics, what is configured, and, where that is enabled, a look into the process.
import { type Answer, BadRequest, type Handler, json, plain, routes } from './answer.js';
import type { Metrics } from './metrics.js';
import { profilingHandlers } from './profiling.js';
import { openSlis } from './slis.js';
import { flagzHandler, statuszHandler } from './zpages.js';

/** What the metrics server shows, and what it may change. */
export interface MetricsServerOptions {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** When the process started, ms since 1970. */
  readonly startedAt: number;
  /** Ms since 1970. */
  readonly now: () => number;
  /** Of kube-netlink-proxy: `0.1.0`. */
  readonly version: string;
  /** The Kubernetes version that is imitated: `1.36`. */
  readonly emulates: string;
  /** `ipvs`. */
  readonly proxyMode: string;
  /** The KubeProxyConfiguration in force, as `kubeproxy.config.k8s.io/v1alpha1` has it in JSON, apiVersion and kind included. */
  readonly configuration: () => object;
  /** Absent unless `enableProfiling`: then /debug/ is 404. */
  readonly profiling?: {
    /** Changes the verbosity of the log: 0 or more. */
    readonly setVerbosity: (level: number) => void;
  };
  /** How many objects are left out, and which problems they have, for /statusz; undefined when there are none. */
  readonly leftOut: () => string | undefined;
  /** Feature gate ComponentStatusz: /statusz is 404 without. */
  readonly statusz: boolean;
  /** Feature gate ComponentFlagz: every flag's value by its name without dashes. Absent: /flagz is 404. */
  readonly flagz?: Readonly<Record<string, string>>;
}

/** The handler of the metrics server. */
export function metricsHandler(options: MetricsServerOptions): Handler {
  const { metrics, startedAt, now, version, emulates, profiling, flagz, leftOut } = options;
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
    '/configz': () => json(200, JSON.stringify({ 'kubeproxy.config.k8s.io': options.configuration() })),
  };
  if (flagz) table['/flagz'] = flagzHandler(flagz);
  if (options.statusz) {
    const paths = [...Object.keys(table), '/statusz'].sort();
    table['/statusz'] = statuszHandler({ version, emulates, startedAt, now, paths, leftOut });
  }
  if (profiling) {
    Object.assign(table, profilingHandlers());
    table['/debug/flags/v'] = verbosityHandler(profiling.setVerbosity);
  }
  return routes(table);
}

/** The one check there is: that the server answers at all. */
const PING = { name: 'ping', type: 'healthz' };

/** Largest verbosity, klog's int32. */
const MOST_VERBOSE = 2 ** 31 - 1;

function verbosityHandler(setVerbosity: (level: number) => void): Handler {
  return async (request): Promise<Answer> => {
    if (request.method !== 'PUT') return plain(406, 'unsupported http method: PUT the new verbosity\n');
    const text = (await request.body()).trim();
    const level = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
    if (level === undefined || level > MOST_VERBOSE) {
      throw new BadRequest(
        `the verbosity must be a whole number from 0 to ${MOST_VERBOSE}, found ${JSON.stringify(text)}`,
      );
    }
    setVerbosity(level);
    return plain(200, `successfully set klog.logging.verbosity to ${level}`);
  };
}
