// The iptables backend of the image on a real kernel: the one with kubelet's chain, until the process ends.
// Needs: ipvs, dummy device, nftables, image
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { closeAfter } from '../support/closeAfter.js';
import type { RunningContainer } from '../support/deployment/container.js';
import { type DaemonSet, patched, readDeployed } from '../support/deployment/daemonSet.js';
import { tool } from '../support/namespaces/tools.js';
import { TestNode } from './testNode.js';

const base = readDeployed<DaemonSet>('base/daemonset.yaml');
const { spec } = patched(base, readDeployed<object>('privileged/daemonset.yaml')).spec.template;

let proxy: RunningContainer;

before(async () => {
  tool('iptables-legacy', '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT');
  // The state of a service proxy that used the other backend.
  tool('iptables-nft', '-t', 'nat', '-N', 'KUBE-SERVICES');
  const node = closeAfter(await TestNode.start());
  proxy = await node.pod(spec).start();
  await proxy.logged(/ INFO +synced /);
});

test("the rules are in the backend with kubelet's chain", () => {
  assert.match(tool('iptables-legacy-save'), /^-A KUBE-SERVICES .*KUBE-CLUSTER-IP/m);
  assert.match(tool('ip6tables-legacy-save'), /^:KUBE-SERVICES /m);
  assert.doesNotMatch(tool('iptables-nft-save'), /^-A KUBE-SERVICES/m);
});

test('the log has a warning about chains of a proxy in the other backend', () => {
  const [first = ''] = proxy.log;
  assert.equal(
    first,
    'warning: this host uses iptables-legacy, but iptables-nft holds KUBE-SERVICES: its rules act on packets too',
  );
});

test('the iptables commands in the container use the same backend', async () => {
  assert.equal((await proxy.exec('iptables', '--version')).stdout.trim().split(' ').at(-1), '(legacy)');
  assert.match((await proxy.exec('iptables-save')).stdout, /^-A KUBE-SERVICES .*KUBE-CLUSTER-IP/m);
});

test('a later chain of kubelet does not change the backend of the process', async () => {
  tool('iptables-nft', '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT');
  const environment = (await proxy.exec('cat', '/proc/1/environ')).stdout.split('\0');
  assert.ok(environment.includes('IPTABLES_FLAVOUR=legacy'));
  assert.ok(environment.some((entry) => entry.startsWith('PATH=/usr/local/lib/iptables-legacy:')));
  assert.equal((await proxy.end('SIGTERM')).status, 0);
});

test('the commands of docs/migrate.md remove the rules of a proxy in iptables-legacy, and no others', () => {
  tool('iptables-legacy', '-A', 'INPUT', '-p', 'udp', '-j', 'ACCEPT');
  for (const name of ['iptables-legacy', 'ip6tables-legacy']) {
    tool('sh', '-c', `${name}-save | grep -v KUBE- | ${name}-restore`);
    assert.doesNotMatch(tool(`${name}-save`), /KUBE-/);
  }
  assert.match(tool('iptables-legacy-save'), /^-A INPUT -p udp -j ACCEPT$/m);
});
