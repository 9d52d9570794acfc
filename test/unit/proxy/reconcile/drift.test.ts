// Operations that repair what another program changed count as repairs also in full passes and retries.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import { failNth } from '../../../../src/kernel/testing/index.js';
import { HOST, service, slice } from '../../../support/clusters/manifests.js';
import { edit } from '../../../support/fakes/tamperRules.js';
import { FakeIptablesNode, FakeNode } from '../../../support/oracle/testNode.js';

const WEB = service('web', '10.96.0.1') + slice('web', '10.0.0.1');

it('flushed rules of table nat are repairs, and later passes have none', async () => {
  const node = new FakeIptablesNode(HOST);
  await node.loadText(WEB);
  assert.equal((await node.sync()).repaired, 0, 'the first pass repairs nothing');
  const intact = node.kernel.iptables.dump(4);
  let table = '';
  edit(node.kernel.iptables, 4, (line) => {
    if (line.startsWith('*')) table = line.slice(1);
    return table === 'nat' && line.startsWith('-A ') ? [] : [line];
  });
  await node.reconciler.disturbed(() => true);
  const { operations, repaired } = await node.sync();
  assert.equal(node.kernel.iptables.dump(4), intact);
  assert.ok(repaired > 0);
  assert.equal(repaired, operations);
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).repaired, 0);
});

it('a deleted kube-ipvs0 is a repair; a disturbance without a difference is none', async () => {
  const node = new FakeNode(HOST);
  await node.loadText(WEB);
  await node.sync();
  await node.kernel.rtnetlink.deleteLink('kube-ipvs0');
  await node.reconciler.disturbed(() => true);
  assert.ok((await node.sync()).repaired > 0);
  await node.reconciler.disturbed(() => true);
  assert.equal((await node.sync()).repaired, 0);
  await node.reconciler.disturbed(() => false);
  assert.equal(node.reconciler.pending, false);
});

it('a repair that fails counts when it succeeds, and the repaired items are named', async () => {
  const node = new FakeNode(HOST);
  await node.loadText(WEB + service('api', '10.96.0.2') + slice('api', '10.0.0.2'));
  await node.sync();
  const { ipvs } = node.kernel;
  for (const address of ['10.96.0.1', '10.96.0.2'])
    await ipvs.apply([{ do: 'deleteService', service: { address, port: 80, protocol: 'tcp' } }]);
  const error = new NetlinkError({ code: 'ENOMEM', operation: 'ipvs.addService' });
  ipvs.fault = (_, target) => (target?.includes('10.96.0.1') ? error : undefined);
  const audit = await node.audit();
  assert.ok(audit.failures.length > 0);
  assert.deepEqual(audit.repairs?.keys, ['virtual service 10.96.0.2:80/tcp']);
  const phases = [...(audit.repairs?.phases.values() ?? [])];
  assert.deepEqual([audit.repaired, phases.length], [phases[0], 1]);
  assert.ok(audit.operations > audit.repaired);
  ipvs.fault = () => undefined;
  node.retryFailed();
  assert.ok((await node.sync()).accepted > 0);
});

it('a repair that another pass must repeat, because the kernel could not be read, counts then', async () => {
  const node = new FakeIptablesNode(HOST);
  await node.loadText(WEB);
  await node.sync();
  const { iptables } = node.kernel;
  iptables.load(4, '');
  await node.reconciler.disturbed(() => true);
  const error = new NetlinkError({ code: 'ERR_PROCESS', operation: 'iptables.save' });
  iptables.readFault = () => error;
  await assert.rejects(node.sync(), error);
  iptables.readFault = () => undefined;
  assert.ok((await node.sync()).repaired > 0);
});

describe('a full pass after the first counts', () => {
  const SERVER = { address: '10.0.0.1', port: 8080, forwarding: 'masquerade' } as const;
  const LIMITS = { upperThreshold: 0, lowerThreshold: 0 };
  const ID = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;

  async function programmed(): Promise<FakeNode> {
    const node = new FakeNode(HOST);
    await node.loadText(WEB);
    await node.sync();
    node.reconciler.requestFullSync();
    return node;
  }

  it('what was deleted, edited or added, also beside changes of other Services', async () => {
    const node = await programmed();
    const { ipvs, ipset, rtnetlink } = node.kernel;
    await ipvs.apply([
      { do: 'updateRealServer', service: ID, realServer: { ...SERVER, ...LIMITS, weight: 0 } },
      { do: 'addService', service: { ...ID, port: 8888, scheduler: 'rr' } },
    ]);
    await rtnetlink.apply([
      { do: 'addAddress', address: { link: 'kube-ipvs0', address: '192.0.2.99', prefix: 32 } },
    ]);
    await ipset.apply([{ do: 'flush', name: 'KUBE-CLUSTER-IP' }]);
    await node.loadText(WEB + service('other', '10.96.0.2') + slice('other', '10.0.0.2'));
    const { operations, repaired } = await node.sync();
    assert.equal(repaired, 4);
    assert.ok(operations > repaired, 'the new Service is not a repair');
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0);
  });

  it('what was deleted, although all plans are made again, as after a change of the node IP', async () => {
    const node = await programmed();
    await node.kernel.ipvs.apply([{ do: 'deleteService', service: ID }]);
    await node.kernel.rtnetlink.deleteLink('kube-ipvs0');
    node.reconciler.touchAll();
    const { operations, repaired } = await node.sync();
    assert.ok(repaired > 2);
    assert.equal(repaired, operations);
  });

  it('no change of a Service, whether it adds, edits or removes', async () => {
    const node = await programmed();
    const text = service('web', '10.96.0.1', '  sessionAffinity: ClientIP') + slice('web', '10.0.0.2');
    for (const next of [text, text + service('other', '10.96.0.2'), '']) {
      await node.loadText(next);
      node.reconciler.requestFullSync();
      const { operations, repaired, failures } = await node.sync();
      assert.deepEqual([repaired, failures], [0, []], next);
      assert.ok(operations > 0);
    }
  });

  it('no state of an earlier process: the first pass of a process counts nothing', async () => {
    const { kernel } = await programmed();
    await kernel.ipvs.apply([{ do: 'deleteService', service: ID }]);
    const again = new FakeNode(HOST, kernel);
    await again.loadText(WEB);
    const { operations, repaired } = await again.sync();
    assert.ok(operations > 0);
    assert.equal(repaired, 0);
  });

  it('no item whose operation had failed', async () => {
    const node = await programmed();
    await node.sync();
    node.kernel.ipvs.fault = failNth(1);
    await node.loadText(service('web', '10.96.0.1') + slice('web', '10.0.0.2'));
    assert.equal((await node.sync()).failures.length, 1);
    node.reconciler.requestFullSync();
    const { operations, repaired } = await node.sync();
    assert.ok(operations > 0);
    assert.equal(repaired, 0);
  });
});

it('what a failing change finds deleted is a repair of its retry', async () => {
  const node = new FakeNode(HOST);
  await node.loadText(WEB);
  await node.sync();
  const id = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
  await node.kernel.ipvs.apply([{ do: 'deleteService', service: id }]);
  await node.loadText(service('web', '10.96.0.1') + slice('web', '10.0.0.1', '10.0.0.2'));
  const change = await node.sync();
  assert.deepEqual([change.failures.length, change.repaired], [1, 0]);
  node.retryFailed();
  const retry = await node.sync();
  assert.deepEqual(retry.failures, []);
  assert.equal(retry.repaired, retry.operations);
  assert.ok(retry.repaired > 0);
});
