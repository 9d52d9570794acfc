// The processes that a running proxy starts: none for a change of endpoints, Services or rules. The iptables-restore of each
// family was started by the first pass.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type AddressId, type Ipvs, openIpvs } from '../../src/kernel/ipvs/index.js';
import { realServersBecome } from '../laboratory/kernelView.js';
import { type Lab, openLab } from '../laboratory/lab.js';
import { ManifestFolder } from '../laboratory/manifestFolder.js';
import { PATIENCE } from '../laboratory/patience.js';
import { NODE_A } from '../laboratory/places.js';
import { ProxyProcess } from '../laboratory/proxyProcess.js';
import { closeAfter } from '../support/closeAfter.js';
import { service, slice } from '../support/clusters/manifests.js';
import { ask } from '../support/namespaces/witnesses.js';
import { ExecTrace } from '../support/processes/execTrace.js';

const CLUSTER_IP: AddressId = { address: '10.96.0.80', port: 80, protocol: 'tcp' };
const SLICE = 'slice.yaml';
const SERVICE = 'service.yaml';
/** Audits run iptables-save; none is due during these tests. */
const NO_AUDIT = ['--ipvs-sync-period', '1h'];

let lab: Lab;
let manifests: ManifestFolder;
let ipvs: Ipvs;
let proxy: ProxyProcess;
let trace: ExecTrace;

/** Endpoints on this node, which also have set entries. */
const local = (...addresses: string[]) =>
  slice('web', ...addresses).replaceAll('conditions:', `nodeName: ${NODE_A.name}, conditions:`);

const externalIPs = (...addresses: string[]) =>
  service('web', CLUSTER_IP.address, `  externalIPs: [${addresses}]`);

before(async () => {
  lab = closeAfter(openLab([]));
  manifests = closeAfter(new ManifestFolder(''));
  manifests.write(SERVICE, service('web', CLUSTER_IP.address));
  manifests.write(SLICE, local('10.244.1.10'));
  // A chain of iptables mode: after the first pass the proxy looks for what other modes left, which starts programs, and this shows
  // when it has ended.
  ask(lab.namespace(NODE_A), 'ip6tables', '-t', 'nat', '-N', 'KUBE-SEP-AAAAAAAAAAAAAAAA');
  proxy = closeAfter(new ProxyProcess(lab.namespace(NODE_A), manifests.path, NO_AUDIT));
  await proxy.logged(({ msg }) => msg === 'removed items of another mode', 'the end of its start');
  ipvs = closeAfter(await openIpvs({ netns: lab.netns(NODE_A) }));
  trace = closeAfter(await ExecTrace.attach(proxy.pid));
});

test('100 changes of endpoints, each checked in the kernel, start no process', async () => {
  for (let i = 1; i <= 100; i++) {
    const changing = `10.244.1.${100 + i}`;
    manifests.write(SLICE, local('10.244.1.10', changing));
    await realServersBecome(ipvs, CLUSTER_IP, ['10.244.1.10:8080', `${changing}:8080`]);
  }
  assert.deepEqual(await trace.started(), []);
  const shown = ask(lab.namespace(NODE_A), 'ipvsadm', '-S', '-n');
  assert.match(shown, /^-a -t 10\.96\.0\.80:80 -r 10\.244\.1\.200:8080 -m -w 1$/m);
  assert.equal(shown.match(/^-a /gm)?.length, 2);
  assert.match(
    ask(lab.namespace(NODE_A), 'ipset', 'save'),
    /^add KUBE-LOOP-BACK 10\.244\.1\.200,tcp:8080,10\.244\.1\.200$/m,
  );
});

test('the first external IP of the cluster changes rules without a process, and so does the removal of the last', async () => {
  const external = (address: string): AddressId => ({ ...CLUSTER_IP, address });
  const endpoints = ['10.244.1.10:8080', '10.244.1.200:8080'];
  for (const addresses of [['203.0.113.1'], ['203.0.113.1', '203.0.113.2'], ['203.0.113.2'], []]) {
    manifests.write(SERVICE, externalIPs(...addresses));
    for (const address of ['203.0.113.1', '203.0.113.2']) {
      await realServersBecome(ipvs, external(address), addresses.includes(address) ? endpoints : []);
    }
    assert.deepEqual(await trace.started(), [], `external IPs [${addresses}]`);
    const rules = ask(lab.namespace(NODE_A), 'iptables-save', '-t', 'nat');
    assert.equal(rules.includes('--match-set KUBE-EXTERNAL-IP '), addresses.length > 0);
  }
});

test('a change of only the IPv6 rules starts no process', async () => {
  const id: AddressId = { address: 'fd00:10:96::80', port: 80, protocol: 'tcp' };
  for (const there of [true, false]) {
    // A comment, because an empty file counts as unreadable.
    manifests.write('six.yaml', there ? service('six', `"${id.address}"`) : '# none\n');
    await virtualServiceBecomes(id, there);
    assert.deepEqual(await trace.started(), []);
    const rules = ask(lab.namespace(NODE_A), 'ip6tables-save', '-t', 'nat');
    assert.equal(rules.includes('--match-set KUBE-6-CLUSTER-IP '), there);
  }
});

async function virtualServiceBecomes(id: AddressId, there: boolean): Promise<void> {
  const wanted = `${id.address} is ${there ? '' : 'not '}in the kernel`;
  for (const deadline = Date.now() + PATIENCE; ((await ipvs.get(id)) !== undefined) !== there; ) {
    assert.ok(Date.now() < deadline, `not within ${PATIENCE} ms: ${wanted}`);
  }
}
