// A node on which kube-proxy ran in iptables mode, and the proxy runs in ipvs mode: its connections survive, and its chains
// are removed.
// Needs: ipvs, dummy device, nftables, image
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, test } from 'node:test';
import { closeAfter } from '../support/closeAfter.js';
import type { RunningContainer } from '../support/deployment/container.js';
import { type DaemonSet, readDeployed } from '../support/deployment/daemonSet.js';
import { tool } from '../support/namespaces/tools.js';
import { Connection, serveEndpoint } from './endpoint.js';
import { NODE_DEVICE, NODE_IP, TestNode } from './testNode.js';

const RULES = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-SVC-WEBWEBWEBWEBWEBW - [0:0]
:KUBE-SEP-WEBWEBWEBWEBWEBW - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.96.10.10/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-WEBWEBWEBWEBWEBW
-A KUBE-SVC-WEBWEBWEBWEBWEBW -j KUBE-SEP-WEBWEBWEBWEBWEBW
-A KUBE-SEP-WEBWEBWEBWEBWEBW -p tcp -m tcp -j DNAT --to-destination ${NODE_IP}:8080
COMMIT
*filter
:KUBE-FIREWALL - [0:0]
-A INPUT -j KUBE-FIREWALL
COMMIT
`;

let proxy: RunningContainer;
let open: Connection;

before(async () => {
  const node = closeAfter(await TestNode.start());
  await serveEndpoint();
  execFileSync('iptables-nft-restore', ['--noflush'], { input: RULES });
  tool('ip', 'route', 'add', '10.96.0.0/16', 'dev', NODE_DEVICE);
  open = await Connection.open('10.96.10.10');
  assert.equal(await open.ask(), 'the pod');
  proxy = await node.pod(readDeployed<DaemonSet>('base/daemonset.yaml').spec.template.spec).start();
  await proxy.logged(/ INFO +removed items of another mode /);
});

test('an open connection survives', async () => {
  assert.equal(await open.ask(), 'the pod');
});

test('new connections use the virtual service', async () => {
  assert.equal(await (await Connection.open('10.96.10.10')).ask(), 'the pod');
  assert.match(tool('ipvsadm', '-Lnc'), /10\.96\.10\.10:80 +192\.168\.50\.10:8080$/m);
});

test('chains of iptables mode are removed, except KUBE-FIREWALL, which kubelet uses too', () => {
  const saved = tool('iptables-nft-save');
  assert.doesNotMatch(saved, /KUBE-(SVC|SEP)-/);
  assert.match(saved, /^-A INPUT -j KUBE-FIREWALL$/m);
});
