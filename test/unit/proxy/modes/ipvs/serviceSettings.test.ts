// Settings of a Service in ipvs mode, on a kernel in memory: the state, the operations of each change, and a missing scheduler.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AddressId, IpvsOperation } from '../../../../../src/kernel/ipvs/types.js';
import type { ObjectChange } from '../../../../../src/proxy/objects/types.js';
import { setUpWith } from '../../../../support/fakes/proxyInMemory.js';
import { ALL_SETTINGS, set, settingService, settingSlice } from '../../../../support/settings/objects.js';

const ENDPOINTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const SLICE = settingSlice('web-a', ENDPOINTS);

/** An operation on IPVS: `updateRealServer 10.96.0.1:80/tcp 10.0.0.1 5`. */
function textOf(operation: IpvsOperation): string {
  const { service, realServer } = operation as {
    service?: Partial<AddressId>;
    realServer?: { address: string; weight?: number };
  };
  const id = `${service?.address}:${service?.port}/${service?.protocol}`;
  return [operation.do, id, realServer?.address ?? '', realServer?.weight ?? ''].join(' ').trim();
}

/** A proxy with the Service `demo/web` and two slices, after the first pass. `change` returns the operations on IPVS that it made. */
async function started(first: ObjectChange) {
  const parts = setUpWith({ settingRules: ALL_SETTINGS });
  const { kernel, proxy, tell, pass, passes, told } = parts;
  await proxy.start();
  tell().changed([first, set(SLICE), set(settingSlice('web-6', ['fd00::1']))]);
  tell().synced();
  await pass();
  const made: string[] = [];
  kernel.ipvs.onBatch = ({ operations }) => made.push(...operations.map(textOf));
  const others: unknown[] = [];
  const note = ({ operations }: { operations: readonly unknown[] }) => others.push(...operations);
  kernel.ipset.onBatch = note;
  kernel.rtnetlink.onBatch = note;
  const change = async (...changes: ObjectChange[]) => {
    // A count of connections, every 5 s, is a pass too.
    passes.length = 0;
    tell().changed(changes);
    await pass();
    return made.splice(0);
  };
  const state = async (address = '10.96.0.1', port = 80) => {
    const listed = await kernel.ipvs.list();
    const found = listed.find(
      (service) => 'address' in service && service.address === address && service.port === port,
    );
    return found ?? assert.fail(`${address}:${port} is not there`);
  };
  return { kernel, change, state, told, pass, others };
}

describe('settings of a Service in ipvs mode', () => {
  it('set, change and unset a scheduler with one operation for each virtual service', async () => {
    const { change, state, others } = await started(set(settingService({})));
    const updates = ['10.96.0.1:80/tcp', '10.96.0.1:53/udp', '[fd00:96::1]:80/tcp', '[fd00:96::1]:53/udp']
      .map((id) => `updateService ${id.replace(/[[\]]/g, '')}`)
      .sort();
    assert.equal((await state()).scheduler, 'rr');
    assert.deepEqual((await change(set(settingService({ scheduler: 'mh' })))).sort(), updates);
    assert.deepEqual((await state()).schedulerFlags, ['mh-port']);
    const flags = { scheduler: 'mh', 'scheduler-flags': 'fallback' };
    assert.deepEqual((await change(set(settingService(flags)))).sort(), updates);
    assert.deepEqual((await state('fd00:96::1')).schedulerFlags, ['mh-fallback']);
    assert.deepEqual(
      (await change(set(settingService({ scheduler: 'sh', 'scheduler-flags': 'port' })))).sort(),
      updates,
    );
    assert.deepEqual((await state()).schedulerFlags, ['sh-port']);
    assert.deepEqual((await change(set(settingService({})))).sort(), updates);
    const { scheduler, schedulerFlags } = await state();
    assert.deepEqual({ scheduler, schedulerFlags }, { scheduler: 'rr', schedulerFlags: [] });
    assert.deepEqual(await change(set(settingService({}))), []);
    assert.deepEqual(others, [], 'sets and addresses stay');
  });

  it('change the time and the mask of persistence', async () => {
    const { change, state } = await started(set(settingService({}, true)));
    assert.deepEqual((await state()).persistence, { timeout: 10_800, netmask: 32 });
    const given = { 'persistence-timeout': '200000', 'persistence-netmask': 'IPv4=24' };
    assert.equal((await change(set(settingService(given, true)))).length, 4);
    assert.deepEqual((await state()).persistence, { timeout: 200_000, netmask: 24 });
    assert.deepEqual((await state('fd00:96::1')).persistence, { timeout: 200_000, netmask: 128 });
    const narrow = { ...given, 'persistence-netmask': 'IPv4=16' };
    assert.equal((await change(set(settingService(narrow, true)))).length, 2, 'those of IPv4');
    assert.equal((await change(set(settingService({}, true)))).length, 4);
    assert.deepEqual((await state()).persistence, { timeout: 10_800, netmask: 32 });
  });

  it('schedule the packets of UDP ports only by themselves', async () => {
    const { change, state } = await started(set(settingService({})));
    const made = await change(set(settingService({ 'one-packet': 'true' })));
    assert.deepEqual(made.sort(), ['updateService 10.96.0.1:53/udp', 'updateService fd00:96::1:53/udp']);
    assert.equal((await state('10.96.0.1', 53)).onePacket, true);
    assert.equal((await state()).onePacket, false);
    assert.equal((await change(set(settingService({ 'one-packet': 'false' })))).length, 2);
    assert.equal((await state('10.96.0.1', 53)).onePacket, false);
  });

  it('set thresholds at real servers, those of later endpoints too', async () => {
    const { change, state } = await started(set(settingService({}, false, false)));
    const thresholds = { 'upper-threshold': '10', 'lower-threshold': '4' };
    const made = await change(set(settingService(thresholds, false, false)));
    assert.equal(made.length, 4, `${made}`);
    assert.ok(made.every((line) => line.startsWith('updateRealServer')));
    const bounds = async () =>
      (await state()).realServers.map(({ upperThreshold, lowerThreshold }) => [
        upperThreshold,
        lowerThreshold,
      ]);
    assert.deepEqual(await bounds(), [
      [10, 4],
      [10, 4],
      [10, 4],
    ]);
    assert.deepEqual(await change(set(settingSlice('web-a', [...ENDPOINTS, '10.0.0.4']))), [
      'addRealServer 10.96.0.1:80/tcp 10.0.0.4 1',
    ]);
    assert.deepEqual((await bounds()).at(-1), [10, 4]);
    assert.equal((await change(set(settingService({}, false, false)))).length, 5);
    assert.deepEqual(await bounds(), [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it('give the endpoints of a slice its weight, with one operation for each', async () => {
    const { change, state } = await started(set(settingService({}, false, false)));
    const weights = async () =>
      (await state()).realServers.map(({ address, weight }) => `${address} ${weight}`).sort();
    assert.deepEqual(await change(set(settingSlice('web-a', ENDPOINTS, { weight: '5' }))), [
      'updateRealServer 10.96.0.1:80/tcp 10.0.0.1 5',
      'updateRealServer 10.96.0.1:80/tcp 10.0.0.2 5',
      'updateRealServer 10.96.0.1:80/tcp 10.0.0.3 5',
    ]);
    assert.deepEqual(await change(set(settingSlice('web-b', ['10.0.0.0', '10.0.0.9'], { weight: '7' }))), [
      'addRealServer 10.96.0.1:80/tcp 10.0.0.0 7',
      'addRealServer 10.96.0.1:80/tcp 10.0.0.9 7',
    ]);
    assert.deepEqual(await weights(), ['10.0.0.0 7', '10.0.0.1 5', '10.0.0.2 5', '10.0.0.3 5', '10.0.0.9 7']);
    assert.equal((await change(set(settingSlice('web-a', ENDPOINTS)))).length, 3);
    assert.deepEqual(await weights(), ['10.0.0.0 7', '10.0.0.1 1', '10.0.0.2 1', '10.0.0.3 1', '10.0.0.9 7']);
  });

  it('keep a real server with weight 0 while its slice has it, and drain it after the slice', async () => {
    const { change, state, pass } = await started(set(settingService({}, false, false)));
    await change(set(settingSlice('web-b', ['10.0.0.9'], { weight: '0' })));
    const weightOf9 = async () =>
      (await state()).realServers.find(({ address }) => address === '10.0.0.9')?.weight;
    assert.equal(await weightOf9(), 0);
    await change(set(settingService({ scheduler: 'wrr' }, false, false)));
    assert.equal(await weightOf9(), 0, 'it does not drain away');
    assert.deepEqual(await change(set(settingSlice('web-b', ['10.0.0.9'], { weight: '3' }))), [
      'updateRealServer 10.96.0.1:80/tcp 10.0.0.9 3',
    ]);
    await change(set(settingSlice('web-b', ['10.0.0.9'], { weight: '0' })));
    await change({ type: 'delete', object: settingSlice('web-b', ['10.0.0.9']) });
    for (let counts = 0; counts < 3 && (await weightOf9()) !== undefined; counts++) await pass();
    assert.equal(await weightOf9(), undefined, 'its connections are counted every 5 s');
  });

  it('report a wrong value until it is right, with the default meanwhile', async () => {
    const { change, state, told } = await started(set(settingService({ scheduler: 'lc' })));
    assert.equal((await state()).scheduler, 'lc');
    await change(set(settingService({ scheduler: 'fastest' })));
    assert.equal((await state()).scheduler, 'rr');
    const [problem = ''] = told.splice(0);
    assert.match(problem, /^must be a scheduler: rr, /);
    await change(set(settingService({ scheduler: 'wlc' })));
    assert.deepEqual(told.splice(0), [`mended: ${problem}`]);
    await change(set(settingSlice('web-a', ENDPOINTS, { weight: '-1' })));
    assert.match(told.splice(0).join(), /^must be an integer from 0 to 65535/);
    await change({ type: 'delete', object: settingSlice('web-a', ENDPOINTS) });
    assert.match(told.splice(0).join(), /^mended: must be an integer/);
  });

  for (const verb of ['addService', 'updateService'] as const) {
    it(`use the default for a scheduler that the kernel has not (${verb}), and report it`, async () => {
      const { kernel, change, state, pass } = await started(set(settingService({}, false, false)));
      kernel.ipvs.schedulers.delete('lc');
      if (verb === 'addService') await change({ type: 'delete', object: settingService({}, false, false) });
      const made = await change(set(settingService({ scheduler: 'lc' }, false, false)));
      assert.ok(
        made.some((line) => line.startsWith(verb)),
        `${made}`,
      );
      let retried = await pass();
      while (retried.unknown > 0) retried = await pass();
      for (const address of ['10.96.0.1', 'fd00:96::1']) assert.equal((await state(address)).scheduler, 'rr');
      assert.equal((await state()).realServers.length, 3);
      await change(set(settingService({ scheduler: 'sh' }, false, false)));
      assert.equal((await state()).scheduler, 'sh', 'others are available');
      await change(set(settingService({ scheduler: 'lc' }, false, false)));
      assert.equal((await state()).scheduler, 'rr', 'it is not tried again');
    });
  }
});
