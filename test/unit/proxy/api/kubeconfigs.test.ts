// Every kubeconfig of the folder, read by this project and by @kubernetes/client-node. The list of differences is checked
// in, each with its reason: a new one, in either reader, has to be understood before it is added.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { connectToApi } from '../../../../src/proxy/api/connection.js';
import { ROOT } from '../../../support/paths.js';

/** Major version of the library that is installed. */
const VERSION = Number.parseInt(
  JSON.parse(readFileSync(join(ROOT, 'node_modules/@kubernetes/client-node/package.json'), 'utf8')).version,
  10,
);
const FOLDER = join(ROOT, 'test/unit/proxy/api/kubeconfigs');

/** The contents of a request that follow from a kubeconfig; absent fields are not sent. */
type Reading = Readonly<Record<string, string>>;

async function readByUs(path: string): Promise<Reading> {
  const connection = await connectToApi({ kubeconfig: path, environment: {} });
  const { tls, headers } = await connection.credentials();
  // The client drops the slash of each request's path.
  const server = connection.server.href.replace(/\/$/, '');
  return readingOf(server, connection.proxy?.href, tls, headers);
}

async function readByLibrary(path: string): Promise<Reading> {
  const config = new KubeConfig();
  config.loadFromFile(path);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('no current cluster');
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const basic = options.auth && { Authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };
  const proxy = cluster.proxyUrl && new URL(cluster.proxyUrl).href;
  const server = new URL(cluster.server).href.replace(/\/$/, '');
  return readingOf(server, proxy, options, { ...basic, ...options.headers });
}

function readingOf(
  server: string,
  proxy: string | undefined,
  { ca, cert, key, servername, rejectUnauthorized }: RequestOptions,
  headers: object,
): Reading {
  const all = { server, proxy, ca, cert, key, servername, ...headers };
  const present = Object.entries(all).filter(([, value]) => value !== undefined && value !== '');
  return {
    ...Object.fromEntries(present.map(([name, value]) => [name, String(value).trim()])),
    ...(rejectUnauthorized === false ? { insecure: 'true' } : {}),
  };
}

/** A reading, or that there is none. */
const attempt = (reading: Promise<Reading>): Promise<Reading> => reading.catch(() => ({ refused: 'true' }));

/** `field: ours | the library's`, one for each field that differs. */
function differences(ours: Reading, library: Reading): string[] {
  if (ours['refused'] || library['refused']) {
    return ours['refused'] === library['refused'] ? [] : [`${ours['refused'] ? 'ours' : 'library'} refuses`];
  }
  const fields = [...new Set([...Object.keys(ours), ...Object.keys(library)])].sort();
  return fields.flatMap((field) =>
    ours[field] === library[field]
      ? []
      : [`${field}: ${ours[field] ?? 'none'} | ${library[field] ?? 'none'}`],
  );
}

/** One that is expected. */
interface Expected {
  readonly why: string;
  /** First major version of the library that differs; default any. */
  readonly since?: number;
  readonly differences: readonly string[];
}

describe('kubeconfigs', () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  const expected = parse(readFileSync(join(FOLDER, '../kubeconfigDifferences.yaml'), 'utf8')) as Record<
    string,
    Expected
  >;

  it('are many, and every expected difference has a file and a reason', () => {
    assert.ok(names.length >= 25, `${names.length} files`);
    for (const [name, { why }] of Object.entries(expected)) {
      assert.ok(names.includes(`${name}.yaml`), `${name} has no file`);
      assert.ok(why.length > 20, `${name} has no reason`);
    }
  });

  for (const name of names) {
    const key = name.replace('.yaml', '');
    it(`${key} is read as by the Kubernetes client library${key in expected ? ', but for the listed differences' : ''}`, async () => {
      const path = join(FOLDER, name);
      const found = differences(await attempt(readByUs(path)), await attempt(readByLibrary(path)));
      const { since = 0, differences: listed = [] } = expected[key] ?? {};
      assert.deepEqual(found, VERSION >= since ? listed : []);
    });
  }
});
