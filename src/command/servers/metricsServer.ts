// The metrics server: metrics, the configuration and, if enabled, profiles and debugging.

import { Counter, Gauge, Registry } from 'prom-client';
import { integerRule } from '../../kernel/arguments.js';
import { BadRequest, type Handler, json, onlyOnHost, plain, type Response, routes } from './handler.js';
import type { Metrics } from './metrics.js';
import { profilingHandlers } from './profiling.js';
import { textOf } from './text.js';

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

// /metrics/slis: the results of this server's health checks, as service level indicators. They are separate from /metrics
// because they are scraped more often.

/** Metrics of health check results. A check has series after its first run. */
interface Slis {
  /** A check passed. */
  passed(check: { readonly name: string; readonly type: string }): void;
  /** Serves the metrics; DELETE resets them. */
  readonly handler: Handler;
}

/** Opens the metrics. */
function openSlis(): Slis {
  const registry = new Registry();
  const registers = [registry];
  const last = new Gauge({
    name: 'kubernetes_healthcheck',
    help: '[STABLE] This metric records the result of a single healthcheck.',
    labelNames: ['name', 'type'],
    registers,
  });
  const all = new Counter({
    name: 'kubernetes_healthchecks_total',
    help: '[STABLE] This metric records the results of all healthcheck.',
    labelNames: ['name', 'status', 'type'],
    registers,
  });
  return {
    passed({ name, type }) {
      last.set({ name, type }, 1);
      all.inc({ name, status: 'success', type });
    },
    async handler({ method }) {
      if (method !== 'DELETE')
        return plain(200, await textOf(registry), { 'Content-Type': registry.contentType });
      registry.resetMetrics();
      return plain(200, 'metrics reset\n');
    },
  };
}

// /statusz and /flagz: version, uptime and flags of the process, as text, or as JSON of config.k8s.io if the Accept header
// requests it as Kubernetes documents.

/** The contents of /statusz. */
interface Status {
  /** Version of kube-netlink-proxy: `0.1.0`. */
  readonly version: string;
  /** The emulated Kubernetes version: `1.36`. */
  readonly emulates: string;
  /** Start of the process, in ms since 1970. */
  readonly startedAt: number;
  /** Time of day, in ms since 1970. */
  readonly now: () => number;
  /** Paths of the server. */
  readonly paths: readonly string[];
  /** Summary of the objects with problems; undefined if there are none. */
  readonly leftOut: () => string | undefined;
}

const COMPONENT = 'kube-proxy';
const GROUP = 'config.k8s.io';
const VERSIONS = ['v1beta1', 'v1alpha1'];
const NOTE = 'This page is for debugging by people; its format may change at any time.';

/** The handler of /statusz. */
export function statuszHandler({ version, emulates, startedAt, now, paths, leftOut }: Status): Handler {
  const uptime = () => Math.max(0, Math.floor((now() - startedAt) / 1000));
  return negotiated('Statusz', {
    text: () => [
      `Started: ${unixDate(startedAt)}`,
      `Up: ${formatUptime(uptime())}`,
      `Node version: ${process.version}`,
      `Binary version: ${version}`,
      `Emulation version: ${emulates}`,
      `Paths: ${paths.join(' ')}`,
      ...[leftOut()].flatMap((summary) => (summary === undefined ? [] : `Left out: ${summary}`)),
    ],
    fields: () => ({
      startTime: new Date(startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
      uptimeSeconds: uptime(),
      binaryVersion: version,
      emulationVersion: emulates,
      paths,
    }),
  });
}

/** The handler of /flagz. `flags`: the value of every flag, by its name without dashes. */
function flagzHandler(flags: Readonly<Record<string, string>>): Handler {
  const sorted = Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
  return negotiated('Flagz', {
    text: () => sorted.map(([name, value]) => `${name}=${value}`),
    fields: () => ({ flags: Object.fromEntries(sorted) }),
  });
}

interface Page {
  readonly text: () => readonly string[];
  readonly fields: () => object;
}

function negotiated(kind: 'Statusz' | 'Flagz', page: Page): Handler {
  return ({ headers }): Response => {
    const form = choose(headers.accept ?? '*/*', kind);
    if (form === undefined) {
      const wanted = `application/json;v=${VERSIONS[0]};g=${GROUP};as=${kind}`;
      return plain(406, `this page is available as text/plain or as ${wanted}\n`);
    }
    if (form !== 'text') {
      const about = { kind, apiVersion: `${GROUP}/${form}`, metadata: { name: COMPONENT } };
      return json(200, `${JSON.stringify({ ...about, ...page.fields() })}\n`);
    }
    const title = kind === 'Statusz' ? 'statusz' : 'flags';
    return plain(200, [`${COMPONENT} ${title}`, NOTE, '', ...page.text(), ''].join('\n'));
  };
}

/** The first acceptable form: text, or the version of the JSON; undefined if there is none. */
function choose(accept: string, kind: string): string | undefined {
  for (const range of accept.split(',')) {
    const [type = '', ...pairs] = range.split(';').map((part) => part.trim());
    if (['text/plain', 'text/*', '*/*'].includes(type.toLowerCase())) return 'text';
    const parameters = new Map(pairs.map((pair) => pair.split('=', 2) as [string, string]));
    const version = parameters.get('v');
    const asked = parameters.get('g') === GROUP && parameters.get('as') === kind;
    if (type === 'application/json' && asked && VERSIONS.includes(version ?? '')) return version;
  }
  return undefined;
}

/** A time in ms since 1970 as date(1) prints it: `Wed Oct 16 21:03:43 UTC 2024`. */
function unixDate(milliseconds: number): string {
  const [day, date = '', month, year, time] = new Date(milliseconds)
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `${day} ${month} ${date.replace(/^0/, ' ')} ${time} UTC ${year}`;
}

function formatUptime(seconds: number): string {
  const two = (value: number) => `${value % 60}`.padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60))} min ${two(seconds)} sec`;
}
