// /statusz and /flagz: version, uptime and flags of the process, as text, or as JSON of config.k8s.io if the Accept header
// requests it as Kubernetes documents.
import { type Handler, json, plain, type Response } from './handler.js';

/** The contents of /statusz. */
export interface Status {
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
export function flagzHandler(flags: Readonly<Record<string, string>>): Handler {
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
