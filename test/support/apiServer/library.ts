// @kubernetes/client-node, an independent client, with the test's API server.
import { CoreV1Api, DiscoveryV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { makeAuthority } from './certificates.js';
import { ApiServer, type ApiServerOptions } from './server.js';

/** A server with TLS, which the library requires, and a KubeConfig for it. */
export async function startWithKubeConfig(
  options: ApiServerOptions = {},
  user: object = {},
): Promise<{ server: ApiServer; config: KubeConfig }> {
  const authority = makeAuthority('authority');
  const server = await new ApiServer({ tls: authority.server(), ...options }).start();
  const config = new KubeConfig();
  const caData = Buffer.from(authority.cert).toString('base64');
  config.loadFromOptions({
    clusters: [{ name: 'x', server: server.url, caData, skipTLSVerify: false }],
    users: [{ name: 'x', ...user }],
    contexts: [{ name: 'x', cluster: 'x', user: 'x' }],
    currentContext: 'x',
  });
  return { server, config };
}

/** Informers of the library for all resources that a proxy follows. */
export function informersOf(config: KubeConfig) {
  const core = config.makeApiClient(CoreV1Api);
  const discovery = config.makeApiClient(DiscoveryV1Api);
  return {
    services: makeInformer(config, '/api/v1/services', () => core.listServiceForAllNamespaces()),
    endpointSlices: makeInformer(config, '/apis/discovery.k8s.io/v1/endpointslices', () =>
      discovery.listEndpointSliceForAllNamespaces(),
    ),
    nodes: makeInformer(config, '/api/v1/nodes', () => core.listNode()),
  };
}
