// Real servers of virtual services with the Maglev scheduler: draining ones have no places in its table, and with `node-failover` all nodes
// add the others in the same order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { IpvsOperation } from '../../../../../src/kernel/ipvs/types.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import type { Cure } from '../../../../../src/proxy/modes/ipvs/index.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { WHOLE } from '../../../../support/extent.js';
import { FakeNode } from '../../../../support/oracle/testNode.js';

const MAGLEV = { ...HOST, configuration: { ipvs: { scheduler: 'mh' } } };
const BY_SETTING = { ...HOST, configuration: { serviceSettings: ['scheduler', 'weight'] } };
const FAILOVER: readonly Cure[] = ['node-failover'];
const WEB = service('web', '10.96.0.1');

/** The Service with a scheduler of its own. */
const withScheduler = (scheduler: string) =>
  WEB.replace('name: web}', `name: web, annotations: {kube-netlink-proxy.io/scheduler: ${scheduler}}}`);

/** The slice with a weight for its endpoints. */
const weighing = (weight: number, text: string) =>
  text.replace('name: web,', `name: web, annotations: {kube-netlink-proxy.io/weight: "${weight}"},`);

const VERBS: Readonly<Record<string, string>> = {
  addRealServer: '+',
  deleteRealServer: '-',
  updateRealServer: '=',
};

/** A node, its operations on real servers since the last call of `change`, and the weights that they set: `+2`, `-2`, `=2:0`. */
function setUp(scenario: typeof HOST = MAGLEV, cures = FAILOVER, kernel = new FakeKernel()) {
  const node = new FakeNode(scenario, kernel, cures);
  const made: string[] = [];
  kernel.ipvs.onBatch = ({ operations }) => made.push(...operations.map(textOf));
  const load = async (text: string) => {
    made.length = 0;
    await node.loadText(text);
    const { failures } = await node.sync();
    return { failures, made: made.join(' ') };
  };
  const change = async (...endpoints: string[]) => (await load(WEB + slice('web', ...endpoints))).made;
  return { node, kernel, made, load, change };
}

function textOf(operation: IpvsOperation): string {
  const verb = VERBS[operation.do];
  if (verb === undefined || !('realServer' in operation)) return operation.do;
  const { address, weight = 1 } = operation.realServer as { address: string; weight?: number };
  const isPlain = weight === 1 || operation.do === 'deleteRealServer';
  return `${verb}${address.split('.').at(-1)}${isPlain ? '' : `:${weight}`}`;
}

/** The real servers with places in the table, in the order in which they were added. */
async function added({ ipvs }: FakeKernel): Promise<string> {
  const state = await ipvs.get({ address: '10.96.0.1', port: 80, protocol: 'tcp' });
  const servers = (state?.realServers ?? []).filter(({ weight }) => weight > 0).reverse();
  return servers.map(({ address }) => address.split('.').at(-1)).join(' ');
}

const endpoints = (...numbers: readonly number[]) => numbers.map((number) => `10.0.0.${number}`);

describe('draining with the Maglev scheduler', () => {
  it('adds the real server again, with weight 0: an update would leave it its places', async () => {
    for (const cures of [[], FAILOVER]) {
      const { kernel, change } = setUp(MAGLEV, cures);
      kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
      await change(...endpoints(1, 2, 3));
      assert.equal(await change('10.0.0.1 terminating', ...endpoints(2, 3)), '-1 +1:0');
      assert.equal(await change('10.0.0.1 terminating', ...endpoints(2, 3)), '');
    }
  });

  it('adds it again for weight 0 by annotation', async () => {
    const { load } = setUp(BY_SETTING, []);
    const text = slice('web', ...endpoints(1, 2));
    await load(withScheduler('mh') + text);
    assert.equal((await load(withScheduler('mh') + weighing(0, text))).made, '-1 +1:0 -2 +2:0');
    assert.equal((await load(withScheduler('mh') + weighing(3, text))).made, '=1:3 =2:3');
  });

  it('adds real servers with weight 0 again when the scheduler becomes mh', async () => {
    const { load } = setUp(BY_SETTING, []);
    const text = weighing(0, slice('web', ...endpoints(1, 2)));
    await load(WEB + text);
    assert.equal((await load(withScheduler('mh') + text)).made, 'updateService -1 +1:0 -2 +2:0');
  });

  it('lets the kernel drop packets meanwhile, instead of ending their connections', async () => {
    const { kernel, made, change } = setUp(MAGLEV, []);
    kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
    await change(...endpoints(1, 2));
    kernel.sysctl.onBatch = ({ operations }) =>
      made.push(...operations.map(({ name, value }) => `${name.split('/').at(-1)}=${value}`));
    const drained = 'expire_nodest_conn=0 -1 +1:0 expire_nodest_conn=1';
    assert.equal(await change('10.0.0.1 terminating', ...endpoints(2)), drained);
    assert.equal(await change('10.0.0.1 terminating', ...endpoints(2, 3)), '+3');
  });

  it('does without where settings are read-only, and reports other failures', async () => {
    const refused = [
      { code: 'EROFS', write: 1, reported: 0 },
      { code: 'EIO', write: 1, reported: 1 },
      { code: 'EIO', write: 2, reported: 1 },
    ];
    for (const { code, write, reported } of refused) {
      const { node, kernel, change, load } = setUp(MAGLEV, []);
      kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
      await change(...endpoints(1, 2));
      let writes = 0;
      kernel.sysctl.fault = (operation, target) =>
        ++writes === write ? new NetlinkError({ code, errno: 5, operation, target }) : undefined;
      const { failures } = await load(WEB + slice('web', '10.0.0.1 terminating', ...endpoints(2)));
      assert.equal(failures.length, reported, `${code} of write ${write}`);
      node.retryFailed();
      assert.deepEqual((await node.sync()).failures, []);
    }
  });

  it('updates with other schedulers', async () => {
    const { kernel, change } = setUp(HOST, FAILOVER);
    kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
    await change(...endpoints(1, 3));
    assert.equal(await change('10.0.0.1 terminating', ...endpoints(2, 3)), '+2 =1:0');
  });
});

describe('node-failover', () => {
  it('adds the real servers again that follow a new one, each after its deletion', async () => {
    const { kernel, change } = setUp();
    assert.equal(await change(...endpoints(9, 2, 5)), 'addService +2 +5 +9');
    assert.equal(await change(...endpoints(2, 4, 5, 9)), '+4 -5 +5 -9 +9');
    assert.equal(await change(...endpoints(2, 4, 5, 9, 10)), '+10');
    assert.equal(await change(...endpoints(2, 5, 9, 10)), '-4');
    assert.equal(await change(...endpoints(1, 2, 5, 10)), '+1 -2 +2 -5 +5 -10 +10 -9');
    assert.equal(await added(kernel), '1 2 5 10');
  });

  it('leaves the order to others by default', async () => {
    const { change } = setUp(MAGLEV, []);
    assert.equal(await change(...endpoints(9, 2)), 'addService +2 +9');
    assert.equal(await change(...endpoints(2, 4, 9)), '+4');
  });

  it('gives a real server that was draining its place among the others', async () => {
    const { kernel, change } = setUp();
    kernel.ipvs.activeConnections.set('10.0.0.1:8080', 1);
    await change(...endpoints(1, 2, 3));
    await change('10.0.0.1 terminating', ...endpoints(2, 3));
    assert.equal(await change(...endpoints(1, 2, 3)), '-1 +1 -2 +2 -3 +3');
    assert.equal(await added(kernel), '1 2 3');
  });

  it('orders all when a Service gets the scheduler, and has the order by weight too', async () => {
    const { kernel, load } = setUp(BY_SETTING);
    await load(WEB + slice('web', ...endpoints(3)));
    await load(WEB + slice('web', ...endpoints(1, 3)));
    assert.equal(await added(kernel), '3 1');
    const text = slice('web', ...endpoints(1, 3));
    assert.equal((await load(withScheduler('mh') + text)).made, 'updateService -1 +1 -3 +3');
    assert.equal((await load(withScheduler('mh') + weighing(7, text))).made, '=1:7 =3:7');
    const more = weighing(7, slice('web', ...endpoints(1, 2, 3)));
    assert.equal((await load(withScheduler('mh') + more)).made, '+2:7 -3 +3:7');
    assert.equal((await load(withScheduler('rr') + more)).made, 'updateService');
  });

  it('keeps what an earlier process left if its order is right, and mends it otherwise', async () => {
    const { kernel, load, change } = setUp(MAGLEV, []);
    await change(...endpoints(3));
    await change(...endpoints(1, 3));
    const text = WEB + slice('web', ...endpoints(1, 3));
    const restarted = setUp(MAGLEV, FAILOVER, kernel);
    assert.equal((await restarted.load(text)).made, '-1 +1 -3 +3');
    assert.equal((await setUp(MAGLEV, FAILOVER, kernel).load(text)).made, '');
    assert.equal((await load(text)).made, '');
  });

  it('mends an order that another program changed, at the next audit', async () => {
    const { node, kernel, made, change } = setUp();
    await change(...endpoints(1, 3));
    const service = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
    const realServer = { address: '10.0.0.1', port: 8080, weight: 1, forwarding: 'masquerade' } as const;
    await kernel.ipvs.apply([
      { do: 'deleteRealServer', service, realServer },
      { do: 'addRealServer', service, realServer },
    ]);
    assert.equal(await added(kernel), '3 1');
    made.length = 0;
    assert.deepEqual((await node.audit()).failures, []);
    assert.equal(made.join(' '), '-1 +1 -3 +3');
  });

  it('reads the order again after a failure, whichever operation failed', async () => {
    for (let failing = 1; failing <= 5; failing++) {
      const { node, kernel, change, load } = setUp();
      await change(...endpoints(2, 5, 9));
      let count = 0;
      kernel.ipvs.fault = (operation, target) =>
        ++count === failing ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target }) : undefined;
      const { failures } = await load(WEB + slice('web', ...endpoints(2, 4, 5, 9)));
      assert.equal(failures.length, 1);
      node.retryFailed();
      assert.deepEqual((await node.sync()).failures, []);
      assert.equal(await added(kernel), '2 4 5 9', `operation ${failing} failed`);
      assert.equal((await node.sync()).operations, 0);
    }
  });

  it('leads to one order on nodes that saw endpoints come and go in different orders', async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const states = ['', ' terminating', ' unready', undefined];
    for (let round = 0; round < (WHOLE ? 5 : 1); round++) {
      const last = endpoints(...Array.from({ length: 12 }, (_, i) => i + 1).filter(() => random(3) > 0));
      for (let node = 0; node < 3; node++) {
        const { kernel, change } = setUp();
        for (let i = 0; i < 15; i++) {
          const some = endpoints(...Array.from({ length: 12 }, (_, n) => n + 1));
          await change(
            ...some.flatMap((address) => {
              const state = states[random(states.length)];
              return state === undefined ? [] : [address + state];
            }),
          );
        }
        await change(...last);
        assert.equal(await added(kernel), last.map((address) => address.split('.').at(-1)).join(' '));
      }
    }
  });

  it('keeps the deletion and the addition of a real server in one batch', async () => {
    const { node, kernel, change } = setUp();
    const many = Array.from({ length: 2500 }, (_, i) => `10.0.${1 + (i >> 8)}.${i & 255}`);
    await change(...many);
    const batches: (readonly IpvsOperation[])[] = [];
    kernel.ipvs.onBatch = ({ operations }) => void batches.push(operations);
    await node.loadText(WEB + slice('web', '10.0.0.1', ...many));
    await node.sync();
    assert.ok(batches.length > 4);
    assert.equal(batches.flat().length, 5001);
    for (const batch of batches) assert.notEqual(batch.at(-1)?.do, 'deleteRealServer');
  });

  it('lets packets of open connections be scheduled, which others do not', async () => {
    for (const cures of [[], FAILOVER]) {
      const { kernel, change } = setUp(HOST, cures);
      await change('10.0.0.1');
      assert.equal(await kernel.sysctl.read('net/ipv4/vs/sloppy_tcp'), cures.length > 0 ? '1' : '0');
    }
  });
});
