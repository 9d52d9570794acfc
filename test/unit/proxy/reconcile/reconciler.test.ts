// The reconciler with ipvs mode on a kernel in memory: cost, failure and repair. More stories are in scenarios/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { FakeNode } from '../../../support/oracle/testNode.js';

describe('a change', () => {
  it('of an address that two Services claim uses the older Service', async () => {
    const node = new FakeNode(HOST);
    const aged = (text: string, year: number) =>
      text.replace('{namespace', `{creationTimestamp: "${year}-01-01T00:00:00Z", namespace`);
    const ext = '  externalIPs: [192.0.2.1]';
    await node.loadText(
      aged(service('young', '10.96.0.1', ext), 2026) +
        slice('young', '10.0.0.1') +
        aged(service('old', '10.96.0.2', ext), 2020) +
        slice('old', '10.0.0.2'),
    );
    await node.sync();
    assert.match(node.kernel.ipvs.dump(), /-a -t 192\.0\.2\.1:80 -r 10\.0\.0\.2:8080/);
    assert.doesNotMatch(node.kernel.ipvs.dump(), /-a -t 192\.0\.2\.1:80 -r 10\.0\.0\.1:8080/);
  });
});

describe('an item found in the kernel', () => {
  it('is removed if an earlier process created it', async () => {
    const first = new FakeNode(HOST);
    const nodePort = '  type: NodePort'.concat('\n');
    await first.loadText(
      service('web', '10.96.0.1', nodePort).replace('port: 80}', 'port: 80, nodePort: 30080}'),
    );
    await first.sync();
    assert.match(first.kernel.ipvs.dump(), /192\.168\.50\.10:30080/);
    const second = new FakeNode(HOST, first.kernel);
    await second.sync();
    assert.equal(second.kernel.ipvs.dump(), '');
    assert.doesNotMatch(second.kernel.ipset.dump(), /^add/m);
    assert.doesNotMatch(second.kernel.rtnetlink.dump('kube-ipvs0'), /inet/);
  });
});

describe('failure', () => {
  it('of more items than are read alone is retried in a full pass', async () => {
    const node = new FakeNode(HOST);
    await node.sync();
    node.kernel.ipvs.fault = (operation, target) => new NetlinkError({ code: 'ENOMEM', operation, target });
    const text = (port: number) =>
      Array.from({ length: 300 }, (_, i) =>
        service(`s${i}`, `10.96.1.${i % 256}`).replace('port: 80', `port: ${port + i}`),
      ).join('');
    await node.loadText(text(1000));
    assert.equal((await node.sync()).unknown, 300);
    assert.equal(node.reconciler.refused().services, 300);
    node.kernel.ipvs.fault = () => undefined;
    await node.loadText(text(1000) + slice('s7', '10.0.0.1'));
    assert.equal((await node.sync()).unknown, 299, 'the Service that changed is tried alone');
    node.retryFailed();
    const { full, unknown } = await node.sync();
    assert.deepEqual([full, unknown, node.reconciler.refused().services], [true, 0, 0]);
  });
});

describe('a full pass', () => {
  it('does not count a change that arrives during its reads as a repair', async () => {
    const node = new FakeNode(HOST);
    await node.sync();
    node.reconciler.requestFullSync();
    const list = node.kernel.ipset.list.bind(node.kernel.ipset);
    node.kernel.ipset.list = async () => {
      await node.loadText(service('web', '10.96.0.1'));
      return list();
    };
    const { full, services, operations, repaired } = await node.sync();
    assert.deepEqual([full, services, repaired], [true, 1, 0]);
    assert.ok(operations > 0);
  });

  it('repairs changes by others', async () => {
    const node = new FakeNode(HOST);
    await node.loadText(service('web', '10.96.0.1') + slice('web', '10.0.0.1', '10.0.0.2'));
    await node.sync();
    const before = node.output();
    const id = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
    const server = {
      address: '10.0.0.1',
      port: 8080,
      forwarding: 'masquerade',
      upperThreshold: 0,
      lowerThreshold: 0,
    } as const;
    await node.kernel.ipvs.apply([
      { do: 'updateRealServer', service: id, realServer: { ...server, weight: 0 } },
      { do: 'deleteRealServer', service: id, realServer: { address: '10.0.0.2', port: 8080 } },
      { do: 'addRealServer', service: id, realServer: { ...server, address: '10.9.9.9', weight: 1 } },
    ]);
    await node.kernel.ipset.apply([{ do: 'flush', name: 'KUBE-CLUSTER-IP' }]);
    await node.kernel.rtnetlink.apply([{ do: 'deleteLink', name: 'kube-ipvs0' }]);
    await node.kernel.iptables.restore(4, [
      {
        do: 'deleteRule',
        rule: {
          family: 4,
          table: 'nat',
          chain: 'OUTPUT',
          text: '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        },
      },
    ]);
    node.kernel.sysctl.values.set('net/ipv4/ip_forward', '0');
    node.reconciler.requestFullSync();
    assert.deepEqual((await node.sync()).failures, []);
    assert.deepEqual(node.output(), before);
  });
});
