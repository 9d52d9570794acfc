// The command with --once and examples/: it programs all objects, and a second run has no operations.
// Needs: ipvs, dummy device, nftables
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Lab, openLab } from '../laboratory/lab.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { NODE_A } from '../laboratory/places.js';
import { type Ended, runOnce } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { linesOf, type Witnessed, witness } from '../support/namespaces/witnesses.js';

let lab: Lab;
let manifests: ManifestFolder;
let first: Ended;
let state: Witnessed;

before(async () => {
  lab = closeAfter(openLab([]));
  manifests = closeAfter(new ManifestFolder());
  first = await runOnce(lab.namespace(NODE_A), manifests.path);
  state = witness(lab.namespace(NODE_A));
});

test('the first run prints its operations, and its status is 0', () => {
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /^5 services: [1-9]\d* kernel operations \(/);
  assert.equal(first.stderr, '');
});

test('ipvsadm lists every virtual service of examples/ with its real servers', () => {
  const shown = linesOf(state.ipvsadm);
  assert.deepEqual(
    shown.filter((line) => line.startsWith('-A')),
    [
      '-A -t 10.244.1.1:30080 -s rr',
      '-A -t 10.244.1.1:30081 -s rr',
      '-A -t 10.96.0.10:53 -s rr',
      '-A -t 10.96.10.10:80 -s rr',
      '-A -t 10.96.10.20:80 -s rr',
      '-A -t 10.96.10.30:80 -s rr -p 600',
      '-A -t 10.96.10.40:80 -s rr',
      '-A -t 192.168.50.10:30080 -s rr',
      '-A -t 192.168.50.10:30081 -s rr',
      '-A -t 203.0.113.10:80 -s rr',
      '-A -t 203.0.113.20:80 -s rr',
      '-A -t [fd00:10:96::40]:80 -s rr',
      '-A -u 10.96.0.10:53 -s rr',
    ],
  );
  // web has 3 endpoints at 4 addresses, web-public 2 at 4, kube-dns 2 at 2, web-sticky 3, web-dual 2 in each family.
  assert.equal(shown.filter((line) => line.startsWith('-a')).length, 12 + 8 + 4 + 3 + 4);
  for (const line of [
    '-a -t 203.0.113.10:80 -r 10.244.2.11:8080 -m -w 1',
    '-a -u 10.96.0.10:53 -r 10.244.1.2:53 -m -w 1',
    '-a -t [fd00:10:96::40]:80 -r [fd00:10:244:2::11]:8080 -m -w 1',
  ]) {
    assert.ok(shown.includes(line), `${line} is not in\n${state.ipvsadm}`);
  }
});

test('ipset, ip and iptables list the corresponding entries, addresses and rules', () => {
  for (const line of [
    'add KUBE-CLUSTER-IP 10.96.0.10,udp:53',
    'add KUBE-EXTERNAL-IP 203.0.113.10,tcp:80',
    'add KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.20,tcp:80,192.168.50.0/24',
    'add KUBE-NODE-PORT-TCP 30080',
    'add KUBE-LOOP-BACK 10.244.1.11,tcp:8080,10.244.1.11',
    'add KUBE-6-CLUSTER-IP fd00:10:96::40,tcp:80',
  ]) {
    assert.ok(linesOf(state.ipset).includes(line), `${line} is not in\n${state.ipset}`);
  }
  assert.match(state.address, /state DOWN/);
  const addresses = [...state.address.matchAll(/inet6? (\S+) scope global/g)].map(([, address]) => address);
  assert.deepEqual(addresses.sort(), [
    '10.96.0.10/32',
    '10.96.10.10/32',
    '10.96.10.20/32',
    '10.96.10.30/32',
    '10.96.10.40/32',
    '203.0.113.10/32',
    '203.0.113.20/32',
    'fd00:10:96::40/128',
  ]);
  const masquerade =
    '-A KUBE-SERVICES ! -s 10.244.0.0/16 -m comment --comment "Kubernetes service cluster ip + port for masquerade ' +
    'purpose" -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ';
  assert.ok(linesOf(state.iptables).includes(masquerade), state.iptables);
  assert.equal(state.iptables.match(/^-A PREROUTING .*-j KUBE-SERVICES$/gm)?.length, 1);
  assert.equal(state.ip6tables.match(/^-A PREROUTING .*-j KUBE-SERVICES$/gm)?.length, 1);
});

test('a second run prints that it has no operations, and does not change the kernel', async () => {
  const second = await runOnce(lab.namespace(NODE_A), manifests.path);
  assert.equal(second.status, 0, second.stderr);
  assert.match(
    second.stdout,
    /^5 services: 0 kernel operations \(.*\nthe kernel already has the desired state\n$/,
  );
  assert.deepEqual(witness(lab.namespace(NODE_A)), state);
});
