// Flows to frontends that began while the kernel lacked the rules of their Service, and flows of pods to others: which are deleted, in every
// mode, and what is asked of the kernel for it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { HOST, NODE, service, slice } from '../../../support/clusters/manifests.js';
import { edit } from '../../../support/fakes/tamperRules.js';
import { FakeIptablesNode, FakeNftablesNode, FakeNode } from '../../../support/oracle/testNode.js';

type AnyNode = FakeNode | FakeIptablesNode | FakeNftablesNode;

const MODES: Readonly<
  Record<string, { make(kernel?: FakeKernel): AnyNode; flush(kernel: FakeKernel): Promise<void> }>
> = {
  ipvs: {
    make: (kernel) => new FakeNode(HOST, kernel),
    flush: async ({ rtnetlink, ipvs }) => {
      await rtnetlink.deleteLink('kube-ipvs0');
      for (const service of await ipvs.listServices()) await ipvs.delete(service);
    },
  },
  iptables: {
    make: (kernel) => new FakeIptablesNode(HOST, kernel),
    flush: async ({ iptables }) => {
      let table = '';
      edit(iptables, 4, (line) => {
        if (line.startsWith('*')) table = line.slice(1);
        return table === 'nat' && line.startsWith('-A ') ? [] : [line];
      });
    },
  },
  nftables: {
    make: (kernel) => new FakeNftablesNode(HOST, kernel),
    flush: ({ nftables }) => nftables.deleteTable({ family: 'ip', name: 'kube-proxy' }),
  },
  scalable: {
    make: (kernel) => new FakeNftablesNode(HOST, kernel, 'scalable'),
    flush: ({ nftables }) => nftables.deleteTable({ family: 'ip', name: 'kube-proxy' }),
  },
};

/** A Service with a TCP and a UDP port, both with a node port. */
const web = (extra = '', ip = '10.96.0.1', name = 'web', nodePort = 30_080) =>
  service(name, ip, `  type: NodePort\n${extra}`).replace(
    '[{port: 80}]',
    `[{name: t, port: 80, nodePort: ${nodePort}}, {name: u, port: 53, protocol: UDP, nodePort: ${nodePort + 1}}]`,
  ) +
  slice(name, '10.0.0.1').replace(
    '{port: 8080}',
    '{name: t, port: 8080}, {name: u, port: 8053, protocol: UDP}',
  );

let lastPort = 1024;

/** A flow that no rule translated. */
function track(
  { kernel }: { readonly kernel: FakeKernel },
  text: string,
  more: Partial<Parameters<FakeKernel['conntrack']['track']>[0]> = {},
) {
  const [protocol, to = ''] = text.split(' ') as ['tcp' | 'udp', string];
  const [destination = '', port] = to.split(':');
  const [client, destinationPort] = [{ address: '10.244.9.9', port: ++lastPort }, Number(port)];
  kernel.conntrack.track({
    protocol,
    original: { source: client.address, sourcePort: client.port, destination, destinationPort },
    reply: {
      source: destination,
      sourcePort: destinationPort,
      destination: client.address,
      destinationPort: client.port,
    },
    ...(protocol === 'tcp' && { tcpState: 'SYN_SENT' }),
    ...more,
  });
}

const left = async ({ kernel }: AnyNode) =>
  (await kernel.conntrack.list().toArray())
    .map(
      ({ protocol, original: { destination, destinationPort } }) =>
        `${protocol} ${destination}:${destinationPort}`,
    )
    .sort();

/** They have no reply, and no rule translated them. */
const LOST = ['tcp 10.96.0.1:80', 'tcp 192.168.50.10:30080', 'udp 10.96.0.1:53', 'udp 192.168.50.10:30081'];

/** Flows to others: to another port, to an address of no Service, to the node port of another host. */
const OTHERS = ['tcp 10.96.0.1:81', 'tcp 10.96.0.1:53', 'udp 10.96.0.9:53', 'udp 192.168.50.11:30081'];

for (const [name, { make, flush }] of Object.entries(MODES))
  describe(name, () => {
    const synced = async (kernel?: FakeKernel) => {
      const node = make(kernel);
      await node.loadText(NODE + web() + web('', '10.96.0.2', 'other', 30_090));
      await node.sync();
      await node.sync();
      return node;
    };

    it('what began while rules were away is deleted when they are repaired, and nothing else', async () => {
      for (const how of ['pass', 'audit'] as const) {
        const node = await synced();
        await flush(node.kernel);
        for (const flow of [...LOST, ...OTHERS]) track(node, flow);
        track(node, 'udp 10.96.0.1:53', { status: ['SEEN_REPLY', 'CONFIRMED'] });
        track(node, 'tcp 10.96.0.1:80', { tcpState: 'ESTABLISHED' });
        const kept = [...OTHERS, 'udp 10.96.0.1:53', 'tcp 10.96.0.1:80'].sort();
        if (how === 'pass') node.reconciler.requestFullSync();
        const { repaired, phases } = how === 'pass' ? await node.sync() : await node.audit();
        assert.ok(repaired > 0);
        assert.deepEqual([await left(node), phases.get('deleteFlows')], [kept, LOST.length], how);
        await node.sync();
        const { listings } = node.kernel.conntrack;
        await node.sync();
        assert.equal(node.kernel.conntrack.listings, listings, 'nothing is left to check');
      }
    });

    it('what began before a Service, or one of its addresses, was programmed is deleted; a restart asks nothing', async () => {
      const kernel = new FakeKernel();
      track({ kernel }, 'tcp 10.96.0.1:80');
      const node = await synced(kernel);
      assert.deepEqual(await left(node), []);
      track(node, 'tcp 203.0.113.1:80');
      track(node, 'tcp 10.96.0.2:80');
      const withAddress = web('  externalIPs: [203.0.113.1]');
      await node.loadText(NODE + withAddress + web('', '10.96.0.2', 'other', 30_090));
      await node.sync();
      assert.deepEqual(await left(node), ['tcp 10.96.0.2:80'], 'the other Service has not changed');
      const again = make(kernel);
      await again.loadText(NODE + withAddress + web('', '10.96.0.2', 'other', 30_090));
      assert.equal((await again.sync()).operations, 0);
      assert.deepEqual(await left(again), ['tcp 10.96.0.2:80']);
    });

    it('the flows of a Service that the kernel refuses are deleted once it is programmed', async () => {
      const node = make();
      const { ipvs, iptables, nftables } = node.kernel;
      const fault = (operation: string, target: string) =>
        new NetlinkError({ code: 'ENOMEM', operation, target });
      for (const part of [ipvs, iptables, nftables]) part.fault = fault;
      await node.loadText(NODE + web());
      assert.ok((await node.sync()).failures.length > 0);
      for (const part of [ipvs, iptables, nftables]) part.fault = () => undefined;
      track(node, 'tcp 10.96.0.1:80');
      node.retryFailed();
      await node.sync();
      assert.deepEqual(await left(node), []);
    });

    it('a changed endpoint leaves the flow of a pod to the node port of another host', async () => {
      const node = await synced();
      track(node, 'udp 192.168.50.11:30081');
      track(node, 'udp 192.168.50.10:30081', { status: ['SEEN_REPLY', 'CONFIRMED'] });
      const text = (NODE + web() + web('', '10.96.0.2', 'other', 30_090)).replaceAll(
        '10.0.0.1]',
        '10.0.0.2]',
      );
      await node.loadText(text);
      await node.sync();
      assert.deepEqual(await left(node), ['udp 192.168.50.11:30081']);
    });
  });
