// The check of the scheduler, which changes nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Machine } from '../../../../../src/kernel/shared/hints.js';
import { FakeKernel } from '../../../../../src/kernel/testing/index.js';
import { checkScheduler } from '../../../../../src/proxy/modes/ipvs/index.js';
import { machine, machineWith } from '../../../../support/fakes/machine.js';

/** @param host a machine with the modules of schedulers */
function setUp(host: Machine) {
  const kernel = new FakeKernel();
  const asked: string[] = [];
  const watched = { ...host, exists: (path: string) => asked.push(path) > 0 && host.exists(path) };
  return { kernel, asked, check: (scheduler: string) => checkScheduler(kernel, scheduler, watched) };
}

it('a scheduler with a kernel module is accepted, and no virtual service is added', async () => {
  const { kernel, asked, check } = setUp(machineWith(['ip_vs_lc']));
  assert.equal(await check('lc'), undefined);
  assert.deepEqual(asked, ['/sys/module/ip_vs_lc']);
  assert.equal(kernel.ipvs.dump(), '');
});

it('a scheduler without a kernel module is refused', async () => {
  const { check } = setUp(machineWith([]));
  await assert.rejects(check('roundrobin'), {
    code: 'ENOENT',
    message:
      'ENOENT: ipvs.checkScheduler roundrobin (the scheduler needs the kernel module ip_vs_roundrobin)',
  });
});

it('the module of a scheduler that a virtual service uses is not searched', async () => {
  const { kernel, asked, check } = setUp(machineWith([]));
  const service = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;
  await kernel.ipvs.apply([{ do: 'addService', service: { ...service, scheduler: 'rr' } }]);
  assert.equal(await check('rr'), undefined);
  assert.deepEqual(asked, []);
});

it('a warning reports that the scheduler could not be checked if kernel modules cannot be read', async () => {
  const { check } = setUp(machine({}));
  assert.match((await check('lc')) ?? '', /^the scheduler lc could not be checked/);
});
