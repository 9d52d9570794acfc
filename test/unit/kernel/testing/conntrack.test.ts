// The fake of conntrack behaves as the real one does in test/kernel/conntrack.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlowFilter } from '../../../../src/kernel/conntrack/types.js';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import {
  FakeConntrack,
  FakeKernel,
  failNth,
  type TrackedFlow,
} from '../../../../src/kernel/testing/index.js';

const tuple = (source: string, sourcePort: number, destination: string, destinationPort: number) => ({
  source,
  destination,
  sourcePort,
  destinationPort,
});
const four: TrackedFlow = {
  protocol: 'udp',
  original: tuple('10.0.0.9', 4000, '10.96.0.10', 53),
  reply: tuple('10.0.0.1', 5353, '10.0.0.9', 4000),
};
const six: TrackedFlow = {
  protocol: 17,
  original: tuple('fd00::9', 4000, 'fd00:96::a', 53),
  reply: tuple('fd00::1', 5353, 'fd00::9', 4000),
};
const tcp: TrackedFlow = { ...four, protocol: 'tcp' };

function tracking(...flows: TrackedFlow[]): FakeConntrack {
  const fake = new FakeConntrack();
  for (const flow of flows) fake.track(flow);
  return fake;
}

describe('a fake of conntrack', () => {
  it('lists the selected flows, once', async () => {
    const fake = tracking(four, six, tcp);
    const count = async (...args: Parameters<FakeConntrack['list']>) =>
      (await fake.list(...args).toArray()).length;
    assert.equal(await count(), 3);
    assert.equal(await count([]), 0);
    assert.equal(await count({ family: 4 }), 2);
    assert.equal(await count({ family: 6, protocol: 'udp' }), 1);
    assert.equal(await count({ family: 4, protocol: 6, reply: { source: '10.0.0.1' } }), 1);
    assert.equal(await count([{ family: 4 }, { family: 4, protocol: 'udp' }]), 2);
    assert.equal(fake.listings, 6);
    assert.deepEqual(
      (await fake.list().toArray()).map(({ id }) => id),
      [1, 2, 3],
    );
  });

  it('deletes by filter, and refuses one that is too wide', async () => {
    const fake = tracking(four, six, tcp);
    await assert.rejects(fake.delete({ family: 4, protocol: 'udp' } as FlowFilter), TypeError);
    const deletion = await fake.delete({ family: 4, original: { destination: '10.96.0.10' } });
    assert.deepEqual(deletion, { deleted: 2, failures: [] });
    assert.equal(
      fake.dump(),
      'udp 17 src=fd00::9 dst=fd00:96::a sport=4000 dport=53 [UNREPLIED] src=fd00::1 dst=fd00::9 sport=5353 dport=4000 mark=0\n',
    );
  });

  it('deletes by name, and reports flows that are gone as deleted', async () => {
    const fake = tracking(four, tcp);
    const [first, second] = await fake.list().toArray();
    assert.ok(first && second);
    assert.deepEqual(await fake.deleteFlows([first, first]), [undefined, undefined]);
    assert.deepEqual(await fake.list().toArray(), [second]);
    assert.deepEqual(await fake.deleteFlows([{ ...second, id: 99 }]), [undefined]);
    assert.equal((await fake.list().toArray()).length, 1);
    assert.deepEqual(await fake.deleteFlows([{ protocol: 6, original: second.original }]), [undefined]);
    assert.deepEqual(await fake.list().toArray(), []);
  });

  it('reports every flow that a deletion by filter could not delete, and counts the others', async () => {
    const fake = tracking(four, tcp, { ...four, original: tuple('10.0.0.9', 4001, '10.96.0.10', 53) });
    fake.fault = (operation, target) =>
      target.endsWith('10.0.0.9:4000 -> 10.96.0.10:53')
        ? new NetlinkError({ code: 'ENOMEM', operation, target })
        : undefined;
    const deletion = await fake.delete({ family: 4, original: { destination: '10.96.0.10' } });
    assert.equal(deletion.deleted, 1);
    assert.deepEqual(
      deletion.failures.map(({ code, operation, target }) => `${code} ${operation} ${target}`),
      [
        'ENOMEM conntrack.delete udp 10.0.0.9:4000 -> 10.96.0.10:53',
        'ENOMEM conntrack.delete tcp 10.0.0.9:4000 -> 10.96.0.10:53',
      ],
    );
    assert.equal((await fake.list().toArray()).length, 2);
  });

  it('fails with all other parts, when all of a kernel are to fail', async () => {
    const kernel = new FakeKernel();
    const flow = kernel.conntrack.track(four);
    kernel.fault = failNth(1);
    assert.equal((await kernel.conntrack.deleteFlows([flow]))[0]?.code, 'ENOMEM');
    assert.equal((await kernel.conntrack.list().toArray()).length, 1);
  });

  it('fails on demand', async () => {
    const fake = tracking(four, tcp);
    const flows = await fake.list().toArray();
    fake.fault = failNth(2);
    const [first, second] = await fake.deleteFlows(flows);
    assert.equal(first, undefined);
    assert.equal(second?.code, 'ENOMEM');
    assert.equal(second.target, 'tcp 10.0.0.9:4000 -> 10.96.0.10:53');
    assert.equal((await fake.list().toArray()).length, 1);
    fake.readFault = failNth(1);
    await assert.rejects(fake.list().toArray(), { code: 'ENOMEM', operation: 'conntrack.list' });
    fake.fault = failNth(1);
    await assert.rejects(fake.delete({ family: 4, original: { source: '10.0.0.9' } }), { code: 'ENOMEM' });
    assert.equal((await fake.list().toArray()).length, 1);
  });
});
