// The sets of rules have short names. If another set of the table has a short name, the set of the rule gets its whole name.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { objectsOf } from '../support/clusters/mixedCluster.js';
import { service, slice } from '../support/clusters/nftablesPlans.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { NftablesNode } from '../support/oracle/testNode.js';

const HOST = { configuration: {}, interfaces: [{ link: 'eth0', address: '192.168.10.5', prefix: 24 }] };
const TABLE = { family: 'ip', table: 'kube-proxy' } as const;

const OTHER = [service('other', '10.96.0.2'), slice('other', '10.244.0.9')];
const STICKY = { sessionAffinity: 'ClientIP' };
const WEB = [
  service('web', '10.96.0.1'),
  slice('web', '10.244.0.1', '10.244.0.2'),
  service('sticky', '10.96.0.3', STICKY),
  slice('sticky', '10.244.0.1', '10.244.0.2'),
];

let namespace: Namespace;
let nftables: Nftables;
before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});

const newNode = () => new NftablesNode(HOST, { nftables, conntrack: new FakeKernel().conntrack });

async function synced(node: ReturnType<typeof newNode>, ...objects: readonly object[]): Promise<number> {
  node.set(objectsOf(...objects));
  node.reconciler.requestFullSync();
  const { failures, operations } = await node.sync();
  assert.deepEqual(failures, []);
  return operations;
}

/** Names of the sets of rules in the chains of a Service. */
async function namesOf(service: string): Promise<string[]> {
  const rules = await nftables.listRules(TABLE).toArray();
  const ofService = rules.filter(({ chain }) => chain.includes(`/${service}/`));
  const used = ofService.flatMap(({ expressions }) =>
    expressions.flatMap((each) => (each.kind === 'lookup' && typeof each.set === 'string' ? [each.set] : [])),
  );
  return used.filter((name) => !name.startsWith('affinity-'));
}

/** A rule of another program, with a set of this name. */
const taken = (name: string) => ({
  ...TABLE,
  chain: 'another',
  expressions: [
    { kind: 'payload', base: 'network', offset: 16, length: 4, register: 1 } as const,
    { kind: 'lookup', set: { key: 'ipv4_addr', elements: [{ key: '192.0.2.1' }], name }, source: 1 } as const,
  ],
});

it('a taken name: the Service is programmed, equal at the next pass and after a restart, and short again later', async () => {
  const node = newNode();
  await synced(node, ...OTHER, ...WEB);
  const names = [...(await namesOf('web')), ...(await namesOf('sticky'))];
  assert.deepEqual(
    names.map((name) => name.length),
    [7, 7],
  );
  await synced(node, ...OTHER);
  await nftables.addChain({ ...TABLE, name: 'another' });
  for (const name of names) await nftables.addRule(taken(name));
  assert.ok((await synced(node, ...OTHER, ...WEB)) > 0);
  const whole = [...(await namesOf('web')), ...(await namesOf('sticky'))];
  assert.deepEqual(
    whole.map((name) => [name.length, name.slice(0, 7)]),
    names.map((name) => [10, name]),
  );
  assert.deepEqual(
    (await namesOf('other')).map((name) => name.length),
    [7],
  );
  assert.equal(await synced(node, ...OTHER, ...WEB), 0);
  assert.equal(await synced(newNode(), ...OTHER, ...WEB), 0);

  // The name is free again: the sets stay, until their Services change.
  await nftables.apply([
    { do: 'flushChain', chain: { ...TABLE, name: 'another' } },
    { do: 'deleteChain', chain: { ...TABLE, name: 'another' } },
  ]);
  assert.equal(await synced(node, ...OTHER, ...WEB), 0);
  await synced(node, ...OTHER);
  await synced(node, ...OTHER, ...WEB);
  assert.deepEqual([...(await namesOf('web')), ...(await namesOf('sticky'))], names);
});
