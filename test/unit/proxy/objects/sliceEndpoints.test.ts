// The endpoints of a slice in columns.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { decodeObject } from '../../../../src/proxy/objects/decode.js';
import { Interning } from '../../../../src/proxy/objects/interning.js';
import {
  conditionsOf,
  type SliceEndpoint,
  SliceEndpoints,
  SliceEndpointsBuilder,
} from '../../../../src/proxy/objects/sliceEndpoints.js';
import type { EndpointSlice } from '../../../../src/proxy/objects/types.js';
import { zoneColumn } from '../../../../src/proxy/objects/zoneColumn.js';

function endpoint(address: string, more: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return {
    address,
    ready: true,
    serving: true,
    terminating: false,
    nodeName: 'node-a',
    zoneHints: [],
    nodeHints: [],
    ...more,
  };
}

const ALL: Readonly<Record<4 | 6, readonly SliceEndpoint[]>> = {
  4: [
    endpoint('10.0.0.2', { zone: 'zone-b', zoneHints: ['zone-a', 'zone-b'] }),
    endpoint('10.0.0.9', { ready: false, zone: 'zone-a' }),
    endpoint('10.0.0.10', { ready: false, terminating: true, nodeHints: ['node-b'] }),
    endpoint('192.0.2.1', { serving: false, nodeName: '' }),
  ],
  6: [
    endpoint('::1', { nodeName: 'node-b' }),
    endpoint('fd00::1', { nodeHints: ['node-a'] }),
    endpoint('fd00:0:0:1::1', { zoneHints: ['zone-a'] }),
  ],
};

for (const family of [4, 6] as const) {
  describe(`IPv${family} endpoints`, () => {
    const all = ALL[family];

    it('are iterated as objects, sorted by address, whatever the order of the input', () => {
      for (const input of [all, [...all].reverse(), [...all.slice(1), ...all.slice(0, 1)]]) {
        const made = SliceEndpoints.of(family, input);
        assert.deepEqual([...made], all);
        assert.deepEqual(made.at(1), all[1]);
        assert.equal(made.size, all.length);
      }
    });

    it('equal those with the same values only', () => {
      const made = SliceEndpoints.of(family, all);
      assert.ok(isDeepStrictEqual(made, SliceEndpoints.of(family, [...all].reverse())));
      const changes: Partial<SliceEndpoint>[] = [
        { ready: !all[0]?.ready },
        { serving: false },
        { terminating: true },
        { nodeName: 'node-c' },
        { zone: 'zone-c' },
        { zoneHints: ['zone-c'] },
        { nodeHints: ['node-c'] },
        { address: family === 4 ? '10.0.0.1' : 'fd00::ffff' },
      ];
      for (const change of changes) {
        const [first, ...rest] = all as [SliceEndpoint, ...SliceEndpoint[]];
        const other = SliceEndpoints.of(family, [{ ...first, ...change }, ...rest]);
        assert.ok(!isDeepStrictEqual(made, other), Object.keys(change).join());
      }
    });

    it('of one family only', () => {
      const other = family === 4 ? 'fd00::1' : '10.0.0.1';
      assert.throws(() => SliceEndpoints.of(family, [endpoint(other)]), {
        name: 'RangeError',
        message: `SliceEndpoints.of: endpoint.address must be an IPv${family} address, found '${other}'`,
      });
    });
  });
}

describe('two endpoints with the same address', () => {
  const chosen = (nodeName: string, ...states: Partial<SliceEndpoint>[]) => {
    const builder = new SliceEndpointsBuilder(4);
    for (const state of states) {
      const { ready, serving, terminating, ...rest } = endpoint('10.0.0.1', state);
      builder.add('10.0.0.1', 80, () => ({ conditions: conditionsOf(ready, serving, terminating), ...rest }));
    }
    const made = builder.build(nodeName);
    assert.equal(made.size, 1);
    return made.at(0);
  };
  const cases: [rule: string, winner: Partial<SliceEndpoint>, loser: Partial<SliceEndpoint>][] = [
    ['not terminating', { ready: false, nodeName: 'node-b' }, { terminating: true }],
    ['on this node', { ready: false }, { nodeName: 'node-b' }],
    ['ready', {}, { ready: false }],
  ];
  for (const [rule, winner, loser] of cases) {
    it(`become the one that is ${rule}`, () => {
      for (const order of [
        [winner, loser],
        [loser, winner],
      ]) {
        assert.deepEqual(chosen('node-a', ...order), endpoint('10.0.0.1', winner));
      }
    });
  }

  it('become the first if nothing distinguishes them', () => {
    assert.deepEqual(chosen('', { nodeName: 'node-b' }, { nodeName: 'node-c' }).nodeName, 'node-b');
  });
});

describe('a slice', () => {
  const slice = (addresses: readonly string[]) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'demo', name: 'web-a', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: addresses.map((address) => ({ addresses: [address], nodeName: 'node-a' })),
  });
  const decoded = (raw: unknown, interning?: Interning) => {
    const { object, problems } = decodeObject(raw, undefined, interning);
    assert.deepEqual(problems, []);
    return object as EndpointSlice;
  };

  it('has its addresses at the port that its Service needs', () => {
    const { endpoints } = decoded(slice(['10.0.0.9', '10.0.0.10']));
    assert.deepEqual([...endpoints.addressPorts], ['10.0.0.9:8080', '10.0.0.10:8080']);
  });

  it('shares its conditions with slices of the same length', () => {
    const interning = new Interning();
    const [a, b] = [slice(['10.0.0.1', '10.0.0.2']), slice(['10.0.0.3', '10.0.0.4'])].map(
      (raw) => decoded(raw, interning).endpoints,
    );
    assert.equal(a?.conditions, b?.conditions);
    assert.equal(a?.zoneHints, undefined);
  });

  it('may have more endpoints than a call may have arguments', () => {
    const many = 200_000;
    const addresses = Array.from({ length: many }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    const { endpoints } = decoded(slice(addresses.toReversed()));
    assert.equal(endpoints.size, many);
    assert.equal(endpoints.at(many - 1).address, addresses.at(-1));
  });
});

describe('zones of endpoints', () => {
  const zonesOf = (zones: readonly string[]) => {
    const column = zoneColumn(zones, undefined);
    return zones.map((_, index) => column.at(index));
  };

  it('are those that were given, also if they are unknown, or hundreds', () => {
    for (const zones of [
      ['b', '', 'a', 'b'],
      Array.from({ length: 256 }, (_, i) => `z-${i}`),
      Array.from({ length: 60_000 }, (_, i) => (i % 7 === 0 ? '' : `z-${i}`)),
    ])
      assert.deepEqual(zonesOf(zones), zones);
  });

  it('beyond 65535 are unknown', () => {
    const zones = Array.from({ length: 65_540 }, (_, i) => `z-${String(i).padStart(5, '0')}`);
    assert.deepEqual(zonesOf(zones), [...zones.slice(0, 65_535), '', '', '', '', '']);
  });

  it('have one value for each zone', () => {
    const asked: string[] = [];
    const column = zoneColumn(['b', '', 'b', 'a'], undefined);
    const lengths = column.map((zone) => {
      asked.push(zone);
      return `${zone}!`;
    });
    assert.deepEqual(lengths, ['b!', '!', 'b!', 'a!']);
    assert.deepEqual([...new Set(asked)].sort(), ['', 'a', 'b']);
    assert.deepEqual(column.first(2).map(String), ['b', '']);
  });

  it('are read of slices, which share them, and an unreadable one stays as it was', () => {
    const interning = new Interning();
    const read = (first: unknown, former?: EndpointSlice) => {
      const { object, problems } = decodeObject(
        {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { namespace: 'demo', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } },
          addressType: 'IPv4',
          ports: [{ port: 80 }],
          endpoints: [
            { addresses: ['10.0.0.1'], ...(first === undefined ? {} : { zone: first }) },
            { addresses: ['10.0.0.2'], zone: 'zone-b' },
          ],
        },
        former && (() => former),
        interning,
      );
      return { slice: object as EndpointSlice, fields: problems.map(({ field }) => field) };
    };
    const before = read('zone-a');
    assert.deepEqual(before.fields, []);
    assert.deepEqual(
      [...before.slice.endpoints].map(({ zone }) => zone),
      ['zone-a', 'zone-b'],
    );
    assert.equal(read('zone-a').slice.endpoints.zones?.names, before.slice.endpoints.zones?.names);
    for (const wrong of [7, {}, 'no zone', 'x'.repeat(64)]) {
      const { slice, fields } = read(wrong, before.slice);
      assert.deepEqual(fields, ['endpoints[0].zone']);
      assert.equal(slice.endpoints.at(0).zone, 'zone-a');
      assert.equal(read(wrong).slice.endpoints.at(0).zone, undefined);
    }
    assert.equal('zone' in read(undefined, before.slice).slice.endpoints.at(0), false);
  });
});
