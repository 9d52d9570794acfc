// @kubernetes/client-node and this project on one API server: the library checks the server of the tests, its KubeConfig
// is a source, and it gives the credentials that are left to it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CoreV1Api, EventsV1Api, type KubeConfig, V1MicroTime, Watch } from '@kubernetes/client-node';
import { ApiSource } from '../../../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../../../src/proxy/api/client.js';
import { type ConnectionOptions, connectToApi } from '../../../../src/proxy/api/connection.js';
import { makeAuthority } from '../../../support/apiServer/certificates.js';
import { agrees, Follower, QUICK, until } from '../../../support/apiServer/cluster.js';
import { startWithKubeConfig } from '../../../support/apiServer/library.js';
import { node, service, slice } from '../../../support/apiServer/objects.js';
import { churn, SERVICES } from '../../../support/apiServer/scene.js';
import { ApiServer } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { ROOT } from '../../../support/paths.js';

async function setUp() {
  const { server, config } = await startWithKubeConfig();
  closeAfter(server);
  for (const name of ['a', 'b', 'c']) {
    server.store.set(service(name, `10.96.0.${name.charCodeAt(0)}`));
    server.store.set(slice(name, ['10.0.0.1', '10.0.0.2']));
  }
  server.store.set(node('node-a'));
  return { server, config };
}

describe("the tests' API server, asked by the Kubernetes client library", () => {
  it('lists in pages', async () => {
    const { config } = await setUp();
    const core = config.makeApiClient(CoreV1Api);
    const names: (string | undefined)[] = [];
    let token: string | undefined;
    do {
      const { items, metadata } = await core.listServiceForAllNamespaces({
        limit: 2,
        ...(token ? { _continue: token } : {}),
      });
      names.push(...items.map(({ metadata: of }) => of?.name));
      token = metadata?._continue;
    } while (token);
    assert.deepEqual(names, ['a', 'b', 'c']);
  });

  it('watches from a version, with selectors', async () => {
    const { server, config } = await setUp();
    const seen: string[] = [];
    const query = {
      resourceVersion: String(server.store.version),
      fieldSelector: 'spec.clusterIP!=None',
      timeoutSeconds: 60,
    };
    const request = await new Watch(config).watch(
      SERVICES,
      query,
      (type, { metadata }) => seen.push(`${type} ${metadata.name}`),
      () => {},
    );
    await until('it watches', () => server.watching(SERVICES) === 1);
    server.store.set(service('d', '10.96.0.9'));
    server.store.set(service('headless', 'None'));
    server.store.set(service('a', '10.96.0.8'));
    server.store.delete(service('b', ''));
    await until('everything has arrived', () => seen.length === 3);
    assert.deepEqual(seen, ['ADDED d', 'MODIFIED a', 'DELETED b']);
    request.abort();
  });

  it('reports a version that is too old', async () => {
    const { server, config } = await setUp();
    const old = String(server.store.version);
    server.store.delete(service('b', ''));
    server.store.compact();
    const seen: { code?: number }[] = [];
    const ended = new Promise((resolve) =>
      new Watch(config).watch(
        SERVICES,
        { resourceVersion: old },
        (type, object) => seen.push({ type, ...object }),
        resolve,
      ),
    );
    await ended;
    assert.deepEqual([seen.length, seen[0]?.code], [1, 410]);
  });

  it('takes the events that a real server takes, and refuses others', async () => {
    const { server, config } = await setUp();
    const events = config.makeApiClient(EventsV1Api);
    const body = {
      metadata: { name: 'web.1', namespace: 'demo' },
      eventTime: new V1MicroTime(),
      reportingController: 'kube-proxy',
      reportingInstance: 'kube-proxy-node-a',
      action: 'Listen',
      reason: 'Test',
      note: 'a note',
      type: 'Normal',
      regarding: { kind: 'Service', namespace: 'demo', name: 'web' },
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
    };
    const created = await events.createNamespacedEvent({ namespace: 'demo', body });
    assert.equal(created.note, 'a note');
    assert.equal(server.requests.at(-1)?.path, '/apis/events.k8s.io/v1/namespaces/demo/events');
    const wrong = { ...body, reportingController: '' };
    await assert.rejects(events.createNamespacedEvent({ namespace: 'demo', body: wrong }), { code: 422 });
  });
});

describe('a source from a KubeConfig', () => {
  it('follows the server, and recovers from a reset connection', async () => {
    const { server, config } = await setUp();
    const options = { nodeName: 'node-a', times: QUICK, rate: { qps: -1, burst: 0 } };
    const follower = closeAfter(
      Follower.of((trouble) => ApiSource.fromKubeConfig(config, { ...options, trouble })),
    );
    await agrees(follower, server);
    server.resetConnections();
    churn(server);
    await agrees(follower, server);
    assert.equal(follower.synced, 1);
    follower.close();
    await until('it has closed', () => server.watching(SERVICES) === 0);
  });

  it('has the credentials of the KubeConfig', async () => {
    for (const user of [{ token: 'secret' }, { username: 'u', password: 'p' }]) {
      const { server, config } = await startWithKubeConfig({}, user);
      closeAfter(server);
      const options = { nodeName: 'node-a', trouble: () => {} };
      const source = ApiSource.fromKubeConfig(config, options);
      closeAfter({ close: () => source.stop() });
      await source.start({ changed() {}, synced() {}, problems() {} });
      const given = server.requests[0]?.headers.authorization;
      assert.equal(given, 'token' in user ? 'Bearer secret' : 'Basic dTpw');
    }
  });

  it('is refused without a cluster', () => {
    const config = { getCurrentCluster: () => null, applyToHTTPSOptions: async () => {} };
    const options = { nodeName: 'node-a', trouble: () => {} };
    assert.throws(() => ApiSource.fromKubeConfig(config, options), /has no current cluster/);
  });

  it("reports the library's errors as troubles, and tries again", async () => {
    const { server, config } = await setUp();
    let broken = true;
    const flaky: Pick<KubeConfig, 'getCurrentCluster' | 'applyToHTTPSOptions'> = {
      getCurrentCluster: () => config.getCurrentCluster(),
      applyToHTTPSOptions: async (options) => {
        if (broken) throw new Error('no token: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl');
        return config.applyToHTTPSOptions(options);
      },
    };
    const options = { nodeName: 'node-a', times: QUICK, rate: { qps: -1, burst: 0 } };
    const follower = closeAfter(
      Follower.of((trouble) => ApiSource.fromKubeConfig(flaky, { ...options, trouble })),
    );
    await until('it is reported', () => follower.troubles.length > 0);
    const { error } = follower.troubles[0] ?? assert.fail();
    assert.equal(error.message, 'ERR_CREDENTIALS: KubeConfig: no token: [redacted]');
    broken = false;
    await agrees(follower, server);
  });
});

describe("a kubeconfig's auth-provider", () => {
  const authority = makeAuthority('authority');
  const folder = mkdtempSync(join(tmpdir(), 'knp-provider-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (lifetime: number) =>
    `${part({ alg: 'none' })}.${part({ exp: Math.floor(Date.now() / 1000) + lifetime })}.x`;

  function kubeconfig(server: string, provider: object): ConnectionOptions {
    const path = join(folder, 'kubeconfig.conf');
    const ca = Buffer.from(authority.cert).toString('base64');
    const text = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      // The library refuses a kubeconfig with such entries.
      clusters: [{ cluster: {} }, { name: 'x', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ user: {} }, { name: 'x', user: { 'auth-provider': provider, as: 'other' } }],
    };
    writeFileSync(path, JSON.stringify(text));
    return { kubeconfig: path };
  }

  async function list(options: ConnectionOptions): Promise<void> {
    const client = closeAfter(new ApiClient(await connectToApi(options), { userAgent: 'test' }));
    await client.list(SERVICES, {}, () => {}, new AbortController().signal);
  }

  it('oidc gives its token', async () => {
    const idToken = token(3600);
    const tokens = new Set([idToken]);
    const server = closeAfter(await new ApiServer({ tls: authority.server(), tokens }).start());
    await list(kubeconfig(server.url, { name: 'oidc', config: { 'id-token': idToken } }));
    const { headers } = server.requests[0] ?? assert.fail();
    assert.equal(headers.authorization, `Bearer ${idToken}`);
    assert.equal(headers['impersonate-user'], 'other');
  });

  it('without a token that can be used is an error, and nothing is sent without credentials', async () => {
    const server = closeAfter(await new ApiServer({ tls: authority.server() }).start());
    const expired = token(-3600);
    for (const provider of [
      { name: 'oidc', config: { 'id-token': expired } },
      { name: 'oidc' },
      { name: 'unheard-of', config: { 'id-token': expired } },
    ]) {
      await assert.rejects(
        list(kubeconfig(server.url, provider)),
        ({ code, message }: Error & { code: string }) => {
          assert.equal(code, 'ERR_CREDENTIALS');
          assert.ok(
            message.startsWith(`ERR_CREDENTIALS: auth-provider ${provider.name}: the library gave no token`),
          );
          return !message.includes(expired);
        },
      );
    }
    assert.equal(server.requests.length, 0);
  });

  it('names the package where it is not installed', () => {
    const lacking = join(folder, 'lacking');
    cpSync(join(ROOT, 'dist/src'), join(lacking, 'src'), { recursive: true });
    writeFileSync(join(lacking, 'package.json'), '{"type": "module"}');
    mkdirSync(join(lacking, 'node_modules'));
    symlinkSync(join(ROOT, 'node_modules/yaml'), join(lacking, 'node_modules/yaml'));
    const options = kubeconfig('https://127.0.0.1:1', { name: 'oidc', config: {} });
    const script = `
      const { connectToApi } = await import(${JSON.stringify(join(lacking, 'src/proxy/api/index.js'))});
      await connectToApi(${JSON.stringify(options)}).catch(({ message }) => console.log(message));`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.match(
      said,
      /^ERR_CREDENTIALS: auth-provider oidc: Cannot find package '@kubernetes\/client-node'/,
    );
    assert.match(said, /\(npm install @kubernetes\/client-node\)/);
  });
});
