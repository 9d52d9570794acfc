// What a proxy does with nodes that do not answer.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReachListener } from '../../../../src/proxy/nodes/types.js';
import { SliceEndpoints } from '../../../../src/proxy/objects/sliceEndpoints.js';
import type { ObjectChange } from '../../../../src/proxy/objects/types.js';
import { EndpointList, STATE } from '../../../../src/proxy/services/endpointList.js';
import { service, setUpWith } from '../../../support/fakes/proxyInMemory.js';

const NODES = ['node-a', 'node-b', 'node-b', 'node-c'];

/** Endpoints 10.0.0.1 and so on, on these nodes. */
function endpointsOn(
  nodes: readonly string[],
  states: Readonly<Record<number, object>> = {},
): SliceEndpoints {
  return SliceEndpoints.of(
    4,
    nodes.map((nodeName, i) => ({
      ...{ address: `10.0.0.${i + 1}`, ready: true, serving: true, terminating: false, nodeName },
      ...{ zoneHints: [], nodeHints: [] },
      ...states[i],
    })),
  );
}

/** The last bytes of the ready endpoints' addresses. */
function ready(
  nodes: readonly string[],
  out: readonly string[],
  states: Readonly<Record<number, object>> = {},
): string {
  const endpoints = endpointsOn(nodes, states);
  const list = new EndpointList(endpoints.addressPorts, endpoints, 'node-a').withoutNodes(new Set(out));
  const { family, size } = list.select(STATE.ready);
  assert.equal(family, 4);
  return Array.from({ length: size }, (_, i) => list.select(STATE.ready).addressAt(i).slice(7)).join(' ');
}

const TERMINATING = { ready: false, terminating: true };

describe('endpoints on nodes that do not answer', () => {
  const rows: readonly (readonly [
    what: string,
    nodes: readonly string[],
    out: readonly string[],
    ready: string,
    states?: Readonly<Record<number, object>>,
  ])[] = [
    ['of no such node', NODES, ['node-x'], '1 2 3 4'],
    ['of one node', NODES, ['node-c'], '1 2 3'],
    ['half of all', NODES, ['node-b'], '1 4'],
    ['more than half: the first ones', NODES, ['node-b', 'node-c'], '1 4'],
    ['all', ['node-b', 'node-b', 'node-c'], ['node-b', 'node-c'], '2 3'],
    ['the only one', ['node-b'], ['node-b'], '1'],
    ['one of two', ['node-b', 'node-c'], ['node-c'], '1'],
    ['half of the ready ones', NODES, ['node-b', 'node-c'], '1 4', { 1: TERMINATING }],
  ];
  for (const [what, nodes, out, expected, states] of rows)
    it(`${what}: ${expected} stay`, () => assert.equal(ready(nodes, out, states), expected));
});

const slice = (nodes: readonly string[]): ObjectChange => ({
  type: 'set',
  object: {
    ...{ kind: 'EndpointSlice', namespace: 'demo', name: 'web', serviceName: 'web', family: 4 },
    ...{ ports: [{ name: '', protocol: 'tcp', port: 8080 }], triggerTime: undefined },
    endpoints: endpointsOn(nodes),
  } as never,
});

const node = (name: string, address: string): ObjectChange => ({
  type: 'set',
  object: {
    ...{ kind: 'Node', name, uid: name, deleting: false, eligible: true, zone: '' },
    ...{ addresses: [address], podCIDRs: [] },
  },
});

it('a proxy watches the other nodes, plans the Services on one that does not answer again, and no other', async () => {
  let listener: ReachListener | undefined;
  const followed: string[][] = [];
  const others = Array.from({ length: 20 }, (_, i) => service(`other${i}`, `10.96.1.${i}`));
  const { kernel, proxy, pass, tell } = setUpWith(
    {
      watchNodes: async (given) => {
        listener = given;
        return { follow: (nodes) => followed.push([...nodes].flat(2)), close() {} };
      },
    },
    ...[service('web', '10.96.0.1'), slice(NODES), ...others],
    ...[node('node-a', '192.0.2.1'), node('node-b', '192.0.2.2')],
  );
  const servers = () =>
    Array.from(
      kernel.ipvs.dump().matchAll(/-a -t 10\.96\.0\.1:80 -r 10\.0\.0\.(\d)/g),
      ([, last]) => last,
    ).join(' ');
  await proxy.start();
  tell().synced();
  await pass();
  assert.equal(servers(), '1 2 3 4');
  assert.deepEqual(followed.at(-1), ['node-b', '192.0.2.2']);
  const tuple = {
    original: { destination: '10.96.0.1', destinationPort: 80 },
    reply: { source: '10.0.0.4' },
  };
  assert.equal(listener?.nodeOf({ protocol: 'tcp', ...tuple } as never), 'node-c');
  assert.equal(listener?.nodeOf({ protocol: 'udp', ...tuple } as never), undefined);
  const change = { node: 'node-b', address: '192.0.2.2', sign: 'neighbour' } as const;
  listener?.changed({ ...change, reachable: false });
  assert.equal((await pass()).services, 1);
  assert.equal(servers(), '1 4');
  tell().changed([slice([...NODES, 'node-b', 'node-d'])]);
  await pass();
  assert.equal(servers(), '1 4 6');
  listener?.changed({ ...change, reachable: true });
  assert.equal((await pass()).services, 1);
  assert.equal(servers(), '1 2 3 4 5 6');
});
