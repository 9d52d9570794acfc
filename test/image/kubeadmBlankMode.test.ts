// kubeadm's DaemonSet and ConfigMap, letter for letter, with our image: the mode is blank, which is iptables mode.
// Needs: ipvs, dummy device, nftables, image
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parse } from 'yaml';
import { closeAfter } from '../support/closeAfter.js';
import type { RunningContainer } from '../support/deployment/container.js';
import type { DaemonSet } from '../support/deployment/daemonSet.js';
import { kubeadmDaemonSet } from '../support/deployment/kubeadm.js';
import { tool } from '../support/namespaces/tools.js';
import { Connection, serveEndpoint } from './endpoint.js';
import { NODE_DEVICE, NODE_IP, TestNode } from './testNode.js';

const { spec } = (parse(kubeadmDaemonSet) as DaemonSet).spec.template;

let node: TestNode;
let proxy: RunningContainer;
let open: Connection;

before(async () => {
  node = closeAfter(await TestNode.start());
  await serveEndpoint();
  tool('ip', 'route', 'add', '10.96.0.0/16', 'dev', NODE_DEVICE);
  proxy = await node.pod(spec, '').start();
});

test('it says that the mode is iptables, and its first pass programs the objects of the API server', async () => {
  await proxy.logged(/ WARN +.*mode.*blank.*iptables/);
  const line = await proxy.logged(/ INFO +synced /);
  assert.match(line, / services=1 /);
  assert.match(line, / failures=0$/);
});

test('the rules are those of iptables mode, and nothing of ipvs mode is there', () => {
  const saved = tool('iptables-nft-save');
  assert.match(saved, /^-A KUBE-SERVICES -d 10\.96\.10\.10\/32 .*-j KUBE-SVC-[A-Z0-9]{16}$/m);
  assert.match(saved, /^-A KUBE-SEP-[A-Z0-9]{16} .*-j DNAT --to-destination 192\.168\.50\.10:8080$/m);
  assert.equal(tool('ipvsadm', '-S', '-n'), '');
  assert.doesNotMatch(tool('ip', '-o', 'link'), /kube-ipvs0/);
  assert.doesNotMatch(tool('ipset', 'list', '-n'), /KUBE-/);
});

test('a client reaches a pod by the cluster IP', async () => {
  open = await Connection.open('10.96.10.10');
  assert.equal(await open.ask(), 'the pod');
});

test('the health and metrics servers respond on the node, with the mode', async () => {
  assert.equal((await fetch(`http://${NODE_IP}:10256/healthz`)).status, 200);
  assert.equal(await (await fetch('http://127.0.0.1:10249/proxyMode')).text(), 'iptables');
});

test('plan in the container has the mode of the node: nothing would change', async () => {
  const config = spec.containers[0].command.slice(1, 2);
  const plan = await proxy.exec('kube-netlink-proxy', 'plan', ...config, '--hostname-override=node-a');
  assert.equal(plan.stdout, 'nothing would change\n', plan.stderr);
  assert.equal(plan.status, 0);
});

test('after SIGTERM, the next pod has no operations, and an open connection survives', async () => {
  assert.equal((await proxy.end('SIGTERM')).status, 0);
  proxy = await node.pod(spec, '').start();
  assert.match(await proxy.logged(/ INFO +synced /), / operations=0 /);
  assert.equal(await open.ask(), 'the pod');
});
