// nftables mode on the kernel, while another program changes its tables: all changes are noticed, and repaired in the next pass.
// Needs: nftables
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import type { DisturbedCheck } from '../../src/modes/mode.js';
import type { Item } from '../../src/modes/nftables/index.js';
import { decodeObject } from '../../src/objects/decode.js';
import type { KubernetesObject } from '../../src/objects/types.js';
import { identityOf } from '../../src/source/manifestFile.js';
import { service, slice } from '../support/clusters/nftablesPlans.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { NftablesNode } from '../support/oracle/testNode.js';

let namespace: Namespace;
let nftables: Nftables;

const nft = (...args: readonly string[]) => namespace.run('nft', ...args);
/** Loads a text in the notation of nft. */
const load = (text: string) =>
  execFileSync('ip', ['netns', 'exec', namespace.name, 'nft', '-f', '-'], { input: text, encoding: 'utf8' });

const HOST = {
  configuration: { clusterCIDR: '10.244.0.0/16' },
  interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }],
};

const STICKY = { sessionAffinity: 'ClientIP', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };
const OBJECTS = [
  service('web', '10.96.0.1', STICKY),
  slice('web', '10.244.0.1', '10.244.0.2'),
  service('idle', '10.96.0.2'),
];

function objects(...raw: readonly object[]): Map<string, KubernetesObject> {
  const decoded = raw.map((each) => decodeObject(each).object as KubernetesObject);
  return new Map(decoded.map((object) => [identityOf(object), object]));
}

const newNode = () => new NftablesNode(HOST, { nftables, conntrack: new FakeKernel().conntrack });

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => nft('flush', 'ruleset'));

/** A node whose objects are in the kernel, and the text of them. */
async function programmed() {
  const node = newNode();
  node.set(objects(...OBJECTS));
  assert.deepEqual((await node.sync()).failures, []);
  return { node, listed: nft('list', 'ruleset') };
}

/** Changes of our tables by another program. */
const CHANGES: readonly (readonly [what: string, change: () => void])[] = [
  ['flushes the ruleset', () => nft('flush', 'ruleset')],
  ['deletes a table', () => nft('delete', 'table', 'ip6', 'kube-proxy')],
  ['flushes a table', () => nft('flush', 'table', 'ip', 'kube-proxy')],
  ['adds a rule', () => nft('add', 'rule', 'ip', 'kube-proxy', 'services', 'counter')],
  ['flushes a map', () => nft('flush', 'map', 'ip', 'kube-proxy', 'service-ips')],
  ['adds an element', () => nft('add element ip kube-proxy cluster-ips { 10.96.0.77 }')],
  [
    'adds an element of another protocol',
    () => nft('add element ip kube-proxy service-ips { 10.96.0.1 . 99 . 80 : accept }'),
  ],
  [
    'adds a rule without effect to a chain of a Service',
    () => {
      const chain = /chain (endpoint-\S+)/.exec(nft('list', 'ruleset'))?.[1] ?? '';
      nft(`insert rule ip kube-proxy ${chain} meta length 1 drop`);
    },
  ],
  [
    'adds a chain of a Service that is gone',
    () => nft('add chain ip kube-proxy service-AAAAAAAA-demo/gone/tcp/'),
  ],
  [
    'adds the clients of an endpoint that is gone',
    () =>
      nft(
        'add set ip kube-proxy affinity-AAAAAAAA-demo/gone/tcp/__10.244.0.9/80 { type ipv4_addr; flags dynamic,timeout; }',
      ),
  ],
  [
    'makes a base chain at another place',
    () =>
      load(
        'flush chain ip kube-proxy nat-output\ndelete chain ip kube-proxy nat-output\ntable ip kube-proxy { chain nat-output { type nat hook output priority -99; jump services; }; }',
      ),
  ],
  [
    'makes a set of another type',
    () =>
      load(
        'delete table ip kube-proxy\ntable ip kube-proxy { set cluster-ips { type ipv4_addr; flags interval; }; }',
      ),
  ],
  ['makes the table dormant', () => nft('add table ip kube-proxy { flags dormant; }')],
];

describe('another program', () => {
  for (const [what, change] of CHANGES)
    it(what, async () => {
      const { node, listed } = await programmed();
      change();
      assert.notEqual(nft('list', 'ruleset'), listed);
      node.reconciler.requestFullSync();
      const { failures, operations } = await node.sync();
      assert.deepEqual(failures, []);
      assert.ok(operations > 0);
      assert.deepEqual(sorted(nft('list', 'ruleset')), sorted(listed));
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    });

  for (const [what, change] of CHANGES)
    it(`${what}: an audit repairs it`, async () => {
      const { node, listed } = await programmed();
      change();
      await node.audit();
      node.retryFailed();
      assert.deepEqual((await node.sync()).failures, []);
      assert.deepEqual(sorted(nft('list', 'ruleset')), sorted(listed));
    });

  it('has chains and sets of its own in the table: they stay', async () => {
    const { node } = await programmed();
    load(
      'table ip kube-proxy { set mine { type ipv4_addr; elements = { 192.0.2.1 }; }; chain mine { ip saddr @mine counter; }; }',
    );
    node.reconciler.requestFullSync();
    assert.equal((await node.sync()).operations, 0);
    assert.match(nft('list', 'ruleset'), /ip saddr @mine counter/);
  });

  it('uses a chain of a Service that is removed: the rest is done, and the chain is gone as soon as it is free', async () => {
    const { node } = await programmed();
    const [, external = ''] = /chain (external-\S+)/.exec(nft('list', 'ruleset')) ?? [];
    load(`table ip kube-proxy { chain mine { goto ${external}; }; }`);
    node.set(objects(service('idle', '10.96.0.2')));
    const { failures } = await node.sync();
    assert.ok(failures.length > 0);
    assert.ok(
      failures.every(({ error }) => error.code === 'EBUSY'),
      failures.map(({ error }) => error.message).join(),
    );
    assert.doesNotMatch(nft('list', 'map', 'ip', 'kube-proxy', 'service-ips'), /demo\/web/);
    nft('delete', 'chain', 'ip', 'kube-proxy', 'mine');
    node.retryFailed();
    assert.deepEqual((await node.sync()).failures, []);
    assert.doesNotMatch(nft('list', 'ruleset'), /demo\/web/);
  });
});

/** The lines of a listing: the kernel lists elements in the order of their hashes, and chains in that of their creation. */
function sorted(text: string): string[] {
  return text
    .split(/[\n,{}]/)
    .map((line) => line.trim())
    .sort();
}

describe('notifications', () => {
  /** What a watch of a programmed node reports: for each report, whether it is about another program. */
  async function watched(
    change: (node: NftablesNode<never>) => Promise<unknown> | unknown,
  ): Promise<boolean[]> {
    const { node } = await programmed();
    const checks: DisturbedCheck<Item>[] = [];
    const watch = await node.mode.watch?.({ disturbed: (check) => checks.push(check) });
    await change(node as NftablesNode<never>);
    await sleep(400);
    watch?.close();
    return Promise.all(checks.map((check) => check(new Map())));
  }

  it('of our own changes: nothing is disturbed', async () => {
    const reports = await watched(async (node) => {
      node.set(objects(service('web', '10.96.0.1'), slice('web', '10.244.0.3')));
      assert.ok((await node.sync()).operations > 0);
    });
    assert.ok(reports.length > 0 && !reports.includes(true), `${reports}`);
  });

  it('of changes of other tables: none', async () => {
    assert.deepEqual(await watched(() => nft('add', 'table', 'ip', 'other')), []);
    assert.deepEqual(await watched(() => nft('add', 'table', 'inet', 'kube-proxy')), []);
  });

  for (const [what, change] of CHANGES)
    it(`another program ${what}`, async () => {
      assert.ok((await watched(change)).includes(true));
    });

  it('of changes of both, one after the other', async () => {
    const reports = await watched(async (node) => {
      node.set(objects(service('web', '10.96.0.1'), slice('web', '10.244.0.3')));
      await node.sync();
      nft('add', 'rule', 'ip', 'kube-proxy', 'services', 'counter');
      node.set(objects(service('web', '10.96.0.1'), slice('web', '10.244.0.4')));
      await node.sync();
    });
    assert.equal(reports.filter(Boolean).length, 1);
    assert.ok(reports.length >= 3);
  });
});
