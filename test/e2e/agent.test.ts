// The agent with kubeadm's configuration and command line, an API server with TLS, and a token file: its servers, settings,
// events, and its end.
// Needs: ipvs, dummy device, command
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ApiCluster } from '../support/apiServer/apiCluster.js';
import { makeAuthority } from '../support/apiServer/certificates.js';
import { closeAfter } from '../support/closeAfter.js';
import { NODE, service, slice } from '../support/clusters/manifests.js';
import { kubeadmConfiguration, kubeadmKubeconfig } from '../support/deployment/kubeadm.js';
import { readSysctl, tool } from '../support/namespaces/tools.js';
import { AgentProcess } from '../support/processes/agentProcess.js';

const TOKEN = 'a-token-that-no-log-may-show';

let cluster: ApiCluster;
let agent: AgentProcess;
let started: string;

before(async () => {
  const authority = makeAuthority('test');
  cluster = closeAfter(await ApiCluster.start({ tls: authority.server(), tokens: new Set([TOKEN]) }));
  cluster.hold(NODE + service('web', '10.96.0.1') + slice('web', '10.244.1.7', '10.244.2.7'));
  const folder = mkdtempSync(join(tmpdir(), 'knp-agent-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const kubeconfig = kubeadmKubeconfig(
    cluster.server.url,
    file('ca.crt', authority.cert),
    file('token', TOKEN),
  );
  const config = kubeadmConfiguration(file('kubeconfig.conf', kubeconfig)).replace('mode: ""', 'mode: ipvs');
  agent = closeAfter(
    new AgentProcess([`--config=${file('config.conf', config)}`, '--hostname-override=node-a']),
  );
  started = await agent.logged(/"msg":"synced"/);
});

async function get(url: string): Promise<{ status: number; type: string | null; body: string }> {
  const response = await fetch(url);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
}

test('the first pass programs the objects of the API server', () => {
  assert.match(started, /"services":1,/);
  assert.match(started, /"failures":0/);
  assert.equal(
    tool('ipvsadm', '-S', '-n'),
    '-A -t 10.96.0.1:80 -s rr\n-a -t 10.96.0.1:80 -r 10.244.1.7:8080 -m -w 1\n-a -t 10.96.0.1:80 -r 10.244.2.7:8080 -m -w 1\n',
  );
});

test('a change is programmed without a full pass', async () => {
  const lines = agent.log.length;
  cluster.hold(NODE + service('web', '10.96.0.1') + slice('web', '10.244.2.7'));
  for (;;) {
    const line = await agent.logged(/"msg":"synced"/);
    if (
      agent.log.indexOf(line) >= lines ||
      agent.log.slice(lines).some((text) => /"msg":"synced"/.test(text))
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.doesNotMatch(tool('ipvsadm', '-S', '-n'), /10\.244\.1\.7/);
  assert.match(agent.log.slice(lines).join('\n'), /"full":false,"services":1,"operations":1,/);
});

test('the health server responds', async () => {
  for (const path of ['healthz', 'livez']) {
    const { status, body } = await get(`http://127.0.0.1:10256/${path}`);
    assert.equal(status, 200, body);
    const { healthy, status: families } = JSON.parse(body) as { healthy: boolean; status: object };
    assert.equal(healthy, true);
    assert.deepEqual(Object.keys(families), ['IPv4', 'IPv6']);
  }
  assert.equal((await get('http://127.0.0.1:10256/else')).status, 404);
});

test('the metrics server responds', async () => {
  assert.equal((await get('http://127.0.0.1:10249/proxyMode')).body, 'ipvs');
  assert.equal((await get('http://127.0.0.1:10249/healthz')).body, 'ok');
  const configz = JSON.parse((await get('http://127.0.0.1:10249/configz')).body) as Record<
    string,
    { mode: string }
  >;
  assert.equal(configz['kubeproxy.config.k8s.io']?.mode, 'ipvs');
  assert.equal((await get('http://127.0.0.1:10249/debug/pprof/')).status, 404);
  const { body } = await get('http://127.0.0.1:10249/metrics');
  for (const series of [
    'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv4"} 2',
    'kubeproxy_sync_proxy_rules_service_changes_total 2',
    'kubeproxy_proxy_healthz_total{code="200"} 1',
    'kube_netlink_proxy_operations_total{family="ipvs",kind="addService",result="ok"} 1',
  ]) {
    assert.ok(body.includes(series), `${series} is not among\n${body}`);
  }
});

test('settings of conntrack and of the process are written', () => {
  assert.equal(readSysctl('net/netfilter/nf_conntrack_tcp_timeout_established'), '86400');
  assert.equal(readFileSync(`/proc/${agent.pid}/oom_score_adj`, 'utf8').trim(), '-999');
});

test('the start is reported as an event', () => {
  const posts = cluster.server.requests.filter(({ method }) => method === 'POST');
  const events = posts.map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>);
  const reported = events.map(({ reason, reportingController, regarding }) => [
    reason,
    reportingController,
    (regarding as { name: string }).name,
  ]);
  assert.deepEqual(reported, [['Starting', 'kube-netlink-proxy', 'node-a']]);
});

test('while the API server is down, nothing is removed, and retries back off', async () => {
  const before = tool('ipvsadm', '-S', '-n');
  await cluster.server.close();
  await agent.logged(/request to the API server failed/);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.equal(tool('ipvsadm', '-S', '-n'), before);
  assert.equal((await get('http://127.0.0.1:10256/healthz')).status, 200);
  await cluster.server.start();
});

test('the log has no secrets', () => {
  assert.doesNotMatch(agent.log.join('\n'), new RegExp(TOKEN));
});

test('SIGTERM ends it within two seconds with status 0, and the kernel keeps its state', async () => {
  const { status, took } = await agent.end('SIGTERM');
  assert.equal(status, 0);
  assert.ok(took < Math.max(2000, 3 * agent.startTook), `it took ${took} ms; its start, ${agent.startTook}`);
  assert.match(tool('ipvsadm', '-S', '-n'), /10\.96\.0\.1:80/);
});
