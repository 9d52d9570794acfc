// The commands about one Service read its part of the kernel in nftables mode, however many Services there are.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withConnections } from '../../../../../src/command/explain/read/connections.js';
import { explain, readFrontends } from '../../../../../src/command/explain/read/nftables.js';
import { nftablesOptions } from '../../../../../src/command/modes/nftables/fromConfiguration.js';
import type { Nftables } from '../../../../../src/kernel/nftables/types.js';
import { HOST, service, slice } from '../../../../support/clusters/manifests.js';
import { FakeProcNet } from '../../../../support/fakes/procNet.js';
import { FakeNftablesNode } from '../../../../support/oracle/testNode.js';

const ADDRESS = '10.96.0.1';
const KEY = { family: 4, address: ADDRESS, port: 80, protocol: 'tcp' } as const;

/** A node with so many Services; web-1 has session affinity and an external IP. */
async function nodeWith(
  services: number,
  layout: 'kube-proxy' | 'scalable' = 'kube-proxy',
): Promise<FakeNftablesNode> {
  const node = new FakeNftablesNode(HOST, undefined, layout);
  const texts = Array.from({ length: services }, (_, i) => {
    const extra = i === 0 ? '  sessionAffinity: ClientIP\n  externalIPs: [203.0.113.1]' : '';
    const name = `web-${i + 1}`;
    return service(name, `10.96.0.${i + 1}`, extra) + slice(name, `10.0.0.${i + 1}`, `10.0.1.${i + 1}`);
  });
  await node.loadText(texts.join(''));
  assert.deepEqual((await node.sync()).failures, []);
  return node;
}

const LISTINGS = [
  'listTables',
  'listChains',
  'listRules',
  'listSets',
  'listElements',
  'getElements',
] as const;

/** The same client, which counts calls and what they list. */
function counting(nftables: Nftables) {
  const counts = { calls: 0, read: 0 };
  const client = new Proxy(nftables, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        counts.calls++;
        const result: unknown = Reflect.apply(value, target, args);
        if (!LISTINGS.includes(name as 'listTables')) return result;
        const note = (list: readonly unknown[]) => {
          counts.read += list.length;
          return list;
        };
        if (result instanceof Promise) return result.then(note);
        return { toArray: async () => note(await (result as { toArray(): Promise<unknown[]> }).toArray()) };
      };
    },
  });
  return { client, counts };
}

async function explained(node: FakeNftablesNode, address: string, port = 80) {
  const { client: nftables, counts } = counting(node.kernel.nftables);
  const options = nftablesOptions(node.configuration, { families: [4, 6], layout: 'kube-proxy' });
  const kernel = { ...node.kernel, nftables, procNet: new FakeProcNet() };
  const question = { address, port, protocol: 'tcp', from: '10.0.9.9' } as const;
  return { counts, explanation: await explain(kernel, options, question) };
}

describe('one Service of many', () => {
  for (const layout of ['kube-proxy', 'scalable'] as const) {
    it(`explain and services read as much of 5 Services as of 100, in layout ${layout}`, async () => {
      const read = async (services: number) => {
        const node = await nodeWith(services, layout);
        const { counts, explanation } = await explained(node, ADDRESS);
        assert.equal(explanation.endpoints.length, 2);
        const { client, counts: listed } = counting(node.kernel.nftables);
        const frontends = await readFrontends(client, { keys: [KEY] });
        assert.deepEqual(
          frontends,
          (await readFrontends(node.kernel.nftables)).filter(({ address }) => address === ADDRESS),
        );
        assert.equal(frontends[0]?.persistence, 10_800);
        return [counts, listed];
      };
      const few = await read(5);
      assert.deepEqual(await read(100), few);
      for (const { read: items } of few) assert.ok(items < 150, `${items} items`);
    });
  }

  it('a port that no Service has is found to be so', async () => {
    const { explanation } = await explained(await nodeWith(5), ADDRESS, 81);
    assert.deepEqual(
      explanation.causes.map(({ code }) => code),
      ['PortNotServed'],
    );
  });

  it('a list without endpoints reads no chain of a Service', async () => {
    const node = await nodeWith(100);
    const { client, counts } = counting(node.kernel.nftables);
    const frontends = await readFrontends(client, { bare: true });
    assert.equal(frontends.length, 101);
    assert.ok(counts.calls < 100, `${counts.calls} calls`);
  });
});

it('connections are counted by frontend and endpoint', async () => {
  const node = await nodeWith(3);
  const { conntrack } = node.kernel;
  const add = async (sourcePort: number, destination: string, endpoint: string, state = 'ESTABLISHED') => {
    const flow = {
      ...{ protocol: 'tcp', timeout: 100, status: ['SEEN_REPLY', 'ASSURED', 'CONFIRMED'] },
      original: { source: '10.0.9.9', sourcePort, destination, destinationPort: 80 },
      ...{ destinationNat: { address: endpoint, port: 8080 }, tcpState: state },
    };
    await conntrack.add(flow as Parameters<typeof conntrack.add>[0]);
  };
  await add(1, ADDRESS, '10.0.0.1');
  await add(2, ADDRESS, '10.0.0.1', 'TIME_WAIT');
  await add(3, ADDRESS, '10.0.1.1');
  await add(4, '203.0.113.1', '10.0.1.1');
  await add(5, '198.51.100.1', '10.0.1.1');
  const listed = await withConnections(conntrack, await readFrontends(node.kernel.nftables, { keys: [KEY] }));
  assert.deepEqual(
    listed.map(({ connections, endpoints }) => [
      connections,
      ...endpoints.map(({ address, connections: own }) => [address, own]).sort(),
    ]),
    [
      [
        { active: 2, inactive: 1 },
        ['10.0.0.1', { active: 1, inactive: 1 }],
        ['10.0.1.1', { active: 1, inactive: 0 }],
      ],
    ],
  );
});
