// What a clean-up leaves: virtual services whose addresses are in excludeCIDRs, which are served like all others, and chains that other
// programs use.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { cleanUp } from '../../../../../src/proxy/reconcile/cleanUp.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

const EXCLUDED = { ...HOST, configuration: { ipvs: { excludeCIDRs: ['10.96.0.0/24'] } } };
const WEB = service('web', '10.96.0.1');
const NOTHING = service('other', '10.97.0.1');

/** Number of operations of an audit that found a difference. */
async function audit({ reconciler }: FakeNode): Promise<number> {
  let operations = 0;
  reconciler.startAudit();
  while (reconciler.auditing) {
    const summary = await reconciler.auditSlice();
    operations += summary ? Math.max(summary.operations, summary.repaired) : 0;
  }
  return operations;
}

async function sync(node: FakeNode, text: string): Promise<number> {
  await node.loadText(text);
  const { failures, operations } = await node.sync();
  assert.deepEqual(failures, []);
  return operations;
}

const weights = ({ kernel }: FakeNode) =>
  [...kernel.ipvs.dump().matchAll(/-a -t 10\.96\.0\.1:80 -r (\S+):8080 -m -w (\d+)/g)]
    .map(([, address, weight]) => `${address}=${weight}`)
    .join(' ');

describe('a virtual service in excludeCIDRs', () => {
  it('is repaired by no audit, in the process that added it and after a restart', async () => {
    const node = new FakeNode(EXCLUDED);
    assert.ok((await sync(node, WEB + slice('web', '10.0.0.1'))) > 0);
    assert.deepEqual([await audit(node), await audit(node)], [0, 0]);
    const restarted = new FakeNode(EXCLUDED, node.kernel);
    assert.equal(await sync(restarted, WEB + slice('web', '10.0.0.1')), 0);
    assert.deepEqual([await audit(restarted), await audit(restarted)], [0, 0]);
  });

  it('follows the endpoints of its Service, and audits restore it', async () => {
    const node = new FakeNode(EXCLUDED);
    await sync(node, WEB + slice('web', '10.0.0.1'));
    await sync(node, WEB + slice('web', '10.0.0.2'));
    assert.equal(weights(node), '10.0.0.2=1');
    const id = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
    await node.kernel.ipvs.apply([{ do: 'deleteService', service: id }]);
    assert.deepEqual(
      [await audit(node), await audit(node)],
      [2, 0],
      'the virtual service and its real server',
    );
    assert.equal(weights(node), '10.0.0.2=1');
  });

  it('stays when its Service is removed, and serves it again when it returns', async () => {
    const node = new FakeNode(EXCLUDED);
    await sync(node, WEB + slice('web', '10.0.0.1'));
    for (const text of [NOTHING, WEB + slice('web', '10.0.0.2'), NOTHING]) await sync(node, text);
    assert.equal(weights(node), '10.0.0.2=1');
    assert.doesNotMatch(node.kernel.rtnetlink.dump('kube-ipvs0'), /10\.96\.0\.1/);
    assert.deepEqual([await audit(node), await audit(node)], [0, 0]);
    await sync(new FakeNode(EXCLUDED, node.kernel), NOTHING);
    assert.equal(weights(node), '10.0.0.2=1');
  });

  it('stays in a clean-up, which does not list it as left', async () => {
    const node = new FakeNode(EXCLUDED);
    await sync(node, WEB + slice('web', '10.0.0.1'));
    assert.deepEqual((await cleanUp(node.mode)).left, []);
    assert.equal(weights(node), '10.0.0.1=1');
  });

  it('of another program keeps its real servers of weight 0', async () => {
    const kernel = new FakeKernel();
    const other = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
    const realServer = { address: '10.0.0.9', port: 8080, weight: 0, forwarding: 'masquerade' } as const;
    await kernel.ipvs.apply([
      { do: 'addService', service: { ...other, scheduler: 'rr' } },
      { do: 'addRealServer', service: other, realServer },
    ]);
    const node = new FakeNode(EXCLUDED, kernel);
    await sync(node, NOTHING);
    assert.equal(weights(node), '10.0.0.9=0');
    assert.equal(await audit(node), 0);
  });
});

it('a clean-up leaves a set with the name of one of this mode and another type', async () => {
  const kernel = new FakeKernel();
  const { ipset } = kernel;
  await ipset.create({ name: 'KUBE-CLUSTER-IP', type: 'hash:ip', family: 4 });
  await ipset.create({ name: 'KUBE-EXTERNAL-IP', type: 'hash:ip,port', family: 4 });
  const { left, failures } = await cleanUp(new FakeNode(HOST, kernel).mode);
  assert.deepEqual([left, failures], [[], []]);
  assert.deepEqual(
    (await ipset.list()).map(({ name }) => name),
    ['KUBE-CLUSTER-IP'],
  );
});

it('a chain to which a rule of another program jumps stays in a clean-up, which names it', async () => {
  const node = new FakeNode(HOST);
  await sync(node, WEB + slice('web', '10.0.0.1'));
  const rule = { family: 4, table: 'nat', chain: 'POSTROUTING', text: '-j KUBE-MARK-MASQ' } as const;
  assert.deepEqual(await node.kernel.iptables.restore(4, [{ do: 'insertRule', rule }]), [undefined]);
  const { failures, left, used } = await cleanUp(node.mode);
  assert.deepEqual([failures, left, used], [[], [], ['chain IPv4 nat/KUBE-MARK-MASQ']]);
});
