// /statusz and /flagz: what runs here, since when, and with which flags; text for people, or JSON of config.k8s.io for
// those who ask for it as Kubernetes documents.
import { type Answer, type Handler, json, plain } from './answer.js';

/** The contents of /statusz. */
export interface Status {
  /** Of kube-netlink-proxy: `0.1.0`. */
  readonly version: string;
  /** The Kubernetes version that is imitated: `1.36`. */
  readonly emulates: string;
  /** Ms since 1970. */
  readonly startedAt: number;
  /** Ms since 1970. */
  readonly now: () => number;
  /** Other paths of the server. */
  readonly paths: readonly string[];
  /** How many objects are left out, and which problems they have; undefined when there are none. */
  readonly leftOut: () => string | undefined;
}

const COMPONENT = 'kube-proxy';
const GROUP = 'config.k8s.io';
const VERSIONS = ['v1beta1', 'v1alpha1'];
const NOTE = 'For people who look into a running process: the layout of this page may change at any time.';

/** The handler of /statusz. */
export function statuszHandler({ version, emulates, startedAt, now, paths, leftOut }: Status): Handler {
  const uptime = () => Math.max(0, Math.floor((now() - startedAt) / 1000));
  return negotiated('Statusz', {
    text: () => [
      `Started: ${unixDate(startedAt)}`,
      `Up: ${spell(uptime())}`,
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

/** The handler of /flagz: every flag with its value as text, without the dashes. */
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
  return ({ headers }): Answer => {
    const form = choose(headers.accept ?? '*/*', kind);
    if (form === undefined) {
      const wanted = `application/json;v=${VERSIONS[0]};g=${GROUP};as=${kind}`;
      return plain(406, `this page is to be had as text/plain or as ${wanted}\n`);
    }
    if (form !== 'text') {
      const about = { kind, apiVersion: `${GROUP}/${form}`, metadata: { name: COMPONENT } };
      return json(200, `${JSON.stringify({ ...about, ...page.fields() })}\n`);
    }
    const title = kind === 'Statusz' ? 'statusz' : 'flags';
    return plain(200, [`${COMPONENT} ${title}`, NOTE, '', ...page.text(), ''].join('\n'));
  };
}

/** The first acceptable form: text, or the version of the JSON; undefined when there is none. */
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

/** `Wed Oct 16 21:03:43 UTC 2024`, as date(1) prints it. */
function unixDate(milliseconds: number): string {
  const [day, date = '', month, year, time] = new Date(milliseconds)
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `${day} ${month} ${date.replace(/^0/, ' ')} ${time} UTC ${year}`;
}

function spell(seconds: number): string {
  const two = (value: number) => `${value % 60}`.padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60))} min ${two(seconds)} sec`;
}
