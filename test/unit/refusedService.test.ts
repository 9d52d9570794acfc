// A Service that the kernel refuses does not keep the state of a former mode for ever.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../src/errors.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/modes/ipvs/index.js';
import { createProxy } from '../../src/proxy.js';
import { readManifest } from '../../src/source/manifestFile.js';
import { service } from '../support/clusters/manifests.js';
import { VirtualTime } from '../support/fakes/virtualTime.js';

/** Runs a proxy for some minutes. Returns the time of the first attempt to remove the former mode's state, in ms. */
async function removedAfter(isRefused: (target: string) => boolean): Promise<number | undefined> {
  const time = new VirtualTime();
  try {
    const kernel = new FakeKernel();
    kernel.ipvs.fault = (operation, target) =>
      isRefused(target) ? new NetlinkError({ code: 'EINVAL', operation, target }) : undefined;
    const text = [1, 2, 3, 4].map((n) => service(`s${n}`, `10.96.0.${n}`)).join('');
    const { objects } = await readManifest('objects.yaml', text);
    let removed: number | undefined;
    const proxy = createProxy({
      source: {
        async start(events) {
          events.changed([...objects.values()].map((object) => ({ type: 'set', object })));
          events.synced();
        },
        stop: () => {},
      },
      mode: createIpvsMode(kernel, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' }),
      formerModes: [
        {
          name: 'iptables',
          open: async () => {
            removed ??= time.now;
            return undefined;
          },
        },
      ],
      rtnetlink: kernel.rtnetlink,
      watchHost: async () => ({ close: () => {} }),
      nodeName: 'node-a',
      events: {
        synced: () => {},
        problems: () => {},
        failed: (error) => assert.fail(String(error)),
        retrying: () => {},
      },
    });
    await proxy.start();
    while (time.now < 600_000) {
      for (let i = 0; i < 100; i++) await turn();
      const [next] = time.timers;
      assert.ok(next);
      time.fire(next);
    }
    await proxy.stop();
    return removed;
  } finally {
    time.restore();
  }
}

it('the state of a former mode is removed at once if nothing is refused', async () => {
  assert.equal(await removedAfter(() => false), 0);
});

it('the state of a former mode is removed after a minute if few Services are refused', async () => {
  const after = (await removedAfter((target) => target.includes('10.96.0.1:'))) ?? assert.fail('it stayed');
  assert.ok(after >= 60_000 && after <= 150_000, `${after} ms`);
});

it('the state of a former mode stays while most Services are refused', async () => {
  assert.equal(await removedAfter((target) => /10\.96\.0\.[123]:/.test(target)), undefined);
});
