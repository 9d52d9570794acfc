// Node ports on localhost in nftables mode, as in kube-proxy 1.38: the agent serves TCP on loopback addresses, and the kernel rejects UDP there.
// Needs: nftables, conntrack
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Explanation } from '../../src/command/explain/explanation.js';
import { COMMAND } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { dial, eventually, isRefused, received, serve } from '../support/localhostPorts/ports.js';
import { tool } from '../support/namespaces/tools.js';
import { AgentProcess } from '../support/processes/agentProcess.js';

const NODE_PORT = 30_080;
/** An address of an endpoint; the test has it on its loopback link. */
const ENDPOINT = '10.244.0.7';

const WEB = service('web', '10.96.0.1').replace(
  'ports: [{port: 80}]',
  `type: NodePort\n  ports: [{port: 80, nodePort: ${NODE_PORT}}]`,
);
const DNS = service('dns', '10.96.0.2').replace(
  'ports: [{port: 80}]',
  'type: NodePort\n  ports: [{port: 53, protocol: UDP, nodePort: 30053}]',
);

let folder: string;
let agent: AgentProcess;

/** Replaces the objects at once. */
function write(text: string): void {
  writeFileSync(join(folder, 'objects.new'), text);
  renameSync(join(folder, 'objects.new'), join(folder, 'objects.yaml'));
}

const metric = async (name: string) => {
  const response = await fetch('http://127.0.0.1:10249/metrics');
  return (await response.text()).split('\n').find((line) => line.startsWith(name));
};

/** Asks the command about a packet of this node to 127.0.0.1. */
function explained(protocol: 'tcp' | 'udp', port = NODE_PORT): Explanation {
  const question = ['explain', `127.0.0.1:${port}/${protocol}`, '--proxy-mode=nftables', '-o', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...question], { encoding: 'utf8' });
  assert.match(stdout, /^\{/, stderr);
  return JSON.parse(stdout) as Explanation;
}

before(async () => {
  tool('ip', 'link', 'set', 'lo', 'up');
  tool('ip', 'address', 'add', `${ENDPOINT}/32`, 'dev', 'lo');
  folder = mkdtempSync(join(tmpdir(), 'knp-localhost-'));
  closeAfter({ close: () => rmSync(folder, { recursive: true }) });
  write(WEB + slice('web', ENDPOINT) + DNS);
  await serve((socket) => socket.pipe(socket), { host: ENDPOINT, port: 8080 });
  agent = closeAfter(
    new AgentProcess([
      ...['--proxy-mode=nftables', '--mirrored-version=1.38', '--nodeport-addresses=primary,localhost'],
      ...[`--manifests=${folder}`, '--hostname-override=node-a'],
    ]),
  );
  await agent.logged(/"msg":"synced"/);
});

test('TCP is served, on 127.0.0.1 only', async () => {
  let served = false;
  await eventually('the listener is open', () => {
    void isRefused(NODE_PORT).then((refused) => {
      served ||= !refused;
    });
    return served;
  });
  const client = await dial(NODE_PORT);
  client.end('hello');
  assert.equal(await received(client), 'hello');
  assert.equal(await isRefused(NODE_PORT, '127.0.0.2'), true);
  const listeners = await metric('kubeproxy_nftables_localhost_nodeport_listeners{ip_family="IPv4"}');
  assert.match(listeners ?? '', / 1$/);
});

test('UDP is rejected, and counted', async () => {
  tool('bash', '-c', '(exec 3<>/dev/udp/127.0.0.1/30053 && echo x >&3) 2>/dev/null || true');
  const rejected =
    'kubeproxy_nftables_localhost_nodeport_rejected_packets_total{ip_family="IPv4",protocol="UDP"}';
  assert.match((await metric(rejected)) ?? '', / 1$/);
});

test('explain names the program that listens, and why a port is rejected', () => {
  const tcp = explained('tcp');
  assert.equal(tcp.verdict, 'connects');
  assert.deepEqual(tcp.process, { address: '127.0.0.1', port: NODE_PORT });
  const udp = explained('udp', 30_053);
  assert.equal(udp.verdict, 'refused');
  assert.deepEqual(udp.causes, [
    {
      code: 'NodePortAddress',
      text:
        'node port 30053/udp is rejected on 127.0.0.1, because the agent serves only TCP node ports there: ' +
        'kube-proxy/localhost-nodeport-reject-udp rejects the packet',
    },
  ]);
  const onTheWay = udp.steps.filter(({ at }) => at === 'kube-proxy/nodeport-endpoints-check');
  assert.deepEqual(
    onTheWay.map(({ text }) => text),
    ['node port on a loopback address, continues in chain localhost-nodeport-reject-udp'],
  );
});

test('without endpoints the port is closed, and its connections are', async () => {
  const client = await dial(NODE_PORT);
  client.write('x');
  const ended = received(client);
  write(WEB + slice('web') + DNS);
  await ended;
  assert.equal(await isRefused(NODE_PORT), true);
  write(WEB + slice('web', ENDPOINT) + DNS);
  let open = false;
  await eventually('it is open again', () => {
    void isRefused(NODE_PORT).then((refused) => {
      open ||= !refused;
    });
    return open;
  });
});

test('the end of the agent closes the port', async () => {
  const { status, took } = await agent.end('SIGTERM');
  assert.equal(status, 0);
  assert.ok(took < Math.max(5000, 3 * agent.startTook), `${took} ms; its start, ${agent.startTook}`);
  assert.equal(await isRefused(NODE_PORT), true);
});
