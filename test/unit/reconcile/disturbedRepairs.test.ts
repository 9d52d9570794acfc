// Operations that repair what another program changed count as repairs also in the full pass that a disturbance causes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../src/errors.js';
import { HOST, service, slice } from '../../support/manifests.js';
import { edit } from '../../support/tamperRules.js';
import { FakeIptablesNode, FakeNode } from '../../support/testNode.js';

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
