import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isOnHost, type Request } from '../../../../src/command/servers/handler.js';
import { listen } from '../../../../src/command/servers/listen.js';
import { type MetricsServerOptions, metricsHandler } from '../../../../src/command/servers/metricsServer.js';
import { closeAfter } from '../../../support/closeAfter.js';
import { ask, dial } from '../../../support/http/request.js';

const STARTED = Date.parse('2024-10-16T21:03:43.700Z');

function build(options: Partial<MetricsServerOptions> = {}) {
  const handler = metricsHandler({
    metrics: { text: async () => 'up 1\n', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
    startedAt: STARTED,
    now: () => STARTED + 3_725_900,
    version: '0.1.0',
    emulates: '1.36',
    proxyMode: 'ipvs',
    configuration: () => ({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      ipvs: { syncPeriod: '30s' },
    }),
    statusz: false,
    leftOut: () => undefined,
    report: () => ({ version: '0.1.0' }),
    frontends: async () => [{ service: 'demo/web' }],
    ...options,
  });
  return { handler };
}

/** A request of a client on this host, or on another one. */
function request(path: string, onHost: boolean): Request {
  return {
    method: 'GET',
    path,
    query: new URLSearchParams(),
    headers: {},
    onHost,
    body: async () => '',
    signal: new AbortController().signal,
  };
}

async function open(options: Partial<MetricsServerOptions> = {}) {
  const { handler } = build(options);
  const failures: unknown[] = [];
  const { port } = closeAfter(
    await listen({ address: '127.0.0.1', port: 0 }, handler, (error) => failures.push(error)),
  );
  return { port, failures, get: (path: string) => ask(port, `GET ${path} HTTP/1.1`) };
}

const enabled = { profiling: { setVerbosity: () => {} } };
const TEXT = 'Content-Type: text/plain; charset=utf-8';

describe('the metrics server', () => {
  it('shows names and the state of the agent only to clients on the node, and metrics to all', async () => {
    const { handler } = build();
    const answer = async (path: string, onHost: boolean) => (await handler(request(path, onHost))).status;
    for (const path of ['/status', '/services']) {
      assert.deepEqual([await answer(path, true), await answer(path, false)], [200, 403], path);
    }
    for (const path of ['/metrics', '/metrics/slis', '/healthz', '/proxyMode', '/configz']) {
      assert.deepEqual([await answer(path, true), await answer(path, false)], [200, 200], path);
    }
    const { body } = await handler(request('/services', false));
    assert.equal(body, 'this page is only for clients on the node\n');
  });

  it('knows clients on the node by their address', async () => {
    const { get } = await open();
    assert.equal((await get('/services')).status, 'HTTP/1.1 200 OK');
    const cases: [remote: string | undefined, local: string, onHost: boolean][] = [
      ['127.0.0.1', '127.0.0.1', true],
      ['127.0.0.9', '127.0.0.1', true],
      ['::ffff:127.0.0.1', '::ffff:127.0.0.1', true],
      ['::1', '::1', true],
      // A command on the node, with the node's address in the configuration.
      ['192.0.2.1', '192.0.2.1', true],
      ['::ffff:192.0.2.1', '::ffff:192.0.2.1', true],
      ['2001:db8::1', '2001:db8::1', true],
      ['192.0.2.2', '192.0.2.1', false],
      ['::ffff:192.0.2.2', '::ffff:192.0.2.1', false],
      ['2001:db8::127.0.0.1', '2001:db8::1', false],
      ['128.127.0.1', '192.0.2.1', false],
      ['::1:1', '2001:db8::1', false],
      [undefined, '127.0.0.1', false],
    ];
    for (const [remote, local, onHost] of cases) {
      assert.equal(isOnHost(remote, local), onHost, `${remote} to ${local}`);
    }
  });

  it('serves the metrics, with the start of the process', async () => {
    const { get } = await open();
    const { status, headers, body } = await get('/metrics');
    assert.equal(status, 'HTTP/1.1 200 OK');
    assert.equal(body, 'up 1\n');
    assert.ok(headers.includes('Content-Type: text/plain; version=0.0.4; charset=utf-8'));
    assert.ok(headers.includes('Process-Start-Time-Unix: 1729112623'));
  });

  const answers: [request: string, body: string][] = [
    ['GET /healthz', 'ok'],
    ['POST /healthz', 'ok'],
    ['GET /healthz?verbose', '[+]ping ok\nhealthz check passed\n'],
    ['GET /healthz/ping', 'ok'],
    ['GET /proxyMode', 'ipvs'],
  ];
  for (const [request, body] of answers) {
    it(`responds to ${request}`, async () => {
      const { port } = await open();
      const raw = await ask(port, `${request} HTTP/1.1`);
      assert.deepEqual([raw.status, raw.body], ['HTTP/1.1 200 OK', body]);
      assert.deepEqual(raw.headers.slice(0, 2), [TEXT, 'X-Content-Type-Options: nosniff']);
    });
  }

  it('counts its own health checks', async () => {
    const { port, get } = await open();
    assert.equal((await get('/metrics/slis')).body, '');
    await get('/healthz');
    await get('/healthz/ping');
    const shown = await get('/metrics/slis');
    assert.equal(
      shown.body,
      '# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n' +
        '# TYPE kubernetes_healthcheck gauge\n' +
        'kubernetes_healthcheck{name="ping",type="healthz"} 1\n' +
        '# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n' +
        '# TYPE kubernetes_healthchecks_total counter\n' +
        'kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} 2\n',
    );
    assert.equal((await ask(port, 'DELETE /metrics/slis HTTP/1.1')).body, 'metrics reset\n');
    assert.equal((await get('/metrics/slis')).body, '');
  });

  it('shows the configuration', async () => {
    const { headers, body } = await (await open()).get('/configz');
    assert.equal(
      body,
      '{"kubeproxy.config.k8s.io":{"apiVersion":"kubeproxy.config.k8s.io/v1alpha1","kind":"KubeProxyConfiguration","ipvs":{"syncPeriod":"30s"}}}',
    );
    assert.ok(headers.includes('Content-Type: application/json'));
  });

  it('serves the state of the agent and the names of frontends, for the commands of people', async () => {
    const { get } = await open();
    assert.equal((await get('/status')).body, '{"version":"0.1.0"}\n');
    const { body, headers } = await get('/services');
    assert.equal(body, '{"frontends":[{"service":"demo/web"}]}\n');
    assert.ok(headers.includes('Content-Type: application/json'));
  });

  it('responds with 404 to other paths, and to paths that are not enabled', async () => {
    const { get } = await open();
    for (const path of [
      '/',
      '/healthz/',
      '/healthz/other',
      '/livez',
      '/statusz',
      '/flagz',
      '/debug/pprof/',
      '/debug/pprof/profile',
      '/debug/flags/v',
    ]) {
      const { status, body } = await get(path);
      assert.deepEqual([status, body], ['HTTP/1.1 404 Not Found', '404 page not found\n'], path);
    }
  });
});

describe('/debug/flags/v', () => {
  it('changes the verbosity', async () => {
    const levels: number[] = [];
    const { port } = await open({ profiling: { setVerbosity: (level) => levels.push(level) } });
    const { status, body } = await ask(port, 'PUT /debug/flags/v HTTP/1.1', '4\n');
    assert.deepEqual([status, body], ['HTTP/1.1 200 OK', 'successfully set klog.logging.verbosity to 4']);
    assert.deepEqual(levels, [4]);
  });

  it('accepts only integers, by PUT', async () => {
    const setVerbosity = (level: number) => assert.fail(`set to ${level}`);
    const { port } = await open({ profiling: { setVerbosity } });
    for (const text of ['', '-1', 'x', '1.5', '99999999999', '2147483648']) {
      const { status, body } = await ask(port, 'PUT /debug/flags/v HTTP/1.1', text);
      assert.equal(status, 'HTTP/1.1 400 Bad Request', text);
      assert.equal(
        body,
        `the verbosity must be an integer from 0 to 2147483647, found ${JSON.stringify(text)}\n`,
      );
    }
    assert.equal(
      (await ask(port, 'POST /debug/flags/v HTTP/1.1', '4')).status,
      'HTTP/1.1 406 Not Acceptable',
    );
  });
});

describe('/debug/pprof/', () => {
  it('lists its profiles, and all of them exist', async () => {
    const { get, failures } = await open(enabled);
    const { status, headers, body } = await get('/debug/pprof/');
    assert.equal(status, 'HTTP/1.1 200 OK');
    assert.ok(headers.includes('Content-Type: text/html; charset=utf-8'));
    assert.equal((await get('/debug/pprof')).body, body);
    const links = [...body.matchAll(/href="([^"?]*)/g)].map(([, href]) => href ?? '');
    assert.equal(links.length, 4);
    for (const link of links) assert.equal((await get(`${link}?seconds=1`)).status, 'HTTP/1.1 200 OK', link);
    assert.deepEqual(failures, []);
  });

  it('profiles the CPU for the requested time', async () => {
    const { get } = await open(enabled);
    const work = setInterval(function busyWork() {
      const end = performance.now() + 20;
      while (performance.now() < end);
    }, 30);
    const started = performance.now();
    const { headers, body } = await get('/debug/pprof/profile?seconds=1');
    clearInterval(work);
    assert.ok(performance.now() - started > 950);
    assert.ok(headers.includes('Content-Disposition: attachment; filename="kube-netlink-proxy.cpuprofile"'));
    const profile = JSON.parse(body) as {
      nodes: { callFrame: { functionName: string } }[];
      samples: number[];
    };
    assert.ok(profile.samples.length > 10);
    assert.ok(profile.nodes.some(({ callFrame }) => callFrame.functionName === 'busyWork'));
  });

  it('samples allocations', async () => {
    const { get } = await open(enabled);
    const kept: unknown[] = [];
    const work = setInterval(function allocate() {
      for (let i = 0; i < 1000; i++) kept.push({ i, text: `${i}` });
    }, 5);
    const { headers, body } = await get('/debug/pprof/allocs?seconds=1');
    clearInterval(work);
    assert.ok(headers.includes('Content-Disposition: attachment; filename="kube-netlink-proxy.heapprofile"'));
    assert.match(body, /"functionName":"allocate"/);
    assert.ok(Array.isArray(JSON.parse(body).samples));
  });

  it('streams the heap', async () => {
    const { get } = await open(enabled);
    const { headers, body } = await get('/debug/pprof/heap');
    assert.ok(headers.includes('Transfer-Encoding: chunked'));
    assert.ok(
      headers.includes('Content-Disposition: attachment; filename="kube-netlink-proxy.heapsnapshot"'),
    );
    const sizes = [...body.matchAll(/(?:^|\r\n)([0-9a-f]+)\r\n/g)];
    assert.ok(sizes.length > 1 && body.length > 1e6, `${sizes.length} chunks, ${body.length} bytes`);
    assert.match(body, /^[0-9a-f]+\r\n\{"snapshot":\{"meta":/);
    assert.ok(body.endsWith('\r\n0\r\n\r\n'));
  });

  it('shows the command line', async () => {
    const { get } = await open(enabled);
    assert.deepEqual((await get('/debug/pprof/cmdline')).body.split('\0'), process.argv);
  });

  it('explains that profiles of Go do not exist', async () => {
    const { get } = await open(enabled);
    for (const name of ['goroutine', 'mutex', 'trace', 'x/y']) {
      const { status, body } = await get(`/debug/pprof/${name}?debug=1`);
      assert.equal(status, 'HTTP/1.1 404 Not Found');
      assert.equal(
        body,
        `"${name}" is not available: this process runs on Node, not Go; /debug/pprof/ lists the profiles\n`,
      );
    }
  });

  it('rejects invalid durations', async () => {
    const { get, failures } = await open(enabled);
    for (const text of ['0', '301', '-1', '1.5', 'x', '', '1e2', '0x10']) {
      for (const name of ['profile', 'allocs']) {
        const { status, body } = await get(`/debug/pprof/${name}?seconds=${text}`);
        assert.equal(status, 'HTTP/1.1 400 Bad Request', text);
        assert.equal(body, `seconds must be an integer from 1 to 300, found ${JSON.stringify(text)}\n`);
      }
    }
    assert.deepEqual(failures, []);
  });

  it('takes one profile at a time, and ends it when the client disconnects', async () => {
    const { get, port, failures } = await open(enabled);
    const socket = await dial(port);
    socket.write('GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n');
    let status = '';
    while (status !== 'HTTP/1.1 409 Conflict') {
      await pause(20);
      ({ status } = await get('/debug/pprof/allocs?seconds=1'));
    }
    socket.destroy();
    const started = performance.now();
    while (status === 'HTTP/1.1 409 Conflict') {
      await pause(20);
      ({ status } = await get('/debug/pprof/allocs?seconds=1'));
    }
    assert.equal(status, 'HTTP/1.1 200 OK');
    assert.ok(performance.now() - started < 10_000);
    assert.deepEqual(failures, []);
  });
});

describe('/statusz and /flagz', () => {
  const both = { statusz: true, flagz: { 'proxy-mode': 'ipvs', 'bind-address': '0.0.0.0' } };
  const accept = (path: string, value: string) => `GET ${path} HTTP/1.1\r\nAccept: ${value}`;
  const NOTE = 'This page is for debugging by people; its format may change at any time.';
  const PATHS = [
    '/configz',
    '/flagz',
    '/healthz',
    '/healthz/ping',
    '/metrics',
    '/metrics/slis',
    '/proxyMode',
    '/services',
    '/status',
  ];

  it('have a line about objects with problems, if there are any', async () => {
    const { get } = await open({ ...both, leftOut: () => '1 (Service demo/a: spec.type: must be known)' });
    const line = 'Left out: 1 (Service demo/a: spec.type: must be known)';
    assert.ok((await get('/statusz')).body.split('\n').includes(line));
  });

  it('are text by default', async () => {
    const { port, get } = await open(both);
    const { headers, body } = await get('/statusz');
    assert.equal(headers[0], TEXT);
    assert.equal(
      body,
      `kube-proxy statusz\n${NOTE}\n\nStarted: Wed Oct 16 21:03:43 UTC 2024\nUp: 1 hr 02 min 05 sec\n` +
        `Node version: ${process.version}\nBinary version: 0.1.0\nEmulation version: 1.36\n` +
        `Paths: ${PATHS.join(' ')} /statusz\n`,
    );
    const flags = `kube-proxy flags\n${NOTE}\n\nbind-address=0.0.0.0\nproxy-mode=ipvs\n`;
    for (const value of ['text/plain', '*/*', 'text/html, text/*;q=0.5']) {
      assert.equal((await ask(port, accept('/flagz', value))).body, flags, value);
    }
  });

  it('are JSON if the Accept header has all parameters', async () => {
    const { port } = await open(both);
    for (const version of ['v1beta1', 'v1alpha1']) {
      const type = (kind: string) => `application/json;v=${version};g=config.k8s.io;as=${kind}`;
      const status = await ask(port, accept('/statusz', type('Statusz')));
      assert.equal(status.headers[0], 'Content-Type: application/json');
      assert.deepEqual(JSON.parse(status.body), {
        kind: 'Statusz',
        apiVersion: `config.k8s.io/${version}`,
        metadata: { name: 'kube-proxy' },
        startTime: '2024-10-16T21:03:43Z',
        uptimeSeconds: 3725,
        binaryVersion: '0.1.0',
        emulationVersion: '1.36',
        paths: [...PATHS, '/statusz'],
      });
      const flags = await ask(port, accept('/flagz', type('Flagz')));
      assert.deepEqual(JSON.parse(flags.body), {
        kind: 'Flagz',
        apiVersion: `config.k8s.io/${version}`,
        metadata: { name: 'kube-proxy' },
        flags: { 'bind-address': '0.0.0.0', 'proxy-mode': 'ipvs' },
      });
    }
  });

  it('are not available in other forms', async () => {
    const { port } = await open(both);
    for (const value of [
      'application/json',
      'application/json;v=v1beta1',
      'application/json;v=v2;g=config.k8s.io;as=Flagz',
      'application/json;v=v1beta1;g=config.k8s.io;as=Statusz',
      'image/png',
    ]) {
      const { status, body } = await ask(port, accept('/flagz', value));
      assert.equal(status, 'HTTP/1.1 406 Not Acceptable', value);
      assert.match(body, /text\/plain or as application\/json;v=v1beta1;g=config\.k8s\.io;as=Flagz/);
    }
  });

  it('format days of one digit like date(1)', async () => {
    const { get } = await open({ statusz: true, startedAt: Date.parse('2026-01-05T00:00:00Z') });
    assert.match((await get('/statusz')).body, /^Started: Mon Jan {2}5 00:00:00 UTC 2026$/m);
  });
});
