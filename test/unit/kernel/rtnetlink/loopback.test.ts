// The hint that lo is down: for operations that lead to lo, and only while it is down.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import {
  explained,
  leadsToLoopback,
  questionLeadsToLoopback,
} from '../../../../src/kernel/rtnetlink/loopback.js';
import type { NewRoute, RtnetlinkOperation } from '../../../../src/kernel/rtnetlink/types.js';

const route = (fields: Omit<NewRoute, 'destination'>): RtnetlinkOperation => ({
  do: 'addRoute',
  route: { destination: '10.9.0.0/16', ...fields },
});

test('routes and questions that lead to lo are known', () => {
  for (const fields of [
    { link: 'lo' },
    { gateway: '127.0.0.2' },
    { gateway: '10.1.0.2', preferredSource: '127.0.0.1' },
    { gateway: 'fd01::2', preferredSource: '::1' },
    { nextHops: [{ gateway: '10.1.0.2' }, { link: 'lo' }] },
  ]) {
    assert.ok(leadsToLoopback(route(fields)), JSON.stringify(fields));
  }
  for (const fields of [{ link: 'eth0' }, { gateway: '10.1.0.2' }, { preferredSource: '::2' }, {}]) {
    assert.ok(!leadsToLoopback(route(fields)), JSON.stringify(fields));
  }
  assert.ok(!leadsToLoopback({ do: 'deleteLink', name: 'lo' }));
  assert.ok(questionLeadsToLoopback('127.1.2.3'));
  assert.ok(questionLeadsToLoopback('10.0.0.1', { outputLink: 'lo' }));
  assert.ok(!questionLeadsToLoopback('10.0.0.1', { from: '10.0.0.2' }));
});

test('the hint replaces another one only while lo is down, and only for an error that lo may cause', async () => {
  const kernelMessage = 'Invalid prefsrc address';
  const facts = { errno: 22, operation: 'rtnetlink.addRoute', target: '10.9.0.0/16', kernelMessage };
  const error = new NetlinkError({ code: 'EINVAL', ...facts, hint: 'another' });
  const down = await explained(
    error,
    () => true,
    async () => true,
  );
  assert.equal(
    down.message,
    'EINVAL: rtnetlink.addRoute 10.9.0.0/16: Invalid prefsrc address (lo is down in the network namespace: set it up (ip link set lo up))',
  );
  assert.deepEqual([down.code, down.errno], ['EINVAL', 22]);
  assert.equal(
    await explained(
      error,
      () => true,
      async () => false,
    ),
    error,
  );
  const elsewhere = await explained(
    error,
    () => false,
    () => assert.fail('looked at lo'),
  );
  assert.equal(elsewhere, error);
  const others = [
    new NetlinkError({ code: 'EEXIST', ...facts }),
    new NetlinkError({ code: 'EINVAL', ...facts, kernelMessage: 'Unknown tcp congestion algorithm' }),
  ];
  for (const other of others) {
    assert.equal(
      await explained(
        other,
        () => true,
        () => assert.fail('looked at lo'),
      ),
      other,
    );
  }
});
