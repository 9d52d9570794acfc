// The frontends that are read from kube-proxy's own tables of nftables mode are those of the objects: every recording is loaded by nft,
// and read from the kernel.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import type { ProgrammedFrontend } from '../../src/explain/inventory.js';
import { readFrontends } from '../../src/explain/read/nftables.js';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { joinHostPort } from '../../src/net/address.js';
import type { Frontend, ServicePort } from '../../src/services/types.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { recordedPorts } from '../support/oracle/iptablesNode.js';
import { scenarios } from '../support/oracle/oracle.js';
import { NftablesNode } from '../support/oracle/testNode.js';

let namespace: Namespace;
let nftables: Nftables;

const nft = (...args: readonly string[]) => namespace.run('nft', ...args);

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  namespace.remove();
});
beforeEach(() => nft('flush', 'ruleset'));

type Key = Pick<ProgrammedFrontend, 'family' | 'address' | 'port' | 'protocol'>;
const keyOf = ({ family, address = '', port, protocol }: Key) => `${family} ${address} ${port}/${protocol}`;

/** The endpoints that hosts outside the cluster, or the clients of a cluster IP, reach. */
function endpointsOf({ clusterEndpoints, localEndpoints }: ServicePort, { localPolicy }: Frontend): string[] {
  return [...(localPolicy ? localEndpoints : clusterEndpoints)].sort();
}

function check(listed: ProgrammedFrontend, port: ServicePort, frontend: Frontend, story: string): void {
  const want = endpointsOf(port, frontend);
  const endpoints = listed.endpoints.map((each) => joinHostPort(each.address, each.port)).sort();
  assert.deepEqual(endpoints, want, story);
  for (const { share } of listed.endpoints) assert.ok(Math.abs(share - 1 / want.length) < 1e-6, story);
  assert.equal(listed.persistence, want.length > 0 ? port.affinitySeconds : 0, story);
  if (want.length === 0) assert.match(listed.refused ?? '', /^(REJECT|DROP)$/, story);
  else assert.equal(listed.refused, undefined, story);
  if (!/^(balance|external|nodeport)-\d+$/.test(listed.chain ?? '')) {
    assert.equal(listed.portName ?? '', port.portName, story);
    assert.ok(listed.service, story);
  }
  if (frontend.kind === 'clusterIP' || frontend.kind === 'nodePort')
    assert.equal(listed.kind, frontend.kind, story);
  else if (frontend.sourceRanges.length > 0) assert.equal(listed.kind, 'loadBalancerIP', story);
  else assert.equal(listed.kind, undefined, story);
}

/** Compares all frontends in the kernel with the objects of a step. */
async function checkAll(step: string): Promise<void> {
  const found = new Map((await readFrontends(nftables)).map((each) => [keyOf(each), each]));
  for (const port of await recordedPorts(step)) {
    for (const frontend of port.frontends) {
      const { family, protocol } = port;
      const key = keyOf({ family, address: frontend.address, port: frontend.port, protocol });
      const listed = found.get(key);
      const story = `${step}: ${key}: ${JSON.stringify(listed)}`;
      assert.ok(listed, story);
      found.delete(key);
      check(listed, port, frontend, story);
    }
  }
  assert.deepEqual([...found.keys()], [], `${step}: frontends that no Service has`);
}

const recorded = scenarios('nftables');

for (const scenario of recorded) {
  it(`${scenario.name}: all frontends, with names, kinds, endpoints and shares`, async () => {
    for (const step of scenario.steps) {
      nft('flush', 'ruleset');
      nft('-f', `${step}/nft.txt`);
      await checkAll(step);
    }
  });

  it(`${scenario.name}: the same in layout scalable, without the names of shared chains`, async () => {
    const node = new NftablesNode(scenario, { nftables, conntrack: new FakeKernel().conntrack }, 'scalable');
    for (const step of scenario.steps) {
      await node.load(`${step}/objects.yaml`);
      assert.deepEqual((await node.sync()).failures, []);
      await checkAll(step);
    }
  });
}

it('tables that do not exist have no frontends', async () => {
  assert.ok(recorded.length > 0);
  assert.deepEqual(await readFrontends(nftables), []);
});
