// @kubernetes/client-node, an independent client, with the test's API server.
import { KubeConfig } from '@kubernetes/client-node';
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
