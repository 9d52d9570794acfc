// Each kind of authentication, against a server that checks.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ApiClient, type ApiClientOptions } from '../../../../src/proxy/api/client.js';
import { type ConnectionOptions, connectToApi } from '../../../../src/proxy/api/connection.js';
import { makeAuthority } from '../../../support/apiServer/certificates.js';
import { until } from '../../../support/apiServer/cluster.js';
import { service } from '../../../support/apiServer/objects.js';
import { ApiServer, type ApiServerOptions } from '../../../support/apiServer/server.js';
import { closeAfter } from '../../../support/closeAfter.js';

const authority = makeAuthority('authority');
const folder = mkdtempSync(join(tmpdir(), 'knp-connection-'));
closeAfter({ close: () => rmSync(folder, { recursive: true }) });
const write = (name: string, text: string, mode = 0o600) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

async function startServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = closeAfter(await new ApiServer({ tls: authority.server(), ...options }).start());
  server.store.set(service('web', '10.96.0.1'));
  return server;
}

function kubeconfig(server: string, user: object, cluster: object = {}): string {
  return write(
    'kubeconfig.conf',
    JSON.stringify({
      'current-context': 'default',
      contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
      clusters: [
        {
          name: 'default',
          cluster: { server, 'certificate-authority-data': base64(authority.cert), ...cluster },
        },
      ],
      users: [{ name: 'default', user }],
    }),
  );
}

async function connect(
  options: ConnectionOptions,
  client: Partial<ApiClientOptions> = {},
): Promise<ApiClient> {
  const connection = await connectToApi(options);
  return closeAfter(new ApiClient(connection, { userAgent: 'kube-netlink-proxy/test', ...client }));
}

/** Names of the Services that a client reads. */
async function namesRead(client: ApiClient, signal = new AbortController().signal): Promise<string[]> {
  const names: string[] = [];
  await client.list(
    '/api/v1/services',
    {},
    (item) => names.push((item as ReturnType<typeof service>).metadata.name),
    signal,
  );
  return names;
}

describe('a server lets in', () => {
  it("a pod's service account, whose token is read again", async () => {
    const tokens = new Set(['one']);
    const server = await startServer({ tokens });
    write('ca.crt', authority.cert);
    write('token', 'one');
    const { hostname, port } = new URL(server.url);
    const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const client = await connect({ environment, serviceAccount: folder });
    assert.deepEqual(await namesRead(client), ['web']);
    tokens.clear();
    tokens.add('two');
    await assert.rejects(namesRead(client), { code: 'ERR_STATUS', status: 401, reason: 'Unauthorized' });
    write('token', 'two\n');
    assert.deepEqual(await namesRead(client), ['web']);
    // While the file is being replaced, what it said stands.
    rmSync(join(folder, 'token'));
    assert.deepEqual(await namesRead(client), ['web']);
    tokens.clear();
    await assert.rejects(namesRead(client), /401.*token.*ENOENT/);
  });

  it('a client certificate, that of the next connection once the files changed', async () => {
    const server = await startServer({ clientCA: authority.cert, tokens: new Set() });
    const use = (name: string) => {
      const pair = authority.client(name);
      write('client.crt', pair.cert);
      write('client.key', pair.key);
    };
    use('first');
    const files = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    const client = await connect({ kubeconfig: kubeconfig(server.url, files) });
    await namesRead(client);
    use('second');
    await namesRead(client);
    const { cert, key } = authority.client('third');
    const data = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
    await namesRead(await connect({ kubeconfig: kubeconfig(server.url, data) }));
    assert.deepEqual(
      server.requests.map(({ certificate }) => certificate),
      ['first', 'second', 'third'],
    );
  });

  it('a password and an impersonated user, through a path before all others', async () => {
    const server = await startServer({ prefix: '/k8s/clusters/c-1' });
    const user = { username: 'u', password: 'p', as: 'other', 'as-groups': ['g', 'h'] };
    await namesRead(await connect({ kubeconfig: kubeconfig(server.url, user) }));
    const { headers, path } = server.requests[0] ?? assert.fail();
    assert.equal(path, '/api/v1/services');
    assert.equal(headers.authorization, `Basic ${base64('u:p')}`);
    assert.equal(headers['impersonate-user'], 'other');
    assert.equal(headers['impersonate-group'], 'g, h');
    assert.equal(headers['user-agent'], 'kube-netlink-proxy/test');
    assert.equal(headers.accept, 'application/json');
  });

  it('a master without a word', async () => {
    const plain = closeAfter(await new ApiServer().start());
    assert.deepEqual(await namesRead(await connect({ master: plain.url })), []);
  });

  it('a master in place of the server of a kubeconfig', async () => {
    const server = await startServer({ tokens: new Set(['one']) });
    const path = kubeconfig('https://nowhere.invalid', { token: 'one' }, { 'tls-server-name': 'wrong' });
    assert.deepEqual(await namesRead(await connect({ kubeconfig: path, master: server.url })), ['web']);
  });
});

describe('a program that gives credentials', () => {
  const program = (status: string) =>
    write(
      'login',
      `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" > ${folder}/told
echo run >> ${folder}/runs
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}'
`,
      0o700,
    );
  const runs = () => readFileSync(join(folder, 'runs'), 'utf8').split('\n').length - 1;
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './login',
    interactiveMode: 'Never',
  };

  it('is run once for as long as they are good, and again when they are refused', async () => {
    const tokens = new Set(['one']);
    const server = await startServer({ tokens });
    write('runs', '');
    program('{"token":"one"}');
    const client = await connect({
      kubeconfig: kubeconfig(server.url, { exec: { ...exec, provideClusterInfo: true } }),
    });
    await Promise.all([namesRead(client), namesRead(client)]);
    await namesRead(client);
    assert.equal(runs(), 1);
    const told = JSON.parse(readFileSync(join(folder, 'told'), 'utf8'));
    assert.equal(told.kind, 'ExecCredential');
    assert.equal(told.spec.interactive, false);
    assert.equal(told.spec.cluster.server, server.url);
    assert.equal(told.spec.cluster['certificate-authority-data'], base64(authority.cert));
    tokens.clear();
    tokens.add('two');
    program('{"token":"two"}');
    await assert.rejects(namesRead(client), { status: 401 });
    await namesRead(client);
    assert.equal(runs(), 2);
  });

  it('is run once more when several requests were refused with the same ones', async () => {
    const server = await startServer();
    write('runs', '');
    program('{"token":"one"}');
    const connection = await connectToApi({ kubeconfig: kubeconfig(server.url, { exec }) });
    const [first, second] = [await connection.credentials(), await connection.credentials()];
    const token = async () => (await connection.credentials()).headers['Authorization'];
    program('{"token":"two"}');
    first.refused();
    assert.equal(await token(), 'Bearer two');
    second.refused();
    assert.equal(await token(), 'Bearer two');
    assert.equal(runs(), 2);
  });

  it('is run again when they are refused, or seem to have expired, after the clock jumped', async (t) => {
    const tokens = new Set(['one']);
    const server = await startServer({ tokens });
    write('runs', '');
    const give = (token: string, until: number) =>
      program(JSON.stringify({ token, expirationTimestamp: `${until}-01-01T00:00:00Z` }));
    const clock = t.mock.method(Date, 'now', () => Date.UTC(2029, 6));
    give('one', 2030);
    const client = await connect({ kubeconfig: kubeconfig(server.url, { exec }) });
    await namesRead(client);
    await namesRead(client);
    assert.equal(runs(), 1);
    // Back: by the clock they are good for years, and the server takes them no more.
    clock.mock.mockImplementation(() => Date.UTC(2021));
    tokens.clear();
    tokens.add('two');
    give('two', 2030);
    await assert.rejects(namesRead(client), { status: 401 });
    assert.deepEqual(await namesRead(client), ['web']);
    assert.equal(runs(), 2);
    // Ahead.
    clock.mock.mockImplementation(() => Date.UTC(2041));
    assert.deepEqual(await namesRead(client), ['web']);
    assert.equal(runs(), 3);
  });

  it('is run again when they expire', async () => {
    const server = await startServer({ tokens: new Set(['one']) });
    write('runs', '');
    program('{"token":"one","expirationTimestamp":"2020-01-01T00:00:00Z"}');
    const client = await connect({ kubeconfig: kubeconfig(server.url, { exec }) });
    await namesRead(client);
    await namesRead(client);
    assert.equal(runs(), 2);
    program('{"token":"one","expirationTimestamp":"2999-01-01T00:00:00Z"}');
    await namesRead(client);
    await namesRead(client);
    assert.equal(runs(), 3);
  });

  it('may give a certificate', async () => {
    const server = await startServer({ clientCA: authority.cert, tokens: new Set() });
    const { cert, key } = authority.client('from-program');
    program(JSON.stringify({ clientCertificateData: cert, clientKeyData: key }).replaceAll('\\n', '\\\\n'));
    await namesRead(await connect({ kubeconfig: kubeconfig(server.url, { exec }) }));
    assert.equal(server.requests[0]?.certificate, 'from-program');
  });

  const failures: [what: string, text: string, told: RegExp][] = [
    [
      'fails',
      '#!/bin/sh\necho no network >&2\nexit 3\n',
      /ERR_CREDENTIALS: .*login: no network \(install it\)/,
    ],
    [
      'fails without a word',
      '#!/bin/sh\nexit 3\n',
      /ERR_CREDENTIALS: .*login: ended with status 3 \(install it\)$/,
    ],
    ['is killed', '#!/bin/sh\nkill -9 $$\n', /login: was ended by SIGKILL \(install it\)$/],
    ['prints something else', '#!/bin/sh\necho hello\n', /printed no JSON/],
    [
      'prints another object',
      '#!/bin/sh\necho {}\n',
      /printed no ExecCredential of client.authentication.k8s.io\/v1/,
    ],
    [
      'gives nothing',
      `#!/bin/sh\necho '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{}}'\n`,
      /gave neither a token nor a certificate/,
    ],
  ];
  for (const [what, text, told] of failures) {
    it(`that ${what} is told of, and run again`, async () => {
      const server = await startServer({ tokens: new Set(['one']) });
      write('login', text, 0o700);
      const user = { exec: { ...exec, installHint: 'install it' } };
      const client = await connect({ kubeconfig: kubeconfig(server.url, user) });
      await assert.rejects(namesRead(client), told);
      write('runs', '');
      program('{"token":"one"}');
      assert.deepEqual(await namesRead(client), ['web']);
    });
  }
});

describe('a connection', () => {
  it('is refused at the start when a file that it needs is not there', async () => {
    const path = kubeconfig('https://127.0.0.1:1', { tokenFile: 'nowhere' });
    await assert.rejects(connectToApi({ kubeconfig: path }), /ERR_CREDENTIALS.*nowhere.*ENOENT/);
    await assert.rejects(connectToApi({ kubeconfig: join(folder, 'missing') }), /ENOENT/);
  });

  it('trusts only the authority of the kubeconfig, and only for the name of the server', async () => {
    const server = await startServer();
    const { cert } = makeAuthority('other');
    const path = kubeconfig(server.url, {}, { 'certificate-authority-data': base64(cert) });
    await assert.rejects(namesRead(await connect({ kubeconfig: path })), {
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
    const renamed = kubeconfig(server.url, {}, { 'tls-server-name': 'elsewhere' });
    await assert.rejects(namesRead(await connect({ kubeconfig: renamed })), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const named = kubeconfig(server.url, {}, { 'tls-server-name': 'kubernetes.default' });
    assert.deepEqual(await namesRead(await connect({ kubeconfig: named })), ['web']);
    const careless = { 'insecure-skip-tls-verify': true, 'certificate-authority-data': undefined };
    assert.deepEqual(await namesRead(await connect({ kubeconfig: kubeconfig(server.url, {}, careless) })), [
      'web',
    ]);
  });

  it('stays open from one request to the next', async () => {
    const server = await startServer();
    const client = await connect({ kubeconfig: kubeconfig(server.url, {}) });
    await namesRead(client);
    await namesRead(client);
    assert.equal(server.connectionsSeen, 1);
    // One that the server closed meanwhile is replaced.
    server.resetConnections();
    assert.deepEqual(await namesRead(client), ['web']);
  });

  it('is closed when no data arrives in time', async () => {
    const silent = await startServer();
    silent.fail(/services/, { silent: true });
    const hasty = await connect({ kubeconfig: kubeconfig(silent.url, {}) }, { timeouts: { answer: 100 } });
    await assert.rejects(namesRead(hasty), { code: 'ERR_TIMEOUT', message: /no answer/ });
    const stalling = await startServer();
    stalling.fail(/services/, { stall: 20 });
    const bored = await connect({ kubeconfig: kubeconfig(stalling.url, {}) }, { timeouts: { idle: 100 } });
    await assert.rejects(namesRead(bored), { code: 'ERR_TIMEOUT', message: /no data/ });
  });

  it('fails with anything but an answer', async () => {
    const answers: [text: string, code: string][] = [
      ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n', 'ERR_MALFORMED'],
      ['HTTP/1.1 100 Continue\r\n\r\n', 'ECONNRESET'],
      ['HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n', 'ERR_STATUS'],
      ['HTTP/1.1 204 No Content\r\n\r\n', 'ERR_MALFORMED'],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'ECONNRESET'],
      [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
      ['hello\r\n\r\n', 'HPE_INVALID_CONSTANT'],
      ['', 'ECONNRESET'],
    ];
    for (const [text, code] of answers) {
      const server = createServer((socket) => {
        socket.on('error', () => {}).once('data', () => socket.end(text));
      });
      closeAfter(server);
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const client = await connect({ master: `http://127.0.0.1:${port}` });
      await assert.rejects(namesRead(client), { name: 'ApiError', code }, text.slice(0, 80));
    }
  });

  it('ends at once when that is asked for', async () => {
    const server = await startServer();
    const client = await connect({ kubeconfig: kubeconfig(server.url, {}) });
    server.fail(/services/, { silent: true });
    const end = new AbortController();
    const reading = namesRead(client, end.signal);
    setTimeout(() => end.abort(), 50);
    await assert.rejects(reading, { code: 'ABORT_ERR' });
  });

  it('ends with its client, though it was made with credentials of before', async () => {
    const server = await startServer({ clientCA: authority.cert });
    const use = (name: string) => {
      const { cert, key } = authority.client(name);
      write('client.crt', cert);
      write('client.key', key);
    };
    use('first');
    const files = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    const client = await connect({ kubeconfig: kubeconfig(server.url, files) });
    server.fail(/services/, { silent: true });
    const reading = namesRead(client);
    await until('it asks', () => server.requests.length === 1);
    use('second');
    await namesRead(client);
    assert.equal(server.connectionsSeen, 2);
    client.close();
    await assert.rejects(reading, { code: 'ECONNRESET' });
  });

  it('takes so many requests at a time, and so many a second', async () => {
    const server = await startServer();
    const client = await connect({ kubeconfig: kubeconfig(server.url, {}) }, { rate: { qps: 20, burst: 3 } });
    const started = performance.now();
    await Promise.all(Array.from({ length: 7 }, () => namesRead(client)));
    const took = performance.now() - started;
    assert.ok(took >= 190, `7 requests took ${took} ms`);
  });
});
