// kubeadm's DaemonSet, ConfigMap and command line with our image instead of kube-proxy's.
// Needs: ipvs, dummy device, nftables, image
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parse } from 'yaml';
import { closeAfter } from '../support/closeAfter.js';
import type { RunningContainer } from '../support/deployment/container.js';
import { type DaemonSet, type PodSpec, readDeployed } from '../support/deployment/daemonSet.js';
import { kubeadmDaemonSet } from '../support/deployment/kubeadm.js';
import { readSysctl, tool, toolOutput } from '../support/namespaces/tools.js';
import { Connection, serveEndpoint } from './endpoint.js';
import { NODE_IP, TestNode } from './testNode.js';

const { spec } = (parse(kubeadmDaemonSet) as DaemonSet).spec.template;

/** Without times and counters. */
function kernelState(): object {
  const { iptables, ip6tables, ...rest } = toolOutput();
  const bare = (saved: string) => saved.replace(/^#.*\n/gm, '').replace(/ \[\d+:\d+\]$/gm, '');
  return { ...rest, iptables: bare(iptables), ip6tables: bare(ip6tables) };
}

let node: TestNode;
let proxy: RunningContainer;
let open: Connection;

before(async () => {
  node = closeAfter(await TestNode.start());
  await serveEndpoint();
  proxy = await node.pod(spec).start();
});

test('its first pass programs the objects of the API server', async () => {
  const line = await proxy.logged(/ INFO +synced /);
  assert.match(line, / services=1 /);
  assert.match(line, / failures=0$/);
  assert.equal(
    tool('ipvsadm', '-S', '-n'),
    `-A -t 10.96.10.10:80 -s rr\n-a -t 10.96.10.10:80 -r ${NODE_IP}:8080 -m -w 1\n`,
  );
  assert.match(tool('iptables-nft-save'), /^:KUBE-SERVICES /m);
  assert.equal(readSysctl('net/ipv4/vs/conntrack'), '1');
});

test('a client reaches a pod by the cluster IP', async () => {
  open = await Connection.open('10.96.10.10');
  assert.equal(await open.ask(), 'the pod');
});

test('the health and metrics servers respond on the node', async () => {
  assert.equal((await fetch(`http://${NODE_IP}:10256/healthz`)).status, 200);
  assert.equal(await (await fetch('http://127.0.0.1:10249/proxyMode')).text(), 'ipvs');
});

test('plan in the container prints that nothing would change, and its status is 0', async () => {
  const plan = await proxy.exec(
    'kube-netlink-proxy',
    'plan',
    ...spec.containers[0].command.slice(1, 2),
    '--hostname-override=node-a',
  );
  assert.equal(plan.stdout, 'nothing would change\n', plan.stderr);
  assert.equal(plan.status, 0);
});

test('a pod of deploy/plan prints the same beside it, with two capabilities', async () => {
  const { spec: plan } = readDeployed<{ spec: PodSpec }>('plan/pod.yaml');
  const pod = await node.pod(plan).start();
  assert.equal((await pod.end()).status, 0, pod.log.join('\n'));
  assert.deepEqual(pod.output, ['nothing would change']);
});

test('it has ipset, ipvsadm and the iptables backend of the host', async () => {
  assert.equal((await proxy.exec('ipvsadm', '-S', '-n')).stdout, tool('ipvsadm', '-S', '-n'));
  assert.match((await proxy.exec('ipset', 'list', '-n')).stdout, /^KUBE-CLUSTER-IP$/m);
  assert.match((await proxy.exec('iptables-save')).stdout, /^:KUBE-SERVICES /m);
});

test('SIGTERM ends it within two seconds with status 0, and the kernel keeps its state', async () => {
  const state = kernelState();
  const { status, took } = await proxy.end('SIGTERM');
  assert.equal(status, 0);
  assert.ok(took < 2000, `it took ${took} ms`);
  assert.deepEqual(kernelState(), state);
});

test('the next pod has no operations, and an open connection survives', async () => {
  proxy = await node.pod(spec).start();
  const line = await proxy.logged(/ INFO +synced /);
  assert.match(line, / operations=0 /);
  assert.equal(await open.ask(), 'the pod');
});
