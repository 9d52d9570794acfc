// Node ports that are rejected on loopback addresses, on the kernel: nft lists what kube-proxy 1.38 has, packets are counted, and nothing is
// left without the gate.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { localhostNodePorts } from '../../src/command/modes/nftables/open.js';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { decodeConfiguration } from '../support/clusters/decodeConfiguration.js';
import { HOST, service, slice } from '../support/clusters/manifests.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { NftablesNode } from '../support/oracle/testNode.js';

let namespace: Namespace;
let nftables: Nftables;
before(async () => {
  namespace = makeNamespace();
  namespace.run('ip', 'link', 'set', 'lo', 'up');
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
});

const WEB =
  service('web', '10.96.0.1').replace(
    'ports: [{port: 80}]',
    'type: NodePort\n  ports: [{name: t, port: 80, nodePort: 30080}, {name: u, port: 53, protocol: UDP, nodePort: 30053}]',
  ) + slice('web', '10.244.0.1');

async function start(configuration: Record<string, unknown>) {
  const kernel = { nftables, conntrack: new FakeKernel().conntrack };
  const node = new NftablesNode({ ...HOST, configuration }, kernel);
  await node.loadText(WEB);
  assert.deepEqual((await node.sync()).failures, []);
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0, 'a second pass finds nothing to do');
  return node;
}

const listed = (family: string) =>
  namespace.run('nft', 'list', 'table', family, 'kube-proxy').replaceAll(/\s+/g, ' ');
/** Sends something to the port from the namespace. The connection is refused, which is no failure of the test. */
const send = (protocol: 'tcp' | 'udp', address: string, port: number) =>
  namespace.run(
    'bash',
    '-c',
    `(exec 3<>/dev/${protocol}/${address}/${port} && echo x >&3) 2>/dev/null || true`,
  );

it('they are listed as those of kube-proxy, and count what they reject', async () => {
  await start({ mirroredVersion: '1.38' });
  const four = listed('ip');
  for (const part of [
    'map localhost-nodeport-reject-ports { type inet_proto . inet_service : verdict comment "localhost NodePorts rejected by kube-proxy"',
    'tcp . 30080 : goto localhost-nodeport-reject-tcp',
    'udp . 30053 : goto localhost-nodeport-reject-udp',
    'counter localhost-nodeport-rejected-udp { packets 0 bytes 0 }',
    'chain localhost-nodeport-reject-sctp { counter name "localhost-nodeport-rejected-sctp" reject }',
    'ip daddr 127.0.0.0/8 meta l4proto . th dport vmap @localhost-nodeport-reject-ports',
  ])
    assert.ok(four.includes(part), `${part} is not in ${four}`);
  assert.ok(
    listed('ip6').includes('ip6 daddr ::1 meta l4proto . th dport vmap @localhost-nodeport-reject-ports'),
  );
  send('udp', '127.0.0.1', 30_053);
  send('tcp', '127.0.0.2', 30_080);
  send('tcp', '127.0.0.1', 30_081);
  const { configuration } = decodeConfiguration({ mirroredVersion: '1.38' });
  const read = await localhostNodePorts(nftables, [4, 6], configuration).readRejected();
  const counts = Object.fromEntries(
    read.map(({ family, protocol, packets }) => [`${family} ${protocol}`, packets]),
  );
  assert.equal(counts['4 UDP'], 1);
  assert.ok((counts['4 TCP'] ?? 0) >= 1);
  assert.equal(counts['6 TCP'], 0);
});

it('a pass keeps what was counted, and a start without the gate leaves nothing', async () => {
  await start({ mirroredVersion: '1.38' });
  assert.match(listed('ip'), /counter localhost-nodeport-rejected-udp \{ packets [1-9]/);
  await start({});
  for (const family of ['ip', 'ip6']) assert.doesNotMatch(listed(family), /localhost/);
});
