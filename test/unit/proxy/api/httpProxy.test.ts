// The connection to the API server: direct, or through an HTTP proxy.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ApiClient } from '../../../../src/proxy/api/client.js';
import { connectToApi } from '../../../../src/proxy/api/connection.js';
import { proxyTo } from '../../../../src/proxy/api/httpProxy.js';
import { makeAuthority } from '../../../support/apiServer/certificates.js';
import { agrees, Follower, until } from '../../../support/apiServer/cluster.js';
import { service } from '../../../support/apiServer/objects.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { startTunnel } from '../../../support/apiServer/tunnel.js';
import { closeAfter } from '../../../support/closeAfter.js';

describe('a proxy is used', () => {
  const PROXY = 'http://proxy:3128';
  const cases: [server: string, noProxy: string, used: boolean][] = [
    ['https://10.0.0.1:6443', '', true],
    ['https://10.0.0.1:6443', '10.0.0.0/8', false],
    ['https://10.0.0.1:6443', '192.168.0.0/16, 10.0.0.1', false],
    ['https://10.0.0.1:6443', '10.0.0.1:6443', false],
    ['https://10.0.0.1:6443', '10.0.0.1:443', true],
    ['https://10.0.0.1:6443', '*', false],
    ['https://[fd00::1]:6443', 'fd00::/8', false],
    ['https://[fd00::1]:6443', 'fd00::1', false],
    ['https://[fd00::1]:6443', '[fd00::1]:6443', false],
    ['https://api.example.com', 'example.com', false],
    ['https://api.example.com', '.example.com:443', false],
    ['https://example.com', '.example.com', true],
    ['https://example.com', 'Example.com', false],
    ['https://notexample.com', 'example.com', true],
    ['https://localhost:6443', '', false],
    ['https://127.0.0.1:6443', '', false],
    ['https://[::1]:6443', '', false],
    ['http://10.0.0.1:8080', '', false],
  ];
  for (const [server, noProxy, used] of cases) {
    it(`${used ? 'for' : 'not for'} ${server} where NO_PROXY is '${noProxy}'`, () => {
      for (const environment of [
        { HTTPS_PROXY: PROXY, NO_PROXY: noProxy },
        { https_proxy: 'proxy:3128', no_proxy: noProxy },
      ]) {
        const proxy = proxyTo(new URL(server), '', environment);
        assert.equal(proxy?.href, used ? `${PROXY}/` : undefined);
      }
    });
  }

  it('that the kubeconfig names, whatever the environment says', () => {
    const environment = { HTTPS_PROXY: PROXY, NO_PROXY: '*' };
    const server = new URL('https://127.0.0.1');
    assert.equal(proxyTo(server, 'https://other', environment)?.host, 'other');
    assert.equal(proxyTo(server, '', {}), undefined);
    assert.throws(() => proxyTo(server, 'socks5://x', {}), /must be an http or https URL/);
  });
});

describe('through a proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-proxy-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const authority = makeAuthority('authority');

  async function setUp(credentials: string, given = credentials, user: object = {}) {
    const server = closeAfter(await new ApiServer({ tls: authority.server() }).start());
    server.store.set(service('web', '10.96.0.1'));
    const tunnel = closeAfter(await startTunnel(credentials));
    const url = tunnel.url.replace(credentials, given);
    const kubeconfig = join(folder, 'kubeconfig.conf');
    const ca = Buffer.from(authority.cert).toString('base64');
    const cluster = { server: server.url, 'certificate-authority-data': ca, 'proxy-url': url };
    const contexts = [{ name: 'x', context: { cluster: 'x', user: 'x' } }];
    const clusters = [{ name: 'x', cluster }];
    const users = [{ name: 'x', user }];
    writeFileSync(kubeconfig, JSON.stringify({ 'current-context': 'x', contexts, clusters, users }));
    const follower = closeAfter(await Follower.start({ kubeconfig }));
    return { server, tunnel, follower };
  }

  it('the server is followed, and its certificate is checked', async () => {
    const { server, tunnel, follower } = await setUp('user:secret');
    await agrees(follower, server);
    server.resetConnections();
    server.store.delete(service('web', ''));
    await agrees(follower, server);
    assert.equal(tunnel.asked[0], `CONNECT ${new URL(server.url).host} user:secret`);
    await server.rotate(makeAuthority('other').server());
    await until('it mistrusts', () =>
      follower.troubles.some(({ error }) => error.code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    );
  });

  it('a certificate and a key that do not belong together are reported until they do', async () => {
    const [one, other] = [authority.client('one'), authority.client('other')];
    writeFileSync(join(folder, 'client.crt'), one.cert);
    writeFileSync(join(folder, 'client.key'), other.key);
    const files = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    const { server, follower } = await setUp('user:secret', 'user:secret', files);
    await until('it is reported', () => follower.troubles.length >= 3);
    assert.deepEqual(
      new Set(follower.troubles.map(({ error }) => error.code)),
      new Set(['ERR_OSSL_X509_KEY_VALUES_MISMATCH']),
    );
    writeFileSync(join(folder, 'client.key'), one.key);
    await agrees(follower, server);
  });

  it('that refuses, the trouble is reported without the password', async () => {
    const { follower } = await setUp('user:secret', 'user:wrong');
    await until('it is reported', () => follower.troubles.length > 0);
    const { error } = follower.troubles[0] ?? assert.fail();
    assert.equal(error.code, 'ERR_PROXY');
    assert.match(error.message, /CONNECT 127\.[\d.]+:\d+ at 127\.0\.0\.1:\d+: 407/);
    assert.doesNotMatch(error.message, /wrong/);
  });

  it('that never answers, no connection is left behind', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      socket.resume();
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    closeAfter({ close: () => silent.close() });
    const { port } = silent.address() as AddressInfo;
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const kubeconfig = join(folder, 'silent.conf');
    const clusters = [{ name: 'x', cluster: { server: 'https://192.0.2.1' } }];
    const contexts = [{ name: 'x', context: { cluster: 'x' } }];
    writeFileSync(kubeconfig, JSON.stringify({ 'current-context': 'x', contexts, clusters }));
    const connection = { kubeconfig, environment };
    const follower = closeAfter(await Follower.start(connection, { timeouts: { connect: 50 } }));
    await until('it was tried', () => follower.troubles.length >= 6);
    assert.deepEqual(new Set(follower.troubles.map(({ error }) => error.code)), new Set(['ERR_TIMEOUT']));
    follower.close();
    await until('every connection is closed', () => sockets.size === 0);
  });

  it('the certificate of the proxy is not checked against the authority of the server', async () => {
    const server = closeAfter(await new ApiServer({ tls: authority.server() }).start());
    const options = { userAgent: 'test', rate: { qps: -1, burst: 0 } };
    const kubeconfig = join(folder, 'encrypted.conf');
    const ca = Buffer.from(authority.cert).toString('base64');
    const tunnel = closeAfter(await startTunnel('', authority.server()));
    const cluster = { server: server.url, 'certificate-authority-data': ca, 'proxy-url': tunnel.url };
    const contexts = [{ name: 'x', context: { cluster: 'x' } }];
    const clusters = [{ name: 'x', cluster }];
    writeFileSync(kubeconfig, JSON.stringify({ 'current-context': 'x', contexts, clusters }));
    const client = closeAfter(new ApiClient(await connectToApi({ kubeconfig }), options));
    const listing = client.list('/api/v1/nodes', {}, () => {}, new AbortController().signal);
    await assert.rejects(listing, { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    assert.deepEqual(tunnel.asked, []);
  });
});
