// A Service that the kernel refuses for ever does not delay the retry of another one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../src/kernel/errors.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../src/proxy/modes/iptables/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/proxy/modes/ipvs/index.js';
import type { KeyedOperation, Mode } from '../../src/proxy/modes/mode.js';
import type { ObjectChange } from '../../src/proxy/objects/types.js';
import { createProxy } from '../../src/proxy/proxy.js';
import { RETRY } from '../../src/proxy/reconcile/retries.js';
import { readManifest } from '../../src/proxy/source/manifestFile.js';
import type { SourceEvents } from '../../src/proxy/source/source.js';
import { service, slice } from '../support/clusters/manifests.js';
import { VirtualTime } from '../support/fakes/virtualTime.js';

/** When the second Service appears, in ms. */
const APPEARS = 600_000;
/** Without audits. */
const auditPeriod = 1e9;

/** A mode on a kernel that refuses an address. */
interface Refusing {
  readonly mode: Mode<unknown, KeyedOperation>;
  /** The kernel refuses every attempt on Services with addresses for which this returns true. */
  setRefused(isRefused: (address: string) => boolean): void;
  serves(address: string): boolean;
}

const MODES: Readonly<Record<string, (kernel: FakeKernel) => Refusing>> = {
  ipvs: (kernel) => ({
    mode: any(createIpvsMode(kernel, { ...IPVS_DEFAULTS, auditPeriod, kernelRelease: '6.1.0' })),
    setRefused(isRefused) {
      kernel.ipvs.fault = (operation, target) =>
        isRefused(/10\.96\.\d+\.\d+/.exec(target)?.[0] ?? '')
          ? new NetlinkError({ code: 'EINVAL', operation, target })
          : undefined;
    },
    serves: (address) => kernel.ipvs.dump().includes(`-A -t ${address}:80 `),
  }),
  iptables: (kernel) => ({
    mode: any(createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, auditPeriod })),
    setRefused(isRefused) {
      kernel.iptables.refuse = (_, text) =>
        text.includes('--dport 80 ') && isRefused(/-d (10\.96\.\d+\.\d+)\/32/.exec(text)?.[1] ?? '')
          ? 'refused'
          : undefined;
    },
    serves: (address) => kernel.iptables.dump(4).includes(`-d ${address}/32 `),
  }),
};

function any<Item, Operation extends KeyedOperation<Item>>(mode: Mode<Item, Operation>) {
  return mode as unknown as Mode<unknown, KeyedOperation>;
}

async function objectsOf(text: string): Promise<ObjectChange[]> {
  const { objects } = await readManifest('objects.yaml', text);
  return [...objects.values()].map((object) => ({ type: 'set', object }));
}

for (const [name, open] of Object.entries(MODES)) {
  it(`${name}: a Service that is refused for ten minutes does not delay the retry of another one`, async () => {
    const time = new VirtualTime();
    try {
      const kernel = new FakeKernel();
      const { mode, setRefused, serves } = open(kernel);
      const refused: number[] = [];
      const failedOnce: number[] = [];
      setRefused((address) => {
        if (address === '10.96.0.1') refused.push(time.now);
        else if (address === '10.96.0.2' && !failedOnce.some((at) => at < time.now)) {
          failedOnce.push(time.now);
          return true;
        }
        return address === '10.96.0.1';
      });
      let source: SourceEvents | undefined;
      const proxy = createProxy({
        source: {
          async start(events) {
            source = events;
          },
          stop: () => {},
        },
        mode,
        rtnetlink: kernel.rtnetlink,
        watchHost: async () => ({ close: () => {} }),
        nodeName: 'node-a',
        events: { synced() {}, problems() {}, failed: assert.fail, retrying() {} },
      });
      await proxy.start();
      source?.changed(await objectsOf(service('refused', '10.96.0.1') + slice('refused', '10.0.0.1')));
      source?.synced();
      let served: number | undefined;
      while (served === undefined && time.now < APPEARS + 60_000) {
        for (let i = 0; i < 100; i++) await turn();
        if (serves('10.96.0.2')) served = time.now;
        const next = time.timers[0]?.due ?? Number.POSITIVE_INFINITY;
        if (failedOnce.length > 0 || next < APPEARS) time.fire(time.timers[0] ?? assert.fail('no timer'));
        else {
          time.now = APPEARS;
          source?.changed(await objectsOf(service('late', '10.96.0.2') + slice('late', '10.0.0.2')));
        }
      }
      await proxy.stop();
      assert.equal(failedOnce[0], APPEARS);
      const delay = (served ?? assert.fail('it is not served')) - APPEARS;
      assert.ok(delay >= RETRY.first && delay <= 2 * RETRY.first, `${delay} ms`);
      const times = [...new Set(refused)];
      const delays = times.slice(1, 9).map((at, i) => at - (times[i] ?? 0));
      for (const [i, shortest] of [500, 1000, 2000, 4000, 8000, 16_000, 25_000, 25_000].entries()) {
        const between = delays[i] ?? Number.NaN;
        assert.ok(between >= shortest && between <= 1.2 * shortest, `${delays}`);
      }
    } finally {
      time.restore();
    }
  });
}
