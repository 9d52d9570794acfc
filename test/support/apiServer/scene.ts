// A small cluster on a server, and a source that follows it, for most tests of the API source.
import type { ReflectorTimes } from '../../../src/proxy/api/reflector.js';
import { closeAfter } from '../closeAfter.js';
import { agrees, Follower, QUICK, until } from './cluster.js';
import { node, service, slice } from './objects.js';
import { ApiServer, type ApiServerOptions } from './server.js';

/** Paths of the followed resources. */
export const SERVICES = '/api/v1/services';
export const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
export const NODES = '/api/v1/nodes';

/** A server with Services a, b and c, their slices, and two nodes; closed after the tests of the file. */
export async function startServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = closeAfter(await new ApiServer(options).start());
  for (const name of ['a', 'b', 'c']) {
    server.store.set(service(name, `10.96.0.${name.charCodeAt(0)}`));
    server.store.set(slice(name, ['10.0.0.1', '10.0.0.2']));
  }
  server.store.set(node('node-a'));
  server.store.set(node('node-b'));
  return server;
}

/** Such a server, and a follower that has all objects and watches. */
export async function startBoth(times: Partial<ReflectorTimes> = {}) {
  const server = await startServer();
  const options = { times: { ...QUICK, ...times } };
  const follower = closeAfter(await Follower.start({ master: server.url }, options));
  await agrees(follower, server);
  await watches(server);
  return { server, follower };
}

/** Waits until the server has a watch of Services and one of slices. */
export function watches(server: ApiServer): Promise<void> {
  return until('it watches', () => server.watching(SERVICES) === 1 && server.watching(SLICES) === 1);
}

/** Deletes, changes and creates objects. */
export function churn({ store }: ApiServer): void {
  store.delete(service('a', ''));
  store.delete(slice('a', []));
  store.set(service('b', '10.96.1.1'));
  store.set(slice('c', ['10.0.0.9']));
  store.set(service('d', '10.96.1.2'));
}
