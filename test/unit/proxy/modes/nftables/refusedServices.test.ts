// Services that the kernel refuses: no other Service is stopped or late, and a refused one works as soon as the kernel takes it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import { FakeConntrack, type Fault } from '../../../../../src/kernel/testing/index.js';
import { isSame } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { type LifeStep, MIXED_LIFE, objectsOf } from '../../../../support/clusters/mixedCluster.js';
import { service, slice } from '../../../../support/clusters/nftablesPlans.js';
import { RANDOM_HOST } from '../../../../support/clusters/randomCluster.js';
import { sample } from '../../../../support/extent.js';
import { FaultyNftables } from '../../../../support/fakes/faultyNftables.js';
import { NftablesNode } from '../../../../support/oracle/testNode.js';

type Objects = LifeStep['objects'];

function newNode() {
  return new NftablesNode(RANDOM_HOST, { nftables: new FaultyNftables(), conntrack: new FakeConntrack() });
}

/** Refuses every change of a chain of these Services. */
function refusing(services: readonly string[], code: string, errno: number): Fault {
  return (operation, target) =>
    services.some((name) => new RegExp(`/${name}/`).test(target))
      ? new NetlinkError({ code, errno, operation, target })
      : undefined;
}

/** The objects without those of some Services. */
function without(objects: Objects, services: readonly string[]): Objects {
  const isOf = (identity: string) => services.some((name) => new RegExp(`/${name}(-\\d)?$`).test(identity));
  return new Map([...objects].filter(([identity]) => !isOf(identity)));
}

/** The kernel has all items of these objects, as a new node writes them. */
async function assertHas(node: ReturnType<typeof newNode>, objects: Objects, what: string): Promise<number> {
  const fresh = newNode();
  fresh.set(objects);
  assert.deepEqual((await fresh.sync()).failures, []);
  const [has, wants] = [await observeAll(node.mode, true), await observeAll(fresh.mode, true)];
  for (const [key, item] of wants) {
    const other = has.get(key);
    assert.ok(other && isSame(item, other), `${what}: ${key}`);
  }
  return has.size - wants.size;
}

const CODES = [
  ['EINVAL', 22],
  ['EBUSY', 16],
  ['EEXIST', 17],
  ['ENOENT', 2],
  ['ERANGE', 34],
  ['EOPNOTSUPP', 95],
  ['EMFILE', 24],
] as const;

describe('a Service that the kernel refuses in all its life', () => {
  for (const [code, errno] of sample(CODES, 2))
    it(code, async () => {
      const node = newNode();
      const { nftables } = node.kernel;
      nftables.fault = refusing(['web'], code, errno);
      for (const { what, objects } of MIXED_LIFE) {
        node.set(objects);
        const { failures } = await node.sync();
        for (const { services, error, key } of failures) {
          assert.equal(error.code, code, key);
          assert.deepEqual(services ?? ['demo/web'], ['demo/web'], key);
        }
        await assertHas(node, without(objects, ['web']), what);
      }
      nftables.fault = () => undefined;
      node.set(MIXED_LIFE[0].objects);
      await node.sync();
      node.retryFailed();
      assert.deepEqual((await node.sync()).failures, []);
      assert.equal(await assertHas(node, MIXED_LIFE[0].objects, 'accepted'), 0);
    });
});

it('a third of all Services, while most errors do not fit into the receive buffer', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `s${i}`);
  const bad = names.filter((_, i) => i % 3 === 0);
  const objects = objectsOf(
    ...names.flatMap((name, i) => [service(name, `10.97.0.${i}`), slice(name, `10.244.7.${i}`)]),
  );
  const node = newNode();
  const { nftables } = node.kernel;
  nftables.losesErrors = true;
  nftables.fault = refusing(bad, 'EINVAL', 22);
  node.set(objects);
  const { failures } = await node.sync();
  const failed = new Set(failures.flatMap(({ services }) => services ?? []));
  assert.deepEqual([...failed].sort(), bad.map((name) => `demo/${name}`).sort());
  await assertHas(node, without(objects, bad), 'the others');
  nftables.fault = () => undefined;
  node.retryFailed();
  assert.deepEqual((await node.sync()).failures, []);
  assert.equal(await assertHas(node, objects, 'accepted'), 0);
});
