// Reports of batches: one for each batch that has ended, from the clients of the addon and from their fakes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NetlinkError } from '../../../../src/kernel/errors.js';
import type { IpsetOperation } from '../../../../src/kernel/ipset/types.js';
import { PACKING } from '../../../../src/kernel/ipset/verbs.js';
import type { NativeClient, NativeFailure } from '../../../../src/kernel/shared/addon.js';
import { applyAll, applyOne } from '../../../../src/kernel/shared/batch.js';
import { Calls } from '../../../../src/kernel/shared/calls.js';
import type { Batch } from '../../../../src/kernel/shared/types.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';

/** Refuses the first operation of each batch with ENOENT. */
const NATIVE: NativeClient = {
  open: async () => new Uint8Array(),
  apply: async (): Promise<NativeFailure[]> => [{ index: 0, errno: 2, code: '', message: '' }],
  close: () => {},
};

const flush = { do: 'flush', name: 'a' } as const;
const broken = { do: 'destroy', name: '' } as const;

function setUp() {
  const batches: Batch<unknown>[] = [];
  const calls = new Calls<NativeClient, IpsetOperation>(NATIVE);
  calls.onBatch = (batch) => batches.push(batch);
  return { calls, batches };
}

/** `flush ENOENT, destroy ok`, of each batch. */
const inWords = (batches: readonly Batch<unknown>[]) =>
  batches.map(({ names, results }) =>
    names.map((name, i) => `${name} ${(results[i] as NetlinkError | undefined)?.code ?? 'ok'}`).join(', '),
  );

describe('a client reports', () => {
  it('a batch once, with each operation and its result', async () => {
    const { calls, batches } = setUp();
    const operations = [flush, broken, flush];
    const results = await applyAll(calls, operations, PACKING);
    assert.deepEqual(inWords(batches), ['flush ENOENT, destroy ERR_INVALID_ARGUMENT, flush ok']);
    assert.equal(batches[0]?.operations, operations);
    assert.deepEqual(batches[0].results, results);
    assert.ok(batches[0].duration >= 0 && batches[0].duration < 1000);
  });

  it('a verb as a batch of one', async () => {
    const { calls, batches } = setUp();
    await assert.rejects(applyOne(calls, flush, PACKING), { code: 'ENOENT' });
    assert.deepEqual(inWords(batches), ['flush ENOENT']);
  });

  it('no call that was refused for its arguments', async () => {
    const { calls, batches } = setUp();
    await assert.rejects(applyOne(calls, broken, PACKING), RangeError);
    assert.deepEqual(batches, []);
  });

  it('the error of the call for each operation, when it failed as a whole', async () => {
    const { calls, batches } = setUp();
    calls.close();
    await assert.rejects(applyAll(calls, [flush, flush], PACKING), { code: 'ERR_CLOSED' });
    assert.deepEqual(inWords(batches), ['flush ERR_CLOSED, flush ERR_CLOSED']);
  });
});

it('every fake reports its changes, and nothing that reads', async () => {
  const kernel = new FakeKernel();
  const batches: Batch<unknown>[] = [];
  const listener = (batch: Batch<unknown>) => batches.push(batch);
  const { ipvs, ipset, rtnetlink, iptables, conntrack, sysctl } = kernel;
  for (const part of [ipvs, ipset, rtnetlink, iptables, conntrack, sysctl]) part.onBatch = listener;
  const tuple = { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 4000, destinationPort: 53 };
  const flow = conntrack.track({ protocol: 'udp', original: tuple, reply: tuple });
  await ipvs.apply([{ do: 'deleteService', service: { firewallMark: 1, family: 4 } }]);
  await ipvs.setTimeouts({ tcp: 1, tcpFin: 1, udp: 1 });
  await ipvs.flush({ confirm: 'delete every virtual service' });
  await ipset.create({ name: 'a', type: 'hash:ip', family: 4 });
  await rtnetlink.addLink('kube-ipvs0', 'dummy');
  await iptables.restore(4, []);
  await conntrack.deleteFlows([flow]);
  await conntrack.delete({ family: 4, original: { destination: '10.96.0.10' } });
  await sysctl.write('net/ipv4/ip_forward', '1');
  await Promise.all([
    ipvs.list(),
    ipset.list(),
    rtnetlink.listLinks(),
    iptables.save(4),
    conntrack.list().toArray(),
  ]);
  await sysctl.read('net/ipv4/ip_forward');
  assert.deepEqual(inWords(batches), [
    'deleteService ESRCH',
    'setTimeouts ok',
    'flush ok',
    'create ok',
    'addLink ok',
    'restore ok',
    'deleteFlow ok',
    'delete ok',
    'write ok',
  ]);
});

it('the last listener is the only one, and may be removed', async () => {
  const { ipset } = new FakeKernel();
  const heard: string[] = [];
  ipset.onBatch = () => heard.push('first');
  ipset.onBatch = () => heard.push('second');
  await ipset.apply([]);
  ipset.onBatch = undefined;
  await ipset.apply([]);
  assert.deepEqual(heard, ['second']);
});
