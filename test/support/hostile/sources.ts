// The sources of hostile objects: each sends them as bytes, and reads them as the proxy does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESOURCES } from '../../../bench/apiServer/server.js';
import type { Problem } from '../../../src/kernel/errors.js';
import { ApiSource } from '../../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../../src/proxy/api/client.js';
import { connectToApi } from '../../../src/proxy/api/connection.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { ManifestSource } from '../../../src/proxy/source/manifests.js';
import type { Source } from '../../../src/proxy/source/source.js';
import { QUICK, until } from '../apiServer/cluster.js';
import { type Hostile, hostileObjects, jsonBytes, OTHER, otherObjects, type Part } from './objects.js';

/** What a source reports. */
export interface Read {
  readonly objects: readonly KubernetesObject[];
  readonly problems: readonly Problem[];
}

/** Reads the objects with a hostile text. */
export const SOURCES: Readonly<Record<string, (hostile: Hostile, part?: Part) => Promise<Read>>> = {
  'manifests in JSON': (hostile, part) => fromFile('all.json', listOf(hostile, part)),
  'manifests in YAML': (hostile, part) =>
    fromFile('all.yaml', Buffer.concat([Buffer.from('# In flow style.\n'), listOf(hostile, part)])),
  'lists of an API server': (hostile, part) => fromServer(hostile, false, part),
  'watches of an API server': (hostile, part) => fromServer(hostile, true, part),
};

/** A manifest with the hostile objects. */
export function listOf(hostile: Hostile, part?: Part): Buffer {
  return jsonBytes(listObject(hostileObjects(hostile, part)), hostile);
}

function listObject(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items };
}

async function fromFile(name: string, contents: Buffer): Promise<Read> {
  const folder = mkdtempSync(join(tmpdir(), 'knp-hostile-'));
  try {
    writeFileSync(join(folder, name), contents);
    writeFileSync(join(folder, 'other.json'), jsonBytes(listObject(otherObjects()), ''));
    const { started, read } = following(new ManifestSource({ path: folder, follow: false }));
    await started;
    return read;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The objects and problems that a source reports from now on. */
function following(source: Source) {
  const objects: KubernetesObject[] = [];
  const problems: Problem[] = [];
  const started = source.start({
    changed(changes) {
      for (const { object } of changes) objects.push(object);
    },
    synced() {},
    problems: (found) => problems.push(...found),
  });
  return { started, read: { objects, problems } };
}

async function fromServer(hostile: Hostile, watched: boolean, part?: Part): Promise<Read> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
    const [, kind = ''] = RESOURCES[pathname] ?? [];
    const items = objectsOf(kind, hostile, part);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    if (searchParams.get('watch') === 'true') sendEvents(watched ? items : [], response, hostile);
    else response.end(jsonBytes(list(kind, watched ? [] : items), hostile));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = await connectToApi({ master: `http://127.0.0.1:${port}` });
  const client = new ApiClient(connection, { userAgent: 'test', rate: { qps: -1, burst: 0 } });
  const troubles: unknown[] = [];
  const source = new ApiSource({
    ...{ client, nodeName: OTHER.nodeName, allNodes: true, times: QUICK },
    trouble: (trouble) => troubles.push(trouble),
  });
  try {
    const { started, read } = following(source);
    await started;
    await until('the last object of each kind was read', () => LAST.every((last) => read.objects.some(last)));
    if (troubles.length > 0) throw new Error(`the source had trouble: ${JSON.stringify(troubles)}`);
    return { objects: [...read.objects], problems: [...read.problems] };
  } finally {
    source.stop();
    client.close();
    server.closeAllConnections();
    server.close();
  }
}

/** The objects of a kind; those whose kind is hostile are sent with all others. */
function objectsOf(kind: string, hostile: Hostile, part?: Part): object[] {
  const known = Object.values(RESOURCES).map(([, name]) => name);
  return [...hostileObjects(hostile, part), ...otherObjects()].filter((object) => {
    const { kind: own } = object as { kind: string };
    return own === kind || !known.includes(own);
  });
}

/** The objects that are sent last. */
const LAST: readonly ((object: KubernetesObject) => boolean)[] = [
  ({ kind, name }) => kind === 'Service' && name === 'other',
  ({ kind, name }) => kind === 'EndpointSlice' && name === 'other-a',
  ({ kind, name }) => kind === 'Node' && name === OTHER.nodeName,
];

function list(kind: string, items: readonly object[]): object {
  return { kind: `${kind}List`, apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
}

function sendEvents(items: readonly object[], response: ServerResponse, hostile: Hostile): void {
  for (const object of items)
    response.write(
      Buffer.concat([jsonBytes({ type: 'ADDED', object: versioned(object) }, hostile), NEWLINE]),
    );
}

const NEWLINE = Buffer.from('\n');

/** An event of a watch has the version of its object. */
function versioned(object: object): object {
  const { metadata } = object as { metadata: object };
  return { ...object, metadata: { resourceVersion: '2', ...metadata } };
}
