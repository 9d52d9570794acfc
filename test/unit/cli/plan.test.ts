// The output of plan.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { planJson, planText } from '../../../src/cli/plan.js';
import { FakeKernel } from '../../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../src/modes/ipvs/index.js';
import { decodeObject } from '../../../src/objects/decode.js';
import type { ObjectChange } from '../../../src/objects/types.js';
import { createProxy } from '../../../src/proxy.js';

function service(name: string, spec: object): ObjectChange {
  const metadata = { namespace: 'demo', name };
  const { object } = decodeObject({ apiVersion: 'v1', kind: 'Service', metadata, spec });
  assert.ok(object);
  return { type: 'set', object };
}

/** The plan for these objects. */
async function plan(kernel: FakeKernel, objects: readonly ObjectChange[]) {
  const proxy = createProxy({
    source: { start: async (events) => events.changed(objects), stop() {} },
    mode: createIpvsMode(kernel, { ...IPVS_DEFAULTS, families: [4], kernelRelease: '6.1.0' }),
    rtnetlink: kernel.rtnetlink,
    watchHost: async () => ({ close() {} }),
    nodeName: 'node-a',
    events: { synced() {}, problems() {}, failed() {}, retrying() {} },
  });
  const operations = await proxy.plan();
  await proxy.stop();
  return { proxy, operations };
}

const OBJECTS = [
  service('web', { clusterIP: '10.96.0.80', ports: [{ port: 80 }], externalIPs: ['192.168.50.99'] }),
  service('api', { clusterIP: '10.96.0.10', ports: [{ port: 8080 }], externalIPs: ['192.168.50.99'] }),
];

it('operations are listed by Service, those of the node first, with a summary', async () => {
  const kernel = new FakeKernel();
  const stale = { address: '10.96.0.99', port: 80, protocol: 'tcp' } as const;
  await kernel.rtnetlink.apply([{ do: 'addLink', name: 'kube-ipvs0', kind: 'dummy' }]);
  const old = { address: '10.96.0.99', prefix: 32, link: 'kube-ipvs0' };
  await kernel.rtnetlink.apply([{ do: 'addAddress', address: old }]);
  await kernel.ipvs.apply([{ do: 'addService', service: { ...stale, scheduler: 'rr' } }]);
  const text = planText((await plan(kernel, OBJECTS)).operations, []);
  const headings = text.split('\n').filter((line) => /^\S/.test(line));
  assert.deepEqual(headings.slice(0, -1), [
    'the node',
    'Service demo/api',
    'Services demo/api, demo/web',
    'Service demo/web',
    'no longer wanted',
  ]);
  assert.match(text, /^Service demo\/web\n( {2}.*\n)* {2}\+ virtual service 10\.96\.0\.80:80\/tcp rr\n/m);
  assert.match(text, /^no longer wanted\n( {2}.*\n)* {2}- virtual service 10\.96\.0\.99:80\/tcp\n/m);
  assert.match(
    headings.at(-1) ?? '',
    /^\d+ operations: \d+ for the node, \d+ for 2 Services, 2 for items that are no longer wanted$/,
  );
});

it('JSON has each operation with its phase, its key and its owners', async () => {
  const kernel = new FakeKernel();
  const { operations } = await plan(kernel, OBJECTS);
  const text = planJson(operations, []);
  assert.ok(text.endsWith('}\n') && text.indexOf('\n') === text.length - 1, 'it is one line');
  const read = JSON.parse(text) as { operations: Record<string, unknown>[] };
  assert.equal(read.operations.length, operations.length);
  const web = read.operations.find(({ key }) => key === 'virtual service 10.96.0.80:80/tcp');
  assert.deepEqual(web, {
    phase: 'addServers',
    key: 'virtual service 10.96.0.80:80/tcp',
    node: false,
    services: ['demo/web'],
    lines: ['+ virtual service 10.96.0.80:80/tcp rr'],
  });
  assert.equal(kernel.ipvs.dump(), '', 'nothing was changed');
});

it('unreadable files are named, and the result is not "nothing would change"', () => {
  assert.match(
    planText([], ['web.yaml']),
    /^objects that are missing from unreadable manifests are kept: web\.yaml\n$/,
  );
  assert.equal(planJson([], ['web.yaml']), '{"operations":[],"unread":["web.yaml"]}\n');
});

it('without changes, the text is a sentence, and the JSON has an empty list', () => {
  assert.equal(planText([], []), 'nothing would change\n');
  assert.equal(planJson([], []), '{"operations":[],"unread":[]}\n');
});
