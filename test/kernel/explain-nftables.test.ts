// The frontends that are read from kube-proxy's own tables of nftables mode are those of the objects: every recording is loaded by nft,
// and read from the kernel.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import type { ProgrammedFrontend } from '../../src/command/explain/inventory.js';
import { explainPacket, type NftablesFacts } from '../../src/command/explain/nftables/explainPacket.js';
import { readFrontends, readTable } from '../../src/command/explain/read/nftables.js';
import { isLoopback, joinHostPort } from '../../src/kernel/net/address.js';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { FakeKernel } from '../../src/kernel/testing/index.js';
import { NFTABLES_DEFAULTS } from '../../src/proxy/modes/nftables/index.js';
import { isSharedChain } from '../../src/proxy/modes/nftables/plan/sharedChains.js';
import type { Frontend, ServicePort } from '../../src/proxy/services/types.js';
import { sample } from '../support/extent.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { checkExplanations } from '../support/oracle/explainedRecordings.js';
import { factsOf, recordedPorts } from '../support/oracle/iptablesNode.js';
import { type Scenario, scenarios } from '../support/oracle/oracle.js';
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
  if (!isSharedChain(listed.chain ?? '')) {
    assert.equal(listed.portName ?? '', port.portName, story);
    assert.ok(listed.service, story);
  }
  if (frontend.kind === 'clusterIP' || frontend.kind === 'nodePort')
    assert.equal(listed.kind, frontend.kind, story);
  else if (frontend.sourceRanges.length > 0) assert.equal(listed.kind, 'loadBalancerIP', story);
  else assert.equal(listed.kind, undefined, story);
}

/** Explains each frontend of a step from the tables in the kernel. A process of the node listens for every endpoint. */
async function explainAll(scenario: Scenario, step: string): Promise<void> {
  const facts = { 4: await factsIn(scenario, step, 4), 6: await factsIn(scenario, step, 6) };
  const nodePorts = ([4, 6] as const).map((family) => {
    const set = facts[family].table?.sets.get('nodeport-ips')?.elements ?? [];
    return set.map(({ key }) => String(key));
  });
  const served = new Set(nodePorts.flat());
  await checkExplanations(scenario, step, {
    name: 'nftables',
    explain: (family, question) => explainPacket(facts[family], question, NFTABLES_DEFAULTS),
    isExcluded: (address) => isLoopback(address) || (served.size > 0 && !served.has(address)),
  });
}

async function factsIn(scenario: Scenario, step: string, family: 4 | 6): Promise<NftablesFacts> {
  const address = family === 4 ? '0.0.0.0' : '::';
  const sockets = (await recordedPorts(step)).flatMap(({ clusterEndpoints, localEndpoints, protocol }) =>
    protocol === 'sctp'
      ? []
      : [...clusterEndpoints, ...localEndpoints].map((text) => ({
          ...{ address, protocol },
          port: Number(text.slice(text.lastIndexOf(':') + 1)),
        })),
  );
  return { ...factsOf(scenario, family, ''), sockets, table: await readTable(nftables, family) };
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

for (const scenario of sample(recorded, 6)) {
  it(`${scenario.name}: all frontends, with names, kinds, endpoints and shares, and packets to them`, async () => {
    for (const step of scenario.steps) {
      nft('flush', 'ruleset');
      nft('-f', `${step}/nft.txt`);
      await checkAll(step);
      await explainAll(scenario, step);
    }
  });

  it(`${scenario.name}: the same in layout scalable, without the names of shared chains`, async () => {
    const node = new NftablesNode(scenario, { nftables, conntrack: new FakeKernel().conntrack }, 'scalable');
    for (const step of scenario.steps) {
      await node.load(step);
      assert.deepEqual((await node.sync()).failures, []);
      await checkAll(step);
      await explainAll(scenario, step);
    }
  });
}

it('tables that do not exist have no frontends', async () => {
  assert.ok(recorded.length > 0);
  assert.deepEqual(await readFrontends(nftables), []);
});
