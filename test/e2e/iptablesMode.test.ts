// The agent in iptables mode, on a kernel that need not have IPVS: its servers, its metrics, node ports on loopback
// addresses, health check node ports, the flows of UDP clients, and the clean-up.
// Needs: conntrack, command
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE } from '../laboratory/patience.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { tool, tools } from '../support/namespaces/tools.js';
import { AgentProcess } from '../support/processes/agentProcess.js';

const POD = '10.244.1.7';
const FLAGS = ['--proxy-mode=iptables', '--cluster-cidr=10.244.0.0/16', '--hostname-override=node-a'];

const WEB =
  service('web', '10.96.0.1', '  type: NodePort\n').replace('port: 80', 'port: 80, nodePort: 30080') +
  slice('web', POD);

let agent: AgentProcess;
let manifests: string;
let folder: string;
let modprobe: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'knp-iptables-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  // In the namespace of these tests, the ones under the seccomp profile may have run before.
  tools(
    'ip link set lo up',
    'ip route replace 10.96.0.0/16 dev lo',
    ...[POD, '10.244.1.8', '10.244.1.9'].map((address) => `ip address replace ${address}/32 dev lo`),
  );
  manifests = join(folder, 'objects.yaml');
  writeFileSync(manifests, WEB);
  recordModprobe();
  agent = closeAfter(new AgentProcess([`--manifests=${manifests}`, ...FLAGS]));
  assert.match(await agent.logged(/"msg":"synced"/), /"failures":0/);
});

/** Puts a modprobe that records its arguments before the real one. */
function recordModprobe(): void {
  modprobe = join(folder, 'modprobe.txt');
  const real = tools('command -v modprobe || echo true')[0]?.trim();
  const script = join(folder, 'modprobe');
  writeFileSync(script, `#!/bin/sh\necho "$@" >>${modprobe}\nexec ${real} "$@"\n`);
  chmodSync(script, 0o755);
  process.env['PATH'] = `${folder}:${process.env['PATH']}`;
}

async function get(path: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:10249/${path}`)).text();
}

/** The values of a metric, by their labels. */
async function metric(name: string): Promise<Record<string, number>> {
  const lines = (await get('metrics')).split('\n').filter((line) => line.startsWith(name));
  return Object.fromEntries(
    lines.map((line) => line.slice(name.length).split(' ')).map(([labels, value]) => [labels, Number(value)]),
  );
}

test('the metrics server names the mode', async () => {
  assert.equal(await get('proxyMode'), 'iptables');
});

test('the metrics have the number of rules in our chains', async () => {
  const rules = (family: 4 | 6, table: string) => {
    const saved = tool(family === 4 ? 'iptables-save' : 'ip6tables-save', '-t', table);
    return saved.match(/^-A KUBE-/gm)?.length ?? 0;
  };
  const expected = ([4, 6] as const).flatMap((family) =>
    ['filter', 'nat'].map((table) => [`{ip_family="IPv${family}",table="${table}"}`, rules(family, table)]),
  );
  assert.deepEqual(await metric('kubeproxy_sync_proxy_rules_iptables_total'), Object.fromEntries(expected));
  const none = { '{ip_family="IPv4"}': 0, '{ip_family="IPv6"}': 0 };
  assert.deepEqual(await metric('kubeproxy_sync_proxy_rules_iptables_restore_failures_total'), none);
});

test('a node port on a loopback address leads to the endpoint, and is counted', async () => {
  const server = createServer((_, response) => response.end('the pod'));
  closeAfter({ close: () => void server.close() });
  await new Promise<void>((resolve) => server.listen(8080, POD, resolve));
  // The counter stays in the kernel when a proxy ends.
  const accepted = async () =>
    (await metric('kubeproxy_iptables_localhost_nodeports_accepted_packets_total'))[''];
  const former = await accepted();
  const response = await fetch('http://127.0.0.1:30080/', { headers: { connection: 'close' } });
  assert.equal(await response.text(), 'the pod');
  assert.equal(await accepted(), Number(former) + 1);
});

test('the flow of a UDP client is deleted with its endpoint', async () => {
  const udp = (endpoint: string) =>
    (service('dns', '10.96.0.2') + slice('dns', endpoint)).replaceAll('{port: ', '{protocol: UDP, port: ');
  const programmed = (endpoint: string) =>
    until(() => tool('iptables-save', '-t', 'nat').includes(`--to-destination ${endpoint}:8080`));
  const flows = () => tool('sh', '-c', 'conntrack -L -p udp --orig-dst 10.96.0.2 2>/dev/null || true');
  writeFileSync(manifests, WEB + udp('10.244.1.8'));
  await programmed('10.244.1.8');
  const socket = closeAfter(createSocket('udp4'));
  await new Promise((resolve) => socket.send('query', 80, '10.96.0.2', resolve));
  assert.match(flows(), /src=10\.244\.1\.8 /);
  writeFileSync(manifests, WEB + udp('10.244.1.9'));
  await programmed('10.244.1.9');
  await until(() => !flows().includes('src=10.244.1.8 '));
});

test('a health check node port reports the endpoints on this node, and is open behind rules that drop', async () => {
  const local = service(
    'local',
    '10.96.0.3',
    '  type: LoadBalancer\n  externalTrafficPolicy: Local\n  healthCheckNodePort: 31555',
  );
  const endpointsOn = (...nodes: string[]) => {
    const manifest = slice('local', ...nodes.map((_, i) => `10.244.1.${7 + i}`));
    return manifest.replaceAll('conditions: {}', () => `conditions: {}, nodeName: ${nodes.shift()}`);
  };
  const answer = async () => {
    const signal = AbortSignal.timeout(PATIENCE);
    const headers = { connection: 'close' };
    const response = await fetch('http://127.0.0.1:31555/', { headers, signal });
    const weight = response.headers.get('x-load-balancing-endpoint-weight');
    const type = response.headers.get('content-type');
    return { status: response.status, type, weight, body: await response.text() };
  };
  const expected = (status: number, endpoints: number) => ({
    ...{ status, type: 'application/json', weight: String(endpoints) },
    body: `{
\t"service": {
\t\t"namespace": "demo",
\t\t"name": "local"
\t},
\t"localEndpoints": ${endpoints},
\t"serviceProxyHealthy": true
}`,
  });
  tool('iptables', '-A', 'INPUT', '-p', 'tcp', '--dport', '31555', '-j', 'DROP');
  writeFileSync(manifests, WEB + local + endpointsOn('node-a', 'node-b', 'node-a'));
  // The port is opened after the pass: before, the connection is refused.
  await until(async () => (await answer().catch(() => undefined)) !== undefined);
  assert.deepEqual(await answer(), expected(200, 2));
  writeFileSync(manifests, WEB + local + endpointsOn('node-b'));
  await until(async () => (await answer()).status === 503);
  assert.deepEqual(await answer(), expected(503, 0));
  tool('iptables', '-D', 'INPUT', '-p', 'tcp', '--dport', '31555', '-j', 'DROP');
});

/** Waits until a condition is true. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; !(await condition()); await delay(20))
    assert.ok(Date.now() < deadline, `not within ${PATIENCE} ms: ${condition}`);
}

test('the modules of rules are loaded by one modprobe, and IPVS is not', async () => {
  await agent.end('SIGTERM');
  const loaded = readFileSync(modprobe, 'utf8');
  assert.equal(loaded.match(/^-a .*\bxt_statistic\b/gm)?.length, 1, loaded);
  assert.doesNotMatch(loaded, /ip_vs/);
});

test('a clean-up leaves only the chain that kubelet has too, and loads no IPVS', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, '--cleanup'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /none of our state is left\n$/);
  for (const save of ['iptables-save', 'ip6tables-save']) {
    const left = tool(save)
      .split('\n')
      .filter((line) => /KUBE-/.test(line) && !/KUBE-FIREWALL/.test(line));
    assert.deepEqual(left, []);
  }
  assert.doesNotMatch(existsSync(modprobe) ? readFileSync(modprobe, 'utf8') : '', /ip_vs/);
});
