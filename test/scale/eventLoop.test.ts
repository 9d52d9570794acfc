// A large cluster from an API server, programmed in the fake kernel: no step blocks the event loop for long.
// Needs: idle
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { after, before, it } from 'node:test';
import { keepYoungGenerationSmall } from '../../src/command/agent/heap.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { ApiSource } from '../../src/proxy/api/apiSource.js';
import { ApiClient } from '../../src/proxy/api/client.js';
import { connectToApi } from '../../src/proxy/api/connection.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/proxy/modes/ipvs/index.js';
import { createProxy, type ServiceProxy } from '../../src/proxy/proxy.js';
import type { SyncSummary } from '../../src/proxy/reconcile/summary.js';
import { loopBlocks } from '../support/measures/loopTimes.js';
import { BigCluster } from './bigCluster.js';

const SERVICES = 10_000;
const ENDPOINTS = 100_000;
const CHANGES = 1000;
/** Maximum time for which the event loop may be blocked, in ms. */
const MOST = 20;

let cluster: BigCluster;
let proxy: ServiceProxy;

before(async () => {
  cluster = await BigCluster.start(SERVICES, ENDPOINTS);
});

after(async () => {
  await proxy.stop();
  cluster.close();
});

it(`${SERVICES} Services, ${ENDPOINTS} endpoints, ${CHANGES} changes: never blocked for more than ${MOST} ms`, async (t) => {
  keepYoungGenerationSmall();
  const passes = new EventEmitter();
  const kernel = new FakeKernel();
  const client = new ApiClient(await connectToApi({ master: cluster.url }), { userAgent: 'test/0' });
  proxy = createProxy({
    source: new ApiSource({
      client,
      nodeName: 'node-0',
      trouble: ({ error }) => passes.emit('error', error),
    }),
    mode: createIpvsMode(kernel, { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' }),
    rtnetlink: kernel.rtnetlink,
    watchHost: async () => ({ close() {} }),
    nodeName: 'node-0',
    events: {
      synced: (summary) => passes.emit('synced', summary),
      problems: (problems) => passes.emit('error', new Error(JSON.stringify(problems))),
      failed: (error) => passes.emit('error', error),
      retrying() {},
    },
  });
  const blocks = loopBlocks();
  t.after(() => blocks.close());
  const began = performance.now();
  const first = once(passes, 'synced');
  await proxy.start();
  const [summary] = (await first) as [SyncSummary];
  const atStart = { max: blocks.take(), ms: performance.now() - began };
  assert.deepEqual(summary.failures, []);
  let operations = 0;
  passes.on('synced', (pass: SyncSummary) => {
    operations += pass.operations;
  });
  for (let i = 0; i < CHANGES; i++) {
    const pass = once(passes, 'synced');
    cluster.change();
    await pass;
  }
  assert.ok(operations >= CHANGES, `only ${operations} operations`);
  const inChanges = blocks.take();
  t.diagnostic(`start: ${atStart.ms.toFixed(0)} ms, blocked for ${atStart.max.toFixed(1)} ms at most`);
  t.diagnostic(`${CHANGES} changes: blocked for ${inChanges.toFixed(1)} ms at most`);
  t.diagnostic(`resident memory, kernel included: ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`);
  assert.ok(atStart.max <= MOST, `blocked for ${atStart.max} ms at the start`);
  assert.ok(inChanges <= MOST, `blocked for ${inChanges} ms in a change`);
});
