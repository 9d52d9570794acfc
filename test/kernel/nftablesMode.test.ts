// nftables mode on the kernel, while another program changes its tables: all changes are noticed, and repaired in the next pass.
// Needs: nftables
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Commit, type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import type { EventStream, Resync } from '../../src/kernel/shared/types.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import type { DisturbedCheck } from '../../src/proxy/modes/mode.js';
import type { Item, NftablesKernel } from '../../src/proxy/modes/nftables/index.js';
import { shardOf } from '../../src/proxy/modes/nftables/plan/containers.js';
import { LAYOUTS, type NftablesLayout } from '../../src/proxy/modes/nftables/plan/options.js';
import { PATIENCE } from '../laboratory/patience.js';
import { objectsOf } from '../support/clusters/mixedCluster.js';
import { service, slice } from '../support/clusters/nftablesPlans.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { assertWhole } from '../support/nftables/wholeServices.js';
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
  service('open', '10.96.0.3', {
    type: 'NodePort',
    externalIPs: ['192.0.2.7'],
    ports: [{ port: 80, nodePort: 30081 }],
  }),
  slice('open', '10.244.0.3', '@10.244.0.4', '10.244.0.5'),
  service('six', 'fd00:10:96::1', { ipFamilies: ['IPv6'] }),
  slice('six', 'fd00:10:244::1', 'fd00:10:244::2'),
];

const VERBS = [
  ...(['generation', 'getChain', 'getElements', 'getSet', 'getTable'] as const),
  ...(['listChains', 'listElementBytes', 'listElements', 'listObjects'] as const),
  ...(['listFlowTables', 'listRules', 'listSets', 'listTables', 'port'] as const),
];

/** The last generation of whose commit the watch of a mode was notified. */
let notified = 0;

/** Notes what an iteration has. The mode has reported it in the next turn of the event loop. */
function notifying(stream: EventStream<Commit>): AsyncIterableIterator<Commit | Resync, undefined> {
  const events = stream[Symbol.asyncIterator]();
  const next = events.next.bind(events);
  events.next = async () => {
    const result = await next();
    if (!result.done && result.value.kind !== 'resync') notified = result.value.generation.id;
    return result;
  };
  return events;
}

/** The client, which asserts after each transaction that no Service is half written. */
function checked(): NftablesKernel['nftables'] {
  return {
    watchCommits: (options) => ({ [Symbol.asyncIterator]: () => notifying(nftables.watchCommits(options)) }),
    ...(Object.fromEntries(VERBS.map((verb) => [verb, nftables[verb].bind(nftables)])) as Omit<
      NftablesKernel['nftables'],
      'apply' | 'onBatch' | 'watchCommits'
    >),
    async apply(operations) {
      const results = await nftables.apply(operations);
      await assertWhole(nftables, 'after a transaction');
      return results;
    },
    onBatch: undefined,
  };
}

const newNode = (layout: NftablesLayout) =>
  new NftablesNode(HOST, { nftables: checked(), conntrack: new FakeKernel().conntrack }, layout);

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => load(`flush ruleset\n${FOREIGN}`));

/** Tables of other programs, some of which have the name of ours. */
const FOREIGN = `
table ip other {
  set addresses { type ipv4_addr; elements = { 192.0.2.1, 192.0.2.2 }; }
  chain services { type nat hook prerouting priority -101; ip daddr @addresses counter; }
}
table inet kube-proxy { chain services { ip saddr 192.0.2.3 drop; }; }
table ip6 other { map service-ips { type ipv6_addr : verdict; elements = { 2001:db8::1 : drop }; }; }
table arp kube-proxy { chain filter { type filter hook input priority 0; }; }
`;

const OUR_TABLE = /^table ip6? kube-proxy /;

/** The lines of our tables, and those of the others. */
function rulesetOf(listed: string): {
  readonly ours: readonly string[];
  readonly foreign: readonly string[];
} {
  const tables = listed.split(/^(?=table )/m);
  const linesOf = (wanted: boolean) =>
    sorted(tables.filter((table) => OUR_TABLE.test(table) === wanted).join('\n'));
  return { ours: linesOf(true), foreign: linesOf(false) };
}

const ruleset = () => rulesetOf(nft('list', 'ruleset'));

/** A node whose objects are in the kernel, beside tables of others. */
async function programmed(layout: NftablesLayout): Promise<ReturnType<typeof newNode>> {
  const node = newNode(layout);
  node.set(objectsOf(...OBJECTS));
  assert.deepEqual((await node.sync()).failures, []);
  return node;
}

/** The name of the first chain of IPv4 that begins with this word. */
function nameOf(word: string): string {
  const chain = new RegExp(`chain (${word}-\\S+)`).exec(nft('list', 'table', 'ip', 'kube-proxy'))?.[1];
  assert.ok(chain, `no chain ${word}-…`);
  return chain;
}

/** The arguments that name the first rule of a chain of IPv4. */
function handleIn(chain: string): string[] {
  const listed = nft('-a', 'list', 'chain', 'ip', 'kube-proxy', chain);
  const handle = /^\t\t.* # handle (\d+)$/m.exec(listed)?.[1];
  assert.ok(handle, listed);
  return [chain, 'handle', handle];
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
      nft(`insert rule ip kube-proxy ${nameOf('endpoint')} meta length 1 drop`);
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
  ['deletes an element', () => nft('delete element ip kube-proxy service-ips { 10.96.0.1 . tcp . 80 }')],
  [
    'gives an element another verdict',
    () =>
      load(
        'delete element ip kube-proxy service-ips { 10.96.0.1 . tcp . 80 }\nadd element ip kube-proxy service-ips { 10.96.0.1 . tcp . 80 : drop }',
      ),
  ],
  [
    'adds an element with a comment',
    () =>
      load('add element ip kube-proxy no-endpoint-services { 10.96.0.1 . tcp . 81 comment "mine" : drop }'),
  ],
  ['deletes a rule', () => nft('delete', 'rule', 'ip', 'kube-proxy', ...handleIn('masquerading'))],
  ['flushes a chain of a Service', () => nft('flush', 'chain', 'ip', 'kube-proxy', nameOf('service'))],
  [
    'renames a chain of a Service',
    () => nft('rename', 'chain', 'ip', 'kube-proxy', nameOf('external'), 'external-AAAAAAAA-demo/gone/tcp/'),
  ],
  [
    'gives a base chain another policy',
    () => load('table ip kube-proxy { chain filter-input { policy drop; }; }'),
  ],
  ['makes the table dormant', () => nft('add table ip kube-proxy { flags dormant; }')],
];

/** Keys of elements, and the numbers of the maps with their endpoints. */
const OPEN = '10.96.0.3 . tcp . 80';
const GONE = '10.96.0.99 . udp . 53';
const SIX = 'fd00:10:96::1 . tcp . 80';
const [OPEN_SHARD, GONE_SHARD, SIX_SHARD] = [OPEN, GONE, SIX].map(shardOf);

/** Leads Service `open` to another chain. */
const leadTo = (chain: string) =>
  load(
    `add chain ip kube-proxy ${chain}\ndelete element ip kube-proxy service-ips { ${OPEN} }\nadd element ip kube-proxy service-ips { ${OPEN} : goto ${chain} }`,
  );

/** Changes of what only layout `scalable` has. */
const SCALABLE_CHANGES: typeof CHANGES = [
  ['flushes the endpoints', () => nft('flush', 'map', 'ip6', 'kube-proxy', `endpoints-${SIX_SHARD}`)],
  ['deletes an endpoint', () => nft(`delete element ip kube-proxy endpoints-${OPEN_SHARD} { ${OPEN} . 1 }`)],
  [
    'replaces an endpoint',
    () =>
      load(
        'delete element ip kube-proxy nodeport-endpoints { tcp . 30081 . 1 }\nadd element ip kube-proxy nodeport-endpoints { tcp . 30081 . 1 : 10.244.0.99 . 80 }',
      ),
  ],
  [
    'adds an endpoint in a slot of its own',
    () => nft(`add element ip kube-proxy endpoints-${OPEN_SHARD} { ${OPEN} . 3 : 10.244.0.99 . 80 }`),
  ],
  [
    'adds an endpoint of a Service that is gone',
    () => nft(`add element ip kube-proxy endpoints-${GONE_SHARD} { ${GONE} . 0 : 10.244.0.99 . 53 }`),
  ],
  ['leads a Service to another shared chain', () => leadTo(`balance-9-${OPEN_SHARD}`)],
  ['leads a Service to the shared chain of another map', () => leadTo(`balance-3-${GONE_SHARD}`)],
  ['empties a shared chain', () => nft('flush', 'chain', 'ip', 'kube-proxy', `balance-3-${OPEN_SHARD}`)],
  ['adds a shared chain', () => nft('add', 'chain', 'ip', 'kube-proxy', 'nodeport-77')],
  [
    'deletes the endpoints with their shared chains',
    () =>
      load(
        `flush map ip6 kube-proxy service-ips\nflush chain ip6 kube-proxy balance-2-${SIX_SHARD}\ndelete chain ip6 kube-proxy balance-2-${SIX_SHARD}\ndelete map ip6 kube-proxy endpoints-${SIX_SHARD}`,
      ),
  ],
];

for (const layout of LAYOUTS)
  testLayout(layout, layout === 'scalable' ? [...CHANGES, ...SCALABLE_CHANGES] : CHANGES);

function testLayout(layout: NftablesLayout, changes: typeof CHANGES): void {
  describe(`another program, with layout ${layout}`, () => {
    for (const [what, change] of changes)
      it(what, async () => {
        const node = await programmed(layout);
        const written = ruleset();
        change();
        const { ours, foreign } = ruleset();
        assert.notDeepEqual(ours, written.ours);
        node.reconciler.requestFullSync();
        const { failures, operations } = await node.sync();
        assert.deepEqual(failures, []);
        assert.ok(operations > 0);
        assert.deepEqual(ruleset(), { ours: written.ours, foreign });
        node.reconciler.requestFullSync();
        assert.equal((await node.sync()).operations, 0);
      });

    for (const [what, change] of changes)
      it(`${what}: an audit repairs it`, async () => {
        const node = await programmed(layout);
        const written = ruleset();
        change();
        const { foreign } = ruleset();
        await node.audit();
        node.retryFailed();
        assert.deepEqual((await node.sync()).failures, []);
        assert.deepEqual(ruleset(), { ours: written.ours, foreign });
      });

    it('has chains and sets of its own in the table: they stay', async () => {
      const node = await programmed(layout);
      load(
        'table ip kube-proxy { set mine { type ipv4_addr; elements = { 192.0.2.1 }; }; chain mine { ip saddr @mine counter; }; }',
      );
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
      assert.match(nft('list', 'ruleset'), /ip saddr @mine counter/);
    });

    it('uses a chain of a Service that is removed: the rest is done, and the chain is gone as soon as it is free', async () => {
      const node = await programmed(layout);
      const [, external = ''] = /chain (external-\S+)/.exec(nft('list', 'ruleset')) ?? [];
      load(`table ip kube-proxy { chain mine { goto ${external}; }; }`);
      node.set(objectsOf(service('idle', '10.96.0.2')));
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

  describe(`notifications, with layout ${layout}`, () => {
    /** What a watch of a programmed node reports: for each report, whether it is about another program. */
    async function watched(
      change: (node: NftablesNode<never>) => Promise<unknown> | unknown,
    ): Promise<boolean[]> {
      const node = await programmed(layout);
      const checks: DisturbedCheck<Item>[] = [];
      const watch = await node.mode.watch?.({ disturbed: (check) => checks.push(check) });
      // A change to what is already so has no commit.
      notified = (await nftables.generation()).id;
      await change(node as NftablesNode<never>);
      const { id } = await nftables.generation();
      const deadline = performance.now() + PATIENCE;
      do await sleep(5);
      while (notified < id && performance.now() < deadline);
      assert.ok(notified >= id, `notified of ${notified}, and not of ${id}`);
      watch?.close();
      return Promise.all(checks.map((check) => check(new Map())));
    }

    it('of our own changes: nothing is disturbed', async () => {
      const reports = await watched(async (node) => {
        node.set(objectsOf(service('web', '10.96.0.1'), slice('web', '10.244.0.3')));
        assert.ok((await node.sync()).operations > 0);
      });
      assert.ok(reports.length > 0 && !reports.includes(true), `${reports}`);
    });

    it('of changes of other tables: none', async () => {
      assert.deepEqual(await watched(() => nft('add', 'table', 'ip', 'other')), []);
      assert.deepEqual(await watched(() => nft('add', 'table', 'inet', 'kube-proxy')), []);
    });

    for (const [what, change] of changes)
      it(`another program ${what}`, async () => {
        assert.ok((await watched(change)).includes(true));
      });

    it('of changes of both, one after the other', async () => {
      const reports = await watched(async (node) => {
        node.set(objectsOf(service('web', '10.96.0.1'), slice('web', '10.244.0.3')));
        await node.sync();
        nft('add', 'rule', 'ip', 'kube-proxy', 'services', 'counter');
        node.set(objectsOf(service('web', '10.96.0.1'), slice('web', '10.244.0.4')));
        await node.sync();
      });
      assert.equal(reports.filter(Boolean).length, 1);
      assert.ok(reports.length >= 3);
    });
  });
}

describe('the layouts', () => {
  for (const layout of LAYOUTS)
    it(`${layout}: a second pass and a restart change nothing, and nft loads its own listing`, async () => {
      const node = await programmed(layout);
      const listed = nft('list', 'ruleset');
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
      nft('flush', 'ruleset');
      load(listed);
      assert.equal(nft('list', 'ruleset'), listed);
      const restarted = newNode(layout);
      restarted.set(objectsOf(...OBJECTS));
      assert.equal((await restarted.sync()).operations, 0);
    });

  it('one after the other: each start exchanges what the other left', async () => {
    const listings = [];
    for (const layout of [...LAYOUTS, ...LAYOUTS]) {
      const node = newNode(layout);
      node.set(objectsOf(...OBJECTS));
      assert.deepEqual((await node.sync()).failures, []);
      listings.push(sorted(nft('list', 'ruleset')));
      node.reconciler.requestFullSync();
      assert.equal((await node.sync()).operations, 0);
    }
    assert.deepEqual(listings.slice(2), listings.slice(0, 2));
    assert.notDeepEqual(listings[0], listings[1]);
  });
});

/** The lines of a listing: the kernel lists elements in the order of their hashes, and chains in that of their creation. */
function sorted(text: string): string[] {
  return text
    .split(/[\n,{}]/)
    .map((line) => line.trim())
    .sort();
}

it('another program adds an endpoint to a map in which no rule looks for it: it stays, and nothing is done', async () => {
  const node = await programmed('scalable');
  nft(`add element ip kube-proxy endpoints-${GONE_SHARD} { ${OPEN} . 0 : 10.244.0.99 . 80 }`);
  node.reconciler.requestFullSync();
  assert.equal((await node.sync()).operations, 0);
});
