// A kernel in memory, which fails and which other programs change: the state converges, without a full pass where possible.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { Nftables } from '../../../../../src/kernel/nftables/types.js';
import { isSame } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import { cleanUp } from '../../../../../src/proxy/reconcile/cleanUp.js';
import { observeAll } from '../../../../../src/proxy/reconcile/observeAll.js';
import { RANDOM_HOST, RandomCluster, randomFrom } from '../../../../support/clusters/randomCluster.js';
import { sample, WHOLE } from '../../../../support/extent.js';
import { isRandom, type Scenario, scenarios } from '../../../../support/oracle/oracle.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const IP = { family: 'ip', table: 'kube-proxy' } as const;

/** What the kernel has equals what a new node writes to an empty kernel. */
async function assertConverged(node: FakeNftablesNode, fresh: FakeNftablesNode, what: string): Promise<void> {
  const [has, wants] = [await observeAll(node.mode), await observeAll(fresh.mode)];
  assert.deepEqual([...has.keys()].sort(), [...wants.keys()].sort(), what);
  for (const [key, item] of wants) {
    const other = has.get(key);
    assert.ok(other && isSame(item, other), `${what}: ${key}`);
  }
}

/** A node that has written the objects of a step to an empty kernel. */
async function freshNode(scenario: Scenario, step: string): Promise<FakeNftablesNode> {
  const node = new FakeNftablesNode(scenario);
  await node.load(step);
  assert.deepEqual((await node.sync()).failures, []);
  return node;
}

describe('recordings on a kernel in memory', () => {
  for (const scenario of sample(scenarios('nftables'), 4))
    it(`${scenario.name}: each step, a second pass, a restart, and a clean-up`, async () => {
      const node = new FakeNftablesNode(scenario);
      for (const step of scenario.steps) {
        await node.load(step);
        assert.deepEqual((await node.sync()).failures, []);
        await assertConverged(node, await freshNode(scenario, step), step);
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0, step);
      }
      const restarted = new FakeNftablesNode(scenario, node.kernel);
      await restarted.load(scenario.steps.at(-1) as string);
      assert.equal((await restarted.sync()).operations, 0);
      const { failures, left } = await cleanUp(restarted.mode);
      assert.deepEqual([failures, left], [[], []]);
      assert.deepEqual(await node.kernel.nftables.listTables().toArray(), []);
    });
});

/** Operations of a recording that fail, one in each run. */
const MOST_FAULTS = 8;

describe('operations fail once', () => {
  for (const scenario of sample(
    scenarios('nftables').filter((recording) => !isRandom(recording)),
    3,
  ))
    it(scenario.name, async () => {
      const last = scenario.steps.at(-1) as string;
      const fresh = await freshNode(scenario, last);
      const run = async (nth: number) => {
        const node = new FakeNftablesNode(scenario);
        let count = 0;
        let failed: string | undefined;
        let left = 2; // transactions: one with merged operations is made again at once, without merging
        let fails = false;
        node.kernel.nftables.onBatch = () => {
          fails = false;
        };
        node.kernel.fault = (operation, target) => {
          const name = `${operation} ${target}`;
          if (++count === nth) failed = name;
          if (name !== failed || fails || left === 0) return undefined;
          fails = true;
          left--;
          return new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target });
        };
        let failures = 0;
        for (const step of scenario.steps) {
          await node.load(step);
          const summary = await node.sync();
          failures += summary.failures.length;
          if (summary.failures.length === 0) continue;
          node.retryFailed();
          await node.sync();
          node.retryFailed();
          assert.deepEqual((await node.sync()).failures, [], `operation ${nth}, ${step}`);
        }
        await assertConverged(node, fresh, `operation ${nth}`);
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0, `operation ${nth}`);
        return { count, failures };
      };
      const { count: total } = await run(0);
      const stride = Math.max(1, Math.ceil(total / MOST_FAULTS));
      for (let nth = 1; nth <= total; nth += stride)
        assert.ok((await run(nth)).failures > 0, `operation ${nth}`);
    });
});

/** Another program changes our table of IPv4. */
async function tamper(nftables: Nftables, random: () => number): Promise<void> {
  const chains = await nftables.listChains(IP).toArray();
  const chain = chains[Math.floor(random() * chains.length)];
  if (!chain) return;
  const set = {
    ...IP,
    name: 'service-ips',
    key: ['ipv4_addr', 'inet_proto', 'inet_service'],
    data: 'verdict',
  } as const;
  switch (Math.floor(random() * 6)) {
    case 0:
      return nftables.deleteTable({ family: 'ip', name: 'kube-proxy' });
    case 1:
      return nftables.flushChain(chain);
    case 2:
      return nftables.addRule({ ...IP, chain: chain.name, expressions: [{ kind: 'counter' }] });
    case 3:
      return nftables.flushSet(set);
    case 4:
      return nftables.addElements(set, [{ key: ['192.0.2.200', 'tcp', 1], data: { verdict: 'accept' } }]);
    default: {
      const elements = await nftables.listElements(set).toArray();
      if (elements[0]) return nftables.deleteElements(set, [elements[0]]);
    }
  }
}

it('a set that others can fill, with the name of a set of a rule, is no such set', async () => {
  const scenario = scenarios('nftables').find(({ name }) => name === 'cluster-ip');
  assert.ok(scenario);
  const node = await freshNode(scenario, scenario.folder);
  const { nftables } = node.kernel;
  const rules = await nftables.listRules(IP).toArray();
  const rule = rules.find(({ chain }) => chain.startsWith('service-') && chain.includes('/'));
  const lookup = rule?.expressions.find((each) => each.kind === 'lookup');
  assert.ok(rule && lookup?.kind === 'lookup' && typeof lookup.set === 'string');
  await nftables.flushChain({ ...IP, name: rule.chain });
  const set = { ...IP, name: lookup.set, key: 'integer', data: ['ipv4_addr', 'inet_service'] } as const;
  await nftables.addSet(set);
  const { expressions } = rule;
  await nftables.addRule({ ...IP, chain: rule.chain, expressions });
  const known = await observeAll(node.mode);
  const item = known.get(`chain ip kube-proxy ${rule.chain}`);
  assert.ok(item?.kind === 'chain' && item.rules[0]?.expressions.some(({ kind }) => kind === 'unknown'));
});

const SEEDS = WHOLE ? 10 : 2;
const STEPS = 15;

it(`${SEEDS} random clusters on a kernel that fails and that others change, ${STEPS} steps each`, async () => {
  let failures = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomFrom(seed);
    const cluster = new RandomCluster(seed);
    const node = new FakeNftablesNode(RANDOM_HOST);
    await node.sync();
    for (let step = 0; step < STEPS; step++) {
      node.kernel.fault = () => undefined;
      if (random() < 0.2) await tamper(node.kernel.nftables, random);
      const probability = random() < 0.5 ? 0.05 : 0;
      node.kernel.fault = (operation, target) =>
        random() < probability
          ? new NetlinkError({ code: 'ENOMEM', errno: 12, operation, target })
          : undefined;
      if (random() < 0.7) cluster.change();
      node.set(cluster.objects);
      if (random() < 0.3) node.retryFailed();
      if (random() < 0.3) await node.audit();
      failures += (await node.sync()).failures.length;
    }
    node.kernel.fault = () => undefined;
    for (let round = 0; round < 3; round++) {
      await node.audit();
      node.retryFailed();
      await node.sync();
    }
    const fresh = new FakeNftablesNode(RANDOM_HOST);
    fresh.set(cluster.objects);
    await fresh.sync();
    await assertConverged(node, fresh, `seed ${seed}`);
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0, `seed ${seed}: a full pass finds nothing to do`);
  }
  assert.ok(failures > SEEDS, `only ${failures} failures`);
});
