// Nodes behind gateways: flows raise the question, the node answers it.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Conntrack, Flow } from '../../../../src/kernel/conntrack/types.js';
import { RoutedNodes } from '../../../../src/proxy/nodes/routedNodes.js';

const flow = (id: number, endpoint: string) =>
  ({
    ...{ id, protocol: 'tcp', original: { destination: '10.96.0.1', destinationPort: 80 } },
    reply: { source: endpoint, sourcePort: 8080 },
  }) as unknown as Flow;

/** Two nodes, and a clock that the test moves. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const world = {
    flows: [] as Flow[],
    silent: new Set<string>(),
    told: [] as string[],
    answered: [] as number[],
    questions: 0,
  };
  const list = () => ({
    async *[Symbol.asyncIterator]() {
      yield* world.flows;
    },
  });
  const nodes = new RoutedNodes({
    conntrack: { list } as unknown as Pick<Conntrack, 'list'>,
    listener: {
      nodeOf: ({ reply }) => (reply.source.startsWith('10.244.1.') ? 'node-b' : 'node-c'),
      failed: (error) => world.told.push(String(error)),
    },
    answers: async (address) => {
      world.questions++;
      return !world.silent.has(address);
    },
    firstAnswer: () => world.answered.push(nodes.answered),
    changed: (node, _, reachable) => world.told.push(`${node} ${reachable}`),
    now: () => Date.now(),
  });
  t.after(() => nodes.close());
  nodes.add('node-b', '192.0.2.2');
  nodes.add('node-c', '192.0.2.3');
  const pass = async (milliseconds: number) => {
    for (let left = milliseconds; left > 0; left -= 100) {
      t.mock.timers.tick(100);
      for (let i = 0; i < 5; i++) await turn();
    }
  };
  return { nodes, world, pass };
}

it('flows without a reply and a node that does not answer condemn it; its first answer takes that back', async (t) => {
  const { world, pass } = setUp(t);
  await pass(2000);
  world.silent.add('192.0.2.2');
  world.flows = [flow(1, '10.244.1.7'), flow(2, '10.244.2.7')];
  await pass(4000);
  assert.deepEqual(world.told, ['node-b false']);
  world.silent.clear();
  await pass(1000);
  assert.deepEqual(world.told, ['node-b false', 'node-b true']);
});

it('a node that answers stays, whatever its endpoints do, and is asked only while flows raise the question', async (t) => {
  const { world, pass } = setUp(t);
  await pass(2000);
  assert.deepEqual(world.answered, [1, 2]);
  const before = world.questions;
  await pass(10_000);
  assert.equal(world.questions, before);
  world.flows = [flow(1, '10.244.1.7')];
  await pass(10_000);
  assert.deepEqual(world.told, []);
  assert.ok(world.questions > before);
});

it('flows that are new in each listing condemn nobody: their replies are on the way', async (t) => {
  const { world, pass } = setUp(t);
  await pass(2000);
  world.silent.add('192.0.2.2');
  for (let id = 1; id < 20; id++) {
    world.flows = [flow(id, '10.244.1.7')];
    await pass(800);
  }
  assert.deepEqual(world.told, []);
});

it('a node that has never answered is not judged, and asked once a minute', async (t) => {
  const { world, pass } = setUp(t);
  world.silent.add('192.0.2.2');
  world.flows = [flow(1, '10.244.1.7')];
  await pass(30_000);
  assert.deepEqual([world.told, world.questions], [[], 2]);
});
