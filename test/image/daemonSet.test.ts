// The DaemonSet of deploy/base and its privileged variant: each programs an empty kernel and serves, with a read-only
// root filesystem.
// Needs: ipvs, dummy device, nftables, image
import assert from 'node:assert/strict';
import { afterEach, before, test } from 'node:test';
import { closeAfter } from '../support/closeAfter.js';
import type { Pod, RunningContainer } from '../support/deployment/container.js';
import { type DaemonSet, type PodSpec, patched, readDeployed } from '../support/deployment/daemonSet.js';
import { readSysctl, tool } from '../support/namespaces/tools.js';
import { NODE_IP, TestNode } from './testNode.js';

const base = readDeployed<DaemonSet>('base/daemonset.yaml');
const privileged = patched(base, readDeployed('privileged/daemonset.yaml'));
const CLEAN_UP = ['kube-proxy', '--cleanup'];

let node: TestNode;
let running: RunningContainer;
let pod: Pod;

before(async () => {
  node = closeAfter(await TestNode.start());
});

afterEach(async () => {
  await pod.close();
});

async function start(spec: PodSpec): Promise<void> {
  pod = node.pod(spec);
  running = await pod.start();
}

/** The kernel state and the responses of the pod after its first pass. */
async function serves(): Promise<void> {
  const line = await running.logged(/ INFO +synced /);
  assert.match(line, / failures=0$/);
  const answer = await fetch(`http://${NODE_IP}:10256/healthz`);
  assert.equal(answer.status, 200, await answer.text());
  assert.equal(
    tool('ipvsadm', '-S', '-n'),
    `-A -t 10.96.10.10:80 -s rr\n-a -t 10.96.10.10:80 -r ${NODE_IP}:8080 -m -w 1\n`,
  );
  assert.match(tool('iptables-nft-save'), /^:KUBE-SERVICES /m);
  assert.match(tool('ip', 'address', 'show', 'kube-ipvs0'), /10\.96\.10\.10\/32/);
  assert.deepEqual(
    running.log.filter((text) => / (ERROR|FATAL) /.test(text)),
    [],
  );
}

test('privileged, as with deploy/privileged', async () => {
  await start(privileged.spec.template.spec);
  await serves();
  assert.equal(readSysctl('net/netfilter/nf_conntrack_tcp_timeout_established'), '86400');
  const touched = await running.exec('touch', '/usr/local/bin/new', '/tmp/new', '/run/new');
  assert.equal(touched.status, 1);
  assert.equal(touched.stderr.match(/Read-only file system/g)?.length, 3, touched.stderr);
  assert.equal((await running.end('SIGTERM')).status, 0);
});

test('--cleanup in the container removes its state', async () => {
  await start(privileged.spec.template.spec);
  await running.logged(/ INFO +synced /);
  // The proxy must not run: it would program its state again.
  await running.end('SIGTERM');
  await pod.close();
  const [container] = privileged.spec.template.spec.containers;
  await start({ ...privileged.spec.template.spec, containers: [{ ...container, command: CLEAN_UP }] });
  assert.equal((await running.end()).status, 0, running.log.join('\n'));
  assert.equal(running.output.at(-1), 'none of our state is left');
  assert.equal(tool('ipvsadm', '-S', '-n'), '');
  assert.equal(tool('ipset', 'list', '-n'), '');
  assert.doesNotMatch(tool('iptables-nft-save'), /KUBE-/);
});

test('with two capabilities, after an init container with all, as in deploy/base', async () => {
  await start(base.spec.template.spec);
  await serves();
  assert.equal(readSysctl('net/ipv4/vs/conntrack'), '1');
  const status = (await running.exec('cat', '/proc/1/status')).stdout;
  // Bits 12 and 13: NET_ADMIN and NET_RAW.
  assert.match(status, /^CapBnd:\t0000000000003000$/m);
  assert.match(status, /^CapEff:\t0000000000003000$/m);
  assert.equal((await running.end('SIGTERM')).status, 0);
});
