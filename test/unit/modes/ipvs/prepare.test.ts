// The scheduler of a plan: looked for, and nothing changed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ModulePresence } from '../../../../src/kernel/modules.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { checkScheduler } from '../../../../src/modes/ipvs/index.js';

function setUp(presence: ModulePresence) {
  const kernel = new FakeKernel();
  const asked: string[] = [];
  const find = async (name: string) => {
    asked.push(name);
    return presence;
  };
  return { kernel, asked, check: (scheduler: string) => checkScheduler(kernel, scheduler, find) };
}

it('a scheduler whose module is there is accepted, and nothing is made', async () => {
  const { kernel, asked, check } = setUp('there');
  assert.equal(await check('lc'), undefined);
  assert.deepEqual(asked, ['ip_vs_lc']);
  assert.equal(kernel.ipvs.dump(), '');
});

it('a scheduler that the kernel has no module for is refused', async () => {
  const { check } = setUp('missing');
  await assert.rejects(check('roundrobin'), {
    code: 'ENOENT',
    message:
      'ENOENT: ipvs.checkScheduler roundrobin (the scheduler needs the kernel module ip_vs_roundrobin)',
  });
});

it('a scheduler that a virtual service uses is not looked for', async () => {
  const { kernel, asked, check } = setUp('missing');
  const service = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
  await kernel.ipvs.apply([
    { do: 'addService', service: { ...service, scheduler: 'rr', flags: 0, timeout: 0, netmask: 32 } },
  ]);
  assert.equal(await check('rr'), undefined);
  assert.deepEqual(asked, []);
});

it('where modules are not at hand, a sentence says that the scheduler was not checked', async () => {
  const { check } = setUp('unknown');
  assert.match((await check('lc')) ?? '', /^the scheduler lc could not be checked/);
});
