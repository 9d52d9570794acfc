// The output of plan and diff.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { diffLines, diffReport } from '../../../../src/command/cli/diff.js';
import type { Preview } from '../../../../src/command/cli/passes.js';
import { planLines, planReport } from '../../../../src/command/cli/plan.js';
import { FakeKernel } from '../../../../src/kernel/testing/index.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../../../src/proxy/modes/ipvs/index.js';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../../src/proxy/objects/types.js';
import { createProxy } from '../../../../src/proxy/proxy.js';

function service(name: string, spec: object): ObjectChange {
  const metadata = { namespace: 'demo', name };
  const { object } = decodeObject({ apiVersion: 'v1', kind: 'Service', metadata, spec });
  assert.ok(object);
  return { type: 'set', object };
}

const PLAIN = { wide: false, columns: 80, style: (_: unknown, text: string) => text };

function planText(operations: Preview['operations'], unread: readonly string[]): string {
  return `${planLines({ operations, unread }, PLAIN).join('\n')}\n`;
}

function proxyOf(kernel: FakeKernel, objects: readonly ObjectChange[]) {
  return createProxy({
    source: { start: async (events) => events.changed(objects), stop() {} },
    mode: createIpvsMode(kernel, { ...IPVS_DEFAULTS, families: [4], kernelRelease: '6.1.0' }),
    rtnetlink: kernel.rtnetlink,
    watchHost: async () => ({ close() {} }),
    nodeName: 'node-a',
    events: { synced() {}, problems() {}, failed() {}, retrying() {} },
  });
}

/** The plan for these objects. */
async function plan(kernel: FakeKernel, objects: readonly ObjectChange[]) {
  const proxy = proxyOf(kernel, objects);
  const operations = await proxy.plan();
  await proxy.stop();
  return { operations };
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
    text.slice(text.lastIndexOf('\n\n')),
    /^\s+\d+ operations: \d+ for the node, \d+ for 2 Services, 2 for items that are no\s+longer wanted\n$/,
  );
});

it('base chains of other programs are no difference, and are named', () => {
  const chain = 'table ip kube-proxy, chain theirs (hook input, priority 0, policy drop)';
  const item = { phase: 'deleteRules', node: false, services: [], state: 'unwanted' } as const;
  const wide = { ...PLAIN, columns: 200 };
  for (const operations of [[], [{ ...item, key: 'rule', lines: ['- rule'] }]]) {
    const report = diffReport({ operations, unread: [], foreignChains: [chain] });
    assert.deepEqual(report.foreignChains, [chain]);
    assert.equal(diffLines(report, wide).at(-1), `not of this proxy, and stays: ${chain}`);
    assert.equal('foreignChains' in diffReport({ operations, unread: [], foreignChains: [] }), false);
  }
});

it('what clients notice of a change of the mode is said at the end', () => {
  const item = { phase: 'deleteRules', node: false, services: [], state: 'unwanted' } as const;
  const operations = [{ ...item, key: 'rule', lines: ['- rule'], formerMode: 'iptables' }];
  const found = { operations, unread: [], changes: ['node ports are served elsewhere'] };
  assert.deepEqual(planLines(found, PLAIN).slice(-2), [
    '1 operation: 1 for items of iptables mode, which ran before',
    'with the change of the mode, node ports are served elsewhere',
  ]);
  assert.deepEqual(planReport(found), found);
  assert.deepEqual(planReport({ operations, unread: [], changes: [] }), { operations, unread: [] });
});

it('the items that a former mode left are last, with its name', () => {
  const item = { phase: 'deleteRules', node: false, services: [], state: 'unwanted' } as const;
  const operations = [
    { ...item, key: 'rule', lines: ['- rule'], formerMode: 'iptables' },
    { ...item, key: 'rule', lines: ['- rule'] },
  ];
  assert.equal(
    planText(operations, []),
    `no longer wanted
  - rule
no longer wanted, of iptables mode
  - rule

2 operations: 1 for items that are no longer wanted, 1 for items of iptables
  mode, which ran before
`,
  );
  const { differences } = diffReport({ operations, unread: [] });
  assert.deepEqual(
    differences.map(({ item, formerMode }) => [item, formerMode]),
    [
      ['rule', 'iptables'],
      ['rule', undefined],
    ],
  );
});

it('JSON has each operation with its phase, its key and its owners', async () => {
  const kernel = new FakeKernel();
  const { operations } = await plan(kernel, OBJECTS);
  const read = JSON.parse(JSON.stringify(planReport({ operations, unread: [] })));
  assert.equal(read.operations.length, operations.length);
  const web = read.operations.find(({ key }: { key: string }) => key === 'virtual service 10.96.0.80:80/tcp');
  assert.deepEqual(web, {
    phase: 'addServers',
    key: 'virtual service 10.96.0.80:80/tcp',
    node: false,
    services: ['demo/web'],
    state: 'missing',
    lines: ['+ virtual service 10.96.0.80:80/tcp rr'],
  });
  assert.equal(kernel.ipvs.dump(), '', 'nothing was changed');
});

it('unreadable files are named, and the result is not "nothing would change"', () => {
  assert.match(
    planText([], ['web.yaml']),
    /^objects that are missing from unreadable manifests are kept: web\.yaml\n$/,
  );
  assert.deepEqual(planReport({ operations: [], unread: ['web.yaml'] }), {
    operations: [],
    unread: ['web.yaml'],
  });
});

it('without changes, the text is a sentence, and the JSON has an empty list', () => {
  assert.equal(planText([], []), 'nothing would change\n');
  assert.deepEqual(diffLines({ differences: [], unread: [] }, PLAIN), ['the kernel has the desired state']);
});

it('a wide plan has the phase of each operation', async () => {
  const { operations } = await plan(new FakeKernel(), OBJECTS);
  const lines = planLines({ operations, unread: [] }, { ...PLAIN, wide: true });
  assert.ok(lines.some((line) => /^ {2}addServers +\+ virtual service 10\.96\.0\.80:80\/tcp rr$/.test(line)));
});

it('differences are items with their state, and the operations of one item are one difference', async () => {
  const kernel = new FakeKernel();
  assert.deepEqual((await proxyOf(kernel, OBJECTS).once()).failures, []);
  await kernel.ipvs.delete({ address: '10.96.0.80', port: 80, protocol: 'tcp' });
  await kernel.ipvs.update({
    ...{ address: '10.96.0.10', port: 8080, protocol: 'tcp' },
    scheduler: 'lc',
  });
  await kernel.rtnetlink.apply([
    { do: 'addAddress', address: { address: '10.96.0.99', prefix: 32, link: 'kube-ipvs0' } },
  ]);
  const { operations } = await plan(kernel, OBJECTS);
  const report = diffReport({ operations, unread: [] });
  assert.deepEqual(
    report.differences.map(({ item, state, services }) => [item, state, services.join()]),
    [
      ['virtual service 10.96.0.80:80/tcp', 'missing', 'demo/web'],
      ['virtual service 10.96.0.10:8080/tcp', 'different', 'demo/api'],
      ['address 10.96.0.99', 'unwanted', ''],
    ],
  );
  assert.deepEqual(diffLines(report, PLAIN), [
    'Service demo/api',
    '  different  virtual service 10.96.0.10:8080/tcp',
    '      ~ virtual service 10.96.0.10:8080/tcp rr',
    'Service demo/web',
    '  missing    virtual service 10.96.0.80:80/tcp',
    'no longer wanted',
    '  unwanted   address 10.96.0.99',
    '',
    '3 differences: 1 missing, 1 different, 1 unwanted',
  ]);
});
