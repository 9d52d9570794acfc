import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AddressPorts } from '../../../../src/kernel/net/addressPorts.js';
import { categorizeEndpoints } from '../../../../src/proxy/services/categorizeEndpoints.js';
import type { Endpoint } from '../../../../src/proxy/services/endpointList.js';
import { endpointList } from '../../../support/clusters/endpoints.js';

const NODE = { name: 'node-a', zone: 'zone-a' };

/** The address of an endpoint `a` to `d`. */
function addressOf(name: string): string {
  return `10.0.0.${name.charCodeAt(0)}`;
}

/** `r` ready, `s` serving, `t` terminating, `L` local, `@zone-a` and `%node-a` hints. */
function endpoint(name: string, marks: string): Endpoint {
  const hints = (sign: string) =>
    marks
      .split(' ')
      .filter((mark) => mark.startsWith(sign))
      .map((mark) => mark.slice(1));
  const has = (mark: string) => marks.split(' ')[0]?.includes(mark) ?? false;
  return {
    address: addressOf(name),
    port: 80,
    ready: has('r'),
    serving: has('s'),
    terminating: has('t'),
    local: has('L'),
    zoneHints: hints('@'),
    nodeHints: hints('%'),
  };
}

const cases: [what: string, endpoints: Record<string, string>, cluster: string, local: string][] = [
  ['ready endpoints', { a: 'rs', b: 'rsL', c: 's', d: '' }, 'a b', 'b'],
  ['terminating endpoints if none is ready', { a: 'st', b: 'stL', c: 't', d: 'L' }, 'a b', 'b'],
  ['no terminating endpoints if any is ready', { a: 'rs', b: 'stL' }, 'a', 'b'],
  ['an endpoint that is ready and terminating', { a: 'rst' }, 'a', ''],
  ['no endpoints that are neither ready nor serving', { a: '', b: 'L' }, '', ''],
  [
    'those hinted for the zone if every ready endpoint has hints',
    { a: 'rs @zone-a', b: 'rsL @zone-b' },
    'a',
    'b',
  ],
  ['all if one has no hint', { a: 'rs @zone-a', b: 'rs' }, 'a b', ''],
  ['all if none is hinted for the zone', { a: 'rs @zone-b', b: 'rs @zone-c' }, 'a b', ''],
  ['those hinted for the zone if only unready endpoints have no hints', { a: 'rs @zone-a', b: 's' }, 'a', ''],
  [
    'those hinted for the node before those for the zone',
    { a: 'rs @zone-a %node-b', b: 'rs @zone-b %node-a' },
    'b',
    '',
  ],
  [
    'those hinted for the zone if none is hinted for the node',
    { a: 'rs @zone-a %node-b', b: 'rs @zone-b %node-c' },
    'a',
    '',
  ],
  ['terminating endpoints regardless of zone hints', { a: 'st @zone-b' }, 'a', ''],
];

describe('categorizeEndpoints selects', () => {
  for (const [what, marks, cluster, local] of cases) {
    it(what, () => {
      const endpoints = Object.entries(marks).map(([name, text]) => endpoint(name, text));
      const chosen = categorizeEndpoints(endpointList(4, endpoints), { cluster: true, local: true }, NODE);
      const names = (list: AddressPorts) =>
        Array.from({ length: list.size }, (_, i) =>
          String.fromCharCode(Number(list.addressAt(i).split('.')[3])),
        ).join(' ');
      assert.equal(names(chosen.clusterEndpoints), cluster);
      assert.equal(names(chosen.localEndpoints), local);
    });
  }

  it('nothing for an unused list', () => {
    const endpoints = [endpoint('a', 'rsL')];
    const chosen = categorizeEndpoints(endpointList(4, endpoints), { cluster: false, local: false }, NODE);
    assert.deepEqual([chosen.clusterEndpoints.size, chosen.localEndpoints.size], [0, 0]);
  });

  it('all if the zone of the node is unknown', () => {
    const endpoints = [endpoint('a', 'rs @zone-a'), endpoint('b', 'rs @zone-b')];
    const chosen = categorizeEndpoints(
      endpointList(4, endpoints),
      { cluster: true, local: false },
      { name: 'node-a', zone: '' },
    );
    assert.equal(chosen.clusterEndpoints.size, 2);
  });
});
