// Messages of rtnetlink → values: captured replies, messages that the library writes, and malformed ones.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { NetlinkError } from '../../../../src/errors.js';
import {
  encodeAddress,
  encodeListAddresses,
  readAddress,
} from '../../../../src/kernel/rtnetlink/addresses/codec.js';
import {
  encodeBridgeVlan,
  encodeListBridgeVlans,
  readBridgeVlans,
} from '../../../../src/kernel/rtnetlink/bridgeVlans/codec.js';
import {
  encodeForwardingEntry,
  readForwardingEntry,
} from '../../../../src/kernel/rtnetlink/forwarding/codec.js';
import { MESSAGE } from '../../../../src/kernel/rtnetlink/layouts.js';
import { indexOf, readLink, readName } from '../../../../src/kernel/rtnetlink/links/read.js';
import {
  encodeLinkStatistics,
  readLinkStatistics,
} from '../../../../src/kernel/rtnetlink/links/statistics.js';
import { encodeNewLink, encodeSettings } from '../../../../src/kernel/rtnetlink/links/write.js';
import { type Message, type MessageWriter, messagesOf } from '../../../../src/kernel/rtnetlink/message.js';
import { encodeNamespaceId, readNamespaceId } from '../../../../src/kernel/rtnetlink/namespaces/codec.js';
import { encodeNeighbour, readNeighbour } from '../../../../src/kernel/rtnetlink/neighbours/codec.js';
import { encodeNextHop, readNextHop } from '../../../../src/kernel/rtnetlink/nexthops/codec.js';
import { readRoute } from '../../../../src/kernel/rtnetlink/routes/read.js';
import { encodeRoute } from '../../../../src/kernel/rtnetlink/routes/write.js';
import { encodeRule, readRule } from '../../../../src/kernel/rtnetlink/rules/codec.js';
import type {
  Link,
  LinkAddress,
  NewLinkAddress,
  NewNeighbour,
  NewNextHopObject,
  NewRoute,
  NewRule,
} from '../../../../src/kernel/rtnetlink/types.js';
import { HOST_IS_LITTLE } from '../../../../src/kernel/shared/wire/messages.js';
import { ROOT } from '../../../support/paths.js';
import { HEADER, listed, NAMES, only, withHeader } from '../../../support/tables/rtnetlink/messages.js';

const capture = (name: string) =>
  new Uint8Array(readFileSync(join(ROOT, `test/native/captures/route-${name}`)));
const LINKS = capture('links.reply');
/** Names of links by index, as those captures have them; and of messages that the library writes. */
const CAPTURED_NAMES = new Map([
  [0, 'va'],
  [1, 'lo'],
  [3, 'knp0'],
  [4, 'kube-ipvs0'],
]);
const ADDRESS: NewLinkAddress = {
  ...{ link: 'va', address: '10.0.0.1', prefix: 24, peer: '10.0.0.2', broadcast: '10.0.0.255' },
  ...{ scope: 'link', flags: ['home', 'noprefixroute'], label: 'va:1', metric: 300, protocol: 200 },
  ...{ validLifetime: 120, preferredLifetime: 60 },
};
const ADDRESS6: NewLinkAddress = {
  ...{ link: 'va', address: '::ffff:10.0.0.1', prefix: 128, flags: ['nodad'], protocol: 'kernel_ra' },
};
const ROUTE: NewRoute = {
  destination: '10.9.0.0/16',
  table: 1000,
  protocol: 'static',
  scope: 'site',
  metric: 9,
  preferredSource: '10.1.0.1',
  flags: ['onlink', 'pervasive'],
  tos: 16,
  gateway: 'fd01::2',
  metrics: { mtu: 1400, locked: ['mtu'], congestionControl: 'reno' },
};
const ROUTE6: NewRoute = {
  destination: 'fd09::/64',
  source: 'fd03::/64',
  preference: 'high',
  nextHops: [
    { gateway: 'fd01::2', weight: 3 },
    { gateway: 'fd01::3', flags: ['onlink'] },
  ],
};
const RULE: NewRule = {
  priority: 777,
  from: '10.0.0.0/8',
  to: '10.1.0.0/16',
  invert: true,
  mark: { value: 3, mask: 255 },
  inputLink: 'va',
  uids: { first: 5, last: 6 },
  destinationPorts: { first: 80, last: 90 },
  suppressPrefixLength: 3,
  table: 1000,
};
const NEIGHBOUR: NewNeighbour = {
  link: 'va',
  address: 'fd01::9',
  hardwareAddress: '02:00:00:00:00:09',
  state: 'stale',
  flags: ['router', 'managed'],
  protocol: 'static',
};

/** Nexthop objects, each of which is read as it is written. */
const NEXT_HOPS: Readonly<Record<string, NewNextHopObject>> = {
  'a nexthop': {
    ...{ id: 0xffff_ffff, protocol: 'static', link: 'va', gateway: '10.0.0.2', family: 4, flags: ['onlink'] },
  },
  'a nexthop of IPv6': { id: 7, link: 'va', gateway: 'fd00::2', family: 6, protocol: 'bird', flags: [] },
  'a blackhole': { id: 7, blackhole: true, family: 6, protocol: 'unspec', flags: [] },
  'a nexthop of an FDB': { id: 7, fdb: true, gateway: '10.0.0.2', family: 4, protocol: 'unspec', flags: [] },
  'a group of nexthops': {
    ...{ id: 7, protocol: 'unspec', flags: [], fdb: true },
    group: [
      { id: 1, weight: 65_535 },
      { id: 0xffff_fffe, weight: 1 },
    ],
    resilient: { buckets: 65_535, idleTimer: 1.5, unbalancedTimer: 0 },
  },
};
/** Links with every setting of their kind: each is read as it is written. Link 0 is va. */
const KINDS: Readonly<Record<string, Parameters<typeof encodeNewLink>>> = {
  'a bond': [
    'b',
    'bond',
    {
      bond: {
        ...{ mode: 'active-backup', activePort: 'va', miiInterval: 1, upDelay: 2, downDelay: 3 },
        ...{
          useCarrier: false,
          arpInterval: 4,
          arpTargets: ['10.0.0.1', '10.0.0.2'],
          arpValidation: 'filter',
        },
        ...{ arpAllTargets: 'all', arpMissedMax: 5, nsTargets: ['fd00::1'], primary: 'va' },
        ...{ primaryReselection: 'failure', failOverMac: 'follow', hashPolicy: 'vlan+srcmac' },
        ...{ resendIgmp: 6, peerNotifications: 7, peerNotificationDelay: 8, allPortsActive: true },
        ...{ minLinks: 9, learnPacketInterval: 10, packetsPerPort: 11, lacpRate: 'fast', lacpActive: true },
        ...{ aggregatorSelection: 'count', actorSystemPriority: 12, actorSystem: '02:00:00:00:00:0d' },
        ...{ userPortKey: 13, dynamicLoadBalancing: true, coupledControl: false, broadcastNeighbour: true },
      },
    },
  ],
  'a VXLAN over IPv4': [
    'x',
    'vxlan',
    {
      vxlan: {
        ...{ id: 0x123456, remote: '10.0.0.2', local: '10.0.0.1', link: 'va', port: 4789 },
        ...{ sourcePorts: { first: 1000, last: 2000 }, ttl: 9, tos: 4, dontFragment: 'inherit' },
        ...{ learning: false, ageingTime: 60, addressLimit: 5, proxy: true, routeShortCircuit: true },
        ...{ l2Miss: true, l3Miss: true, udpChecksum: false, remoteChecksumTx: true, remoteChecksumRx: true },
        ...{ remoteChecksumNoPartial: true, groupPolicy: true, localBypass: false, multicastRouting: true },
        reservedBits: 0x0102_0304_0506_0708n,
      },
    },
  ],
  'a VXLAN over IPv6': [
    'x',
    'vxlan',
    {
      vxlan: {
        ...{ external: true, vniFilter: true, remote: 'fd00::2', local: 'fd00::1', ttl: 'inherit' },
        ...{ flowLabel: 0x12345, flowLabelPolicy: 'inherit', genericProtocol: true },
        ...{ udp6ZeroChecksumTx: true, udp6ZeroChecksumRx: true },
      },
    },
  ],
  'a macvlan': [
    'm',
    'macvlan',
    {
      link: 'va',
      macvlan: {
        ...{ mode: 'source', flags: ['nopromisc', 'nodst'], broadcastQueueLength: 5, broadcastCutoff: -1 },
        sources: ['02:00:00:00:00:01', '02:00:00:00:00:02'],
      },
    },
  ],
  'a macvtap': ['m', 'macvtap', { link: 'va', macvtap: { mode: 32, flags: [], sources: [] } }],
  'an ipvlan': ['i', 'ipvlan', { link: 'va', ipvlan: { mode: 'l3s', flags: ['private'] } }],
  'an ipvtap': ['i', 'ipvtap', { link: 'va', ipvtap: { mode: 'l2', flags: ['vepa'] } }],
  'a VRF': ['r', 'vrf', { vrf: { table: 'main' } }],
};
const readNamed = (message: Message) => readLink(message, CAPTURED_NAMES);
/** A message about the counters of lo, of a kernel that has so many of them. */
function statistics(count: number): Uint8Array {
  const writer = encodeLinkStatistics(1);
  return listed(
    writer.attribute(1, () => {
      for (let i = 1; i <= count; i++) writer.u64(2n ** 53n + BigInt(i));
    }),
  );
}

/** Messages of each kind with their readers. */
const SAMPLES: Readonly<Record<string, readonly [bytes: Uint8Array, read: (message: Message) => unknown]>> = {
  'captured links': [LINKS, (message) => [indexOf(message), readName(message), readLink(message, NAMES)]],
  'a bridge': [
    listed(encodeNewLink('br', 'bridge', { bridge: { forwardDelay: 5, noLinkLocalLearning: true } })),
    (message) => readLink(message, NAMES),
  ],
  'a VLAN': [
    listed(encodeNewLink('v', 'vlan', { link: 'va', vlan: { id: 5, gvrp: true, egressQosMap: [[1, 2]] } })),
    (message) => readLink(message, NAMES),
  ],
  ...Object.fromEntries(
    Object.entries(KINDS).map(([title, link]) => [
      title,
      [listed(encodeNewLink(...link)), readNamed] as const,
    ]),
  ),
  'a port of a bond': [listed(encodeSettings('va', { bondPort: { queueId: 3, priority: -2 } })), readNamed],
  ...Object.fromEntries(
    Object.entries(NEXT_HOPS).map(([title, object]) => [
      title,
      [
        listed(encodeNextHop('add', object)),
        (message: Message) => readNextHop(message, CAPTURED_NAMES),
      ] as const,
    ]),
  ),
  'VLANs of a port': [
    listed(encodeBridgeVlan('add', { link: 'va', vlan: 5, lastVlan: 6, untagged: true, self: true })),
    (message) => [...readBridgeVlans(message, CAPTURED_NAMES)],
  ],
  'an entry of a VXLAN': [
    listed(
      encodeForwardingEntry('add', {
        ...{
          link: 'va',
          hardwareAddress: '02:00:00:00:00:01',
          destination: '192.0.2.7',
          port: 4790,
          vni: 43,
        },
        ...{ outputLink: 'va', sourceVni: 44, vlan: 5, flags: ['sticky', 'locked'] },
      }),
    ),
    (message) => readForwardingEntry(message, CAPTURED_NAMES),
  ],
  counters: [statistics(25), (message) => readLinkStatistics(message, NAMES)],
  'captured addresses': [capture('addresses4.reply'), (message) => readAddress(message, CAPTURED_NAMES)],
  'an address of IPv4': [
    listed(encodeAddress('add', ADDRESS)),
    (message) => readAddress(message, CAPTURED_NAMES),
  ],
  'an address of IPv6': [
    listed(encodeAddress('add', ADDRESS6)),
    (message) => readAddress(message, CAPTURED_NAMES),
  ],
  'a route of IPv4': [listed(encodeRoute('add', ROUTE)), (message) => readRoute(message, NAMES)],
  'a route of IPv6': [listed(encodeRoute('add', ROUTE6)), (message) => readRoute(message, NAMES)],
  'a rule': [listed(encodeRule('add', RULE)), (message) => readRule(message, NAMES)],
  'a neighbour': [listed(encodeNeighbour('add', NEIGHBOUR)), (message) => readNeighbour(message, NAMES)],
  'captured ids of network namespaces': [capture('namespace-ids.reply'), readNamespaceId],
  'an id of a network namespace': [listed(encodeNamespaceId({ netns: 4711, id: 7 })), readNamespaceId],
};

describe('messages that are well-formed', () => {
  it('reads captured links as ip shows them', () => {
    const links = [...messagesOf(LINKS, 'rtnetlink.test')].map((message) => readLink(message, NAMES));
    assert.deepEqual(
      links.map(({ index, name, kind, mtu, up, state, address, minMtu, txQueues }) =>
        [index, name, kind, mtu, up, state, address, minMtu, txQueues].join(' '),
      ),
      [
        '1 lo  65536 true unknown 00:00:00:00:00:00 0 1',
        '2 nlmon0 nlmon 3776 true unknown  16 1',
        '3 knp0 veth 1500 true up 02:f9:3f:81:3b:07 68 2',
        '4 kube-ipvs0 dummy 1500 false down 8a:13:4c:aa:64:dc 0 1',
      ],
    );
    assert.deepEqual(links[3]?.flags, ['broadcast', 'noarp']);
    assert.deepEqual([links[0]?.queueingDiscipline, links[3]?.queueingDiscipline], ['noqueue', 'noop']);
    assert.deepEqual(
      links.map(({ addressGeneration }) => addressGeneration),
      Array(4).fill('eui64'),
    );
    // The other end of knp0 is in another namespace, where 2 is its index; here it is that of nlmon0.
    assert.deepEqual([links[2]?.linkIndex, links[2]?.link], [2, undefined]);
  });

  for (const [kind, sample, expected] of [
    ['an address of IPv4', 'an address of IPv4', ADDRESS],
    ['an address of IPv6', 'an address of IPv6', ADDRESS6],
    ['a route of IPv4', 'a route of IPv4', ROUTE],
    ['a route of IPv6', 'a route of IPv6', ROUTE6],
    ['a rule', 'a rule', RULE],
    ['a neighbour', 'a neighbour', { ...NEIGHBOUR, link: '' }],
  ] as const) {
    it(`reads ${kind} as it was written`, () => {
      const [bytes, read] = SAMPLES[sample] ?? assert.fail();
      const value = only(bytes, read) as Record<string, unknown>;
      const given = { ...expected } as Record<string, unknown>;
      if (sample === 'a route of IPv6') {
        given['nextHops'] = [
          { gateway: 'fd01::2', weight: 3, flags: [] },
          { gateway: 'fd01::3', weight: 1, flags: ['onlink'] },
        ];
      }
      for (const [field, held] of Object.entries(given)) {
        const actual = value[field];
        const sorted = (list: unknown) =>
          Array.isArray(list) && field === 'flags' ? [...list].sort() : list;
        assert.deepEqual(sorted(actual), sorted(held), field);
      }
    });
  }
});

describe('links of a kind', () => {
  for (const [title, [name, kind, settings]] of Object.entries(KINDS)) {
    it(`are read as they are written: ${title}`, () => {
      const link = only(listed(encodeNewLink(name, kind, settings)), readNamed);
      assert.equal(link.kind, kind);
      const field = kind as 'bond';
      assert.deepEqual(link[field], settings?.[field]);
      // The same in a change, which names the kind too.
      const changed = only(
        listed(encodeSettings('va', { [field]: settings?.[field] ?? assert.fail() })),
        readNamed,
      );
      assert.deepEqual([changed.kind, changed[field]], [kind, settings?.[field]]);
    });
  }

  it('that is a port', () => {
    const port = only(listed(encodeSettings('va', { bondPort: { queueId: 3, priority: -2 } })), readNamed);
    assert.deepEqual(port.bondPort, { queueId: 3, priority: -2 });
  });

  it('of the kind tun are read, and not created', () => {
    const writer = encodeNewLink('t', 'dummy');
    writer.attribute(18, () => {
      writer.attribute(1, () => writer.bytes(Buffer.from('tun\0')));
      writer.attribute(2, () => {
        for (const [type, value] of [
          [1, 1000],
          [2, 1001],
          [8, 2],
          [9, 1],
        ] as const)
          writer.attribute(type, () => writer.u32(value));
        for (const [type, value] of [
          [3, 2],
          [4, 0],
          [5, 1],
          [6, 1],
          [7, 1],
        ] as const)
          writer.attribute(type, () => writer.u8(value));
      });
    });
    const expected: Link['tun'] = {
      ...{ owner: 1000, group: 1001, queues: 2, disabledQueues: 1, type: 'tap' },
      ...{ packetHeader: false, vnetHeader: true, persistent: true, multiQueue: true },
    };
    assert.deepEqual(only(listed(writer), readNamed).tun, expected);
    const { invalid } = encodeNewLink('t', 'tun').check;
    assert.match(`${invalid?.field} ${invalid?.rule}`, /^kind must not be tun: .* \/dev\/net\/tun$/);
  });

  it('are refused without what they need, and with settings that exclude one another', () => {
    const faults = [
      encodeNewLink('x', 'vxlan'),
      encodeNewLink('x', 'vxlan', { vxlan: {} }),
      encodeNewLink('x', 'vxlan', { vxlan: { id: 5, external: true } }),
      encodeNewLink('r', 'vrf', { vrf: {} }),
      encodeNewLink('m', 'macvlan', { link: 'va', ipvlan: {} }),
      encodeNewLink('i', 'ipvtap'),
      encodeSettings('va', { bond: {}, vxlan: {} }),
      encodeSettings('va', { bondPort: {}, bridgePort: {} }),
      encodeSettings('va', { vxlan: { sourcePorts: { first: 2, last: 1 } } }),
      encodeSettings('va', { bond: { arpTargets: ['fd00::1'] } }),
      encodeSettings('va', { bond: { arpTargets: Array(17).fill('10.0.0.1') } }),
      encodeSettings('va', { macvlan: { sources: ['02:00'] } }),
      encodeSettings('va', { macvlan: { flags: ['bit_5'] } }),
      encodeSettings('va', { vxlan: { ttl: 256 } }),
    ].map(({ check }) => `${check.invalid?.field} ${check.invalid?.rule}`.slice(0, 60));
    assert.deepEqual(faults, [
      'settings.vxlan must be given: a VXLAN without external has an id'.slice(0, 60),
      'settings.vxlan.id must be given: a VXLAN without external ha',
      'settings.vxlan.external excludes id',
      'settings.vrf.table must be given: a VRF has a table',
      'settings.ipvlan is of the kind ipvlan',
      'settings.link must be the name of the link below a ipvtap',
      'settings.vxlan excludes bond',
      'settings.bondPort excludes bridgePort',
      'settings.vxlan.sourcePorts must be a range of ports: { first',
      'settings.bond.arpTargets must be an array of at most 16 IPv4',
      'settings.bond.arpTargets must be an array of at most 16 IPv4',
      'settings.macvlan.sources must be an array of hardware addres',
      'settings.macvlan.flags must be an array of flags among nopro',
      'settings.vxlan.ttl must be an integer from 0 to 255, or inhe',
    ]);
  });
});

describe('nexthop objects', () => {
  for (const [title, object] of Object.entries(NEXT_HOPS)) {
    it(`are read as they are written: ${title}`, () => {
      const read = only(listed(encodeNextHop('add', object)), (message) =>
        readNextHop(message, CAPTURED_NAMES),
      );
      assert.deepEqual(read, { scope: 'global', ...object });
      // What was listed may be written, and deleted.
      assert.deepEqual(listed(encodeNextHop('add', read)), listed(encodeNextHop('add', object)));
      const deleted = only(listed(encodeNextHop('delete', read)), (message) => readNextHop(message, NAMES));
      assert.deepEqual([deleted.id, deleted.link, deleted.group], [object.id, undefined, undefined]);
    });
  }

  it('by a link without a known name have its index', () => {
    const bytes = listed(encodeNextHop('add', { id: 7, link: 99 }));
    assert.equal(only(bytes, (message) => readNextHop(message, NAMES)).link, 99);
  });

  it('show attributes that are unknown, and are not written with them', () => {
    const writer = encodeNextHop('add', { id: 7, link: 'va' });
    writer.attribute(7, () => writer.u16(1)); // NHA_ENCAP_TYPE
    writer.attribute(3, () => writer.u16(9)); // NHA_GROUP_TYPE
    const read = only(listed(writer), (message) => readNextHop(message, CAPTURED_NAMES));
    assert.deepEqual(
      read.attributes?.map(({ type }) => type),
      [7, 3],
    );
    assert.equal(encodeNextHop('add', read).check.invalid?.field, 'nextHop.attributes');
    assert.equal(encodeNextHop('delete', read).check.invalid, undefined);
  });

  it('are refused without what they need, and with what they exclude', () => {
    const faults = [
      { id: 0, link: 'va' },
      { id: 7 },
      { id: 7, blackhole: true, link: 'va' },
      { id: 7, fdb: true },
      { id: 7, fdb: true, gateway: '10.0.0.1', link: 'va' },
      { id: 7, group: [], link: 'va' },
      { id: 7, group: [] },
      { id: 7, group: [{ id: 1, weight: 65_536 }] },
      { id: 7, link: 'va', resilient: {} },
      { id: 7, group: [{ id: 1 }], resilient: { buckets: 0 } },
      { id: 7, link: 'va', family: 4, gateway: 'fd00::1' },
    ].map((object) => {
      const { invalid } = encodeNextHop('add', object as never).check;
      return `${invalid?.field} ${invalid?.rule}`.slice(0, 50);
    });
    assert.deepEqual(faults, [
      'nextHop.id must be an integer from 1 to 4294967295',
      'nextHop.link must be given, or another of link, gr',
      'nextHop.link excludes blackhole',
      'nextHop.gateway must be given with fdb',
      'nextHop.link excludes fdb',
      'nextHop.link excludes group',
      'nextHop.group must be an array of nexthops',
      'nextHop.group[0].weight must be an integer from 1 ',
      'nextHop.group must be given with resilient',
      'nextHop.resilient.buckets must be an integer from ',
      'nextHop.gateway must be an IPv4 address',
    ]);
  });
});

describe('VLANs of bridges', () => {
  it('are written and read, of a port and of a bridge', () => {
    const writer = encodeBridgeVlan('add', { link: 'va', vlan: 5, pvid: true, untagged: true });
    const read = (bytes: Uint8Array) =>
      only(bytes, (message) => [...readBridgeVlans(message, CAPTURED_NAMES)]);
    // Without the master, it would be that of link 0 itself.
    const port = { link: 'va', vlan: 5, self: true, pvid: true, untagged: true };
    assert.deepEqual(read(listed(writer)), [port]);
    const member = encodeListBridgeVlans();
    member.attribute(10, () => member.u32(3)); // IFLA_MASTER
    member.attribute(26, () => {
      member.attribute(2, () => member.u16(4).u16(4094));
      member.attribute(99, () => member.u32(1));
      member.attribute(2, () => member.u16(0).u16(1));
    });
    assert.deepEqual(read(listed(member)), [
      { link: 'va', vlan: 4094, self: false, pvid: false, untagged: true },
      { link: 'va', vlan: 1, self: false, pvid: false, untagged: false },
    ]);
    assert.deepEqual(
      only(listed(member), (message) => [...readBridgeVlans(message, new Map())]),
      [],
    );
  });

  it('that are several are written as a range', () => {
    const bytes = listed(encodeBridgeVlan('delete', { link: 'va', vlan: 5, lastVlan: 7 }));
    const infos = only(bytes, (message) => [...readBridgeVlans(message, CAPTURED_NAMES)]);
    assert.deepEqual(
      infos.map(({ vlan }) => vlan),
      [5, 7],
    );
    const single = listed(encodeBridgeVlan('delete', { link: 'va', vlan: 5, lastVlan: 5 }));
    assert.deepEqual(single, listed(encodeBridgeVlan('delete', { link: 'va', vlan: 5 })));
  });
});

describe('entries of forwarding databases', () => {
  const entry = {
    link: 'va',
    hardwareAddress: '02:00:00:00:00:01',
    destination: 'fd00::1',
    flags: [],
  } as const;
  const read = (writer: MessageWriter) =>
    only(listed(writer), (message) => readForwardingEntry(message, CAPTURED_NAMES));

  it('are written and read', () => {
    assert.deepEqual(
      read(
        encodeForwardingEntry('add', {
          ...{
            ...entry,
            hardwareAddress: '2:0:0:0:0:F',
            port: 4790,
            vni: 43,
            outputLink: 'va',
            sourceVni: 44,
          },
          ...{ vlan: 5, state: 'dynamic', flags: ['locked', 'sticky'], protocol: 'static' },
        }),
      ),
      {
        ...{
          ...entry,
          hardwareAddress: '02:00:00:00:00:0f',
          port: 4790,
          vni: 43,
          outputLink: 'va',
          sourceVni: 44,
        },
        ...{ vlan: 5, state: 'dynamic', flags: ['sticky', 'locked'], protocol: 'static', master: false },
      },
    );
    assert.deepEqual(read(encodeForwardingEntry('delete', { ...entry, state: 'static', nextHopId: 7 })), {
      ...{ ...entry, state: 'permanent', master: false },
    });
  });

  it('have a master that is not the link, unless the link is the bridge', () => {
    const withMaster = (master: number) => {
      const writer = encodeForwardingEntry('add', entry);
      writer.attribute(9, () => writer.u32(master)); // NDA_MASTER
      writer.attribute(3, () => writer.u32(0).u32(100).u32(250).u32(0)); // NDA_CACHEINFO
      writer.attribute(99, () => writer.u32(1));
      return read(writer);
    };
    const more = { ...entry, state: 'permanent', used: 1, updated: 2.5 };
    const attributes = [{ type: 99, value: new Uint8Array([1, 0, 0, 0]) }];
    assert.deepEqual(withMaster(3), { ...more, master: true, attributes });
    assert.deepEqual(withMaster(0), { ...more, master: false, attributes });
    const invalid = encodeForwardingEntry('add', { ...entry, ...{ attributes } }).check.invalid;
    assert.equal(invalid?.field, 'entry.attributes');
  });
});

describe('counters', () => {
  it('are exact above 2^53, and end where those of the kernel end', () => {
    const read = (count: number) => only(statistics(count), (message) => readLinkStatistics(message, NAMES));
    const whole = read(26) ?? assert.fail();
    assert.deepEqual([whole.link, whole.index, whole.rxPackets], ['lo', 1, 2n ** 53n + 1n]);
    assert.deepEqual([whole.txCompressed, whole.rxNoHandler], [2n ** 53n + 23n, 2n ** 53n + 24n]);
    assert.equal(whole.rxOtherHostDropped, 2n ** 53n + 25n);
    assert.ok(!Object.hasOwn(read(24) ?? assert.fail(), 'rxOtherHostDropped'));
    assert.throws(() => read(23), { code: 'ERR_MALFORMED_REPLY' });
  });

  it('of a link that is not named are left out, and a message without them is malformed', () => {
    assert.equal(
      only(statistics(25), (message) => readLinkStatistics(message, new Map())),
      undefined,
    );
    assert.throws(
      () => only(listed(encodeLinkStatistics(1)), (message) => readLinkStatistics(message, NAMES)),
      { code: 'ERR_MALFORMED_REPLY' },
    );
  });
});

describe('addresses', () => {
  /** `ip` looks the link up, and asks for an acknowledgement: the addon does both. */
  const sent = (name: string, writer: MessageWriter) => {
    const expected = capture(`${name}.request`);
    const ours = listed(writer);
    const [given, written] = [expected, ours].map((bytes) => only(bytes, (message) => message));
    assert.equal(written?.type, given?.type, name);
    new DataView(ours.buffer).setUint32(HEADER + 4, 4, HOST_IS_LITTLE); // ifa_index of kube-ipvs0
    assert.deepEqual(ours.subarray(HEADER), expected.subarray(HEADER), name);
  };

  it('are written as ip writes them', () => {
    const link = 'kube-ipvs0';
    const id = { link, address: '10.96.0.1', prefix: 32 };
    const id6 = { link, address: 'fd00:10:96::1', prefix: 128 };
    sent('add-address', encodeAddress('add', id));
    sent('add-address-prefix', encodeAddress('replace', { link, address: '10.96.0.2', prefix: 24 }));
    sent('add-address6', encodeAddress('add', id6));
    sent('delete-address', encodeAddress('delete', id));
    sent('delete-address6', encodeAddress('delete', id6));
  });

  const read = (name: string, names = CAPTURED_NAMES) =>
    [...messagesOf(capture(name), 'rtnetlink.test')].map((message) => readAddress(message, names));
  const short = (found: readonly (LinkAddress | undefined)[]) =>
    found.map((each) => each && `${each.link} ${each.address}/${each.prefix} ${each.scope} ${each.flags}`);

  it('are read as ip shows them', () => {
    assert.deepEqual(short(read('addresses4.reply')), [
      'lo 127.0.0.1/8 host permanent',
      'lo 10.96.7.1/32 global permanent',
      'knp0 10.0.7.1/24 global permanent',
      'kube-ipvs0 10.96.0.1/32 global permanent',
      'kube-ipvs0 10.96.0.2/24 global permanent',
    ]);
    assert.deepEqual(
      read('addresses4.reply').map((each) => each?.label),
      ['lo', 'lo', 'knp0', 'kube-ipvs0', 'kube-ipvs0'],
    );
    assert.deepEqual(short(read('addresses6.reply')), [
      'lo ::1/128 host permanent',
      'knp0 fe80::f9:3fff:fe81:3b07/64 link permanent',
      'kube-ipvs0 fd00:10:96::1/128 global permanent',
    ]);
  });

  it('of another link than those that are named are left out: an old kernel lists all of them', () => {
    const found = read('addresses4.reply', new Map([[1, 'lo']]));
    assert.deepEqual(
      short(found).filter((each) => each !== undefined),
      ['lo 127.0.0.1/8 host permanent', 'lo 10.96.7.1/32 global permanent'],
    );
    const record = encodeListAddresses(7).finish();
    assert.equal(
      new DataView(record.buffer, record.byteOffset).getUint32(MESSAGE.SIZE + 4, HOST_IS_LITTLE),
      7,
    );
  });

  it('of another family are left out', () => {
    const bytes = listed(encodeAddress('add', ADDRESS));
    bytes[HEADER] = 45; // AF_MCTP
    assert.equal(
      only(bytes, (message) => readAddress(message, CAPTURED_NAMES)),
      undefined,
    );
  });

  it('of an unexpected width, without an address, or with too long a prefix are malformed', () => {
    const broken = (change: (bytes: Uint8Array) => void) => {
      const bytes = listed(encodeAddress('add', { link: 'va', address: '10.0.0.1', prefix: 24 }));
      change(bytes);
      return () => only(bytes, (message) => readAddress(message, CAPTURED_NAMES));
    };
    const code = { code: 'ERR_MALFORMED_REPLY' };
    assert.throws(
      broken((bytes) => bytes.set([10], HEADER)),
      code,
    ); // ifa_family: AF_INET6
    assert.throws(
      broken((bytes) => bytes.set([33], HEADER + 1)),
      code,
    ); // ifa_prefixlen
    const without = withHeader(20, new Uint8Array([2, 24, 0, 0, 0, 0, 0, 0]));
    assert.throws(() => only(without, (message) => readAddress(message, CAPTURED_NAMES)), code);
  });

  it('have lifetimes of a kernel that says more of them, and not of one that says less', () => {
    const lifetimes = (words: number) => {
      const writer = encodeAddress('add', { link: 'va', address: '10.0.0.1', prefix: 24 });
      writer.attribute(6, () => [60, 120, 0, 0, 9].slice(0, words).map((word) => writer.u32(word)));
      return only(listed(writer), (message) => readAddress(message, CAPTURED_NAMES));
    };
    const { validLifetime, preferredLifetime } = lifetimes(5) ?? assert.fail();
    assert.deepEqual([validLifetime, preferredLifetime], [120, 60]);
    assert.throws(() => lifetimes(1), { code: 'ERR_MALFORMED_REPLY' });
  });
});

describe('messages that are malformed', () => {
  /** Reads all messages: the number of values, or 0 after an error, which must be the one for malformed replies. */
  function attempt(bytes: Uint8Array, read: (message: Message) => unknown, note: () => string): number {
    let values = 0;
    try {
      for (const message of messagesOf(bytes, 'rtnetlink.test')) {
        read(message);
        values += 1;
      }
    } catch (error) {
      const known = error instanceof NetlinkError && error.code === 'ERR_MALFORMED_REPLY';
      assert.ok(known, `${note()}: ${error instanceof Error ? error.stack : String(error)}`);
      assert.equal(error.operation, 'rtnetlink.test');
      return 0;
    }
    return values;
  }

  for (const [kind, [bytes, read]] of Object.entries(SAMPLES)) {
    it(`cut at every length: ${kind}`, () => {
      const [first] = messagesOf(bytes, 'rtnetlink.test');
      assert.ok(first);
      const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, HOST_IS_LITTLE);
      let refused = 0;
      for (let length = 1; length < size; length++) {
        const cut = bytes.slice(0, length);
        if (attempt(cut, read, () => `cut to ${length}`) === 0) refused += 1;
        if (length < HEADER) continue;
        // The same with the length in the header.
        attempt(withHeader(first.type, bytes.slice(HEADER, length)), read, () => `payload cut at ${length}`);
      }
      assert.equal(refused, size - 1);
    });

    it(`every length that an attribute may claim: ${kind}`, () => {
      const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, HOST_IS_LITTLE);
      for (let at = HEADER; at + 2 <= size; at += 2) {
        for (const length of [0, 1, 3, 4, 5, 7, 8, 20, 0x7fff, 0xffff]) {
          const changed = bytes.slice(0, size);
          new DataView(changed.buffer).setUint16(at, length, HOST_IS_LITTLE);
          attempt(changed, read, () => `${length} at ${at}`);
        }
      }
    });

    it(`random bytes: ${kind}`, () => {
      let state = 1;
      const random = (below: number) => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
        return (state >> 8) % below;
      };
      let values = 0;
      for (let round = 0; round < 3000; round++) {
        const changed = bytes.slice();
        for (let i = random(8); i >= 0; i--) changed[random(changed.length)] = random(round % 2 ? 256 : 40);
        values += attempt(changed, read, () => `round ${round}`);
      }
      assert.ok(values > 500, `${values} values`);
    });
  }

  it('an attribute that is too short names message and attribute', () => {
    const [bytes, read] = SAMPLES['a neighbour'] ?? assert.fail();
    const changed = bytes.slice();
    new DataView(changed.buffer).setUint16(HEADER + 12, 6, HOST_IS_LITTLE); // NDA_DST, the first attribute
    assert.throws(() => only(changed, read), {
      message:
        /^ERR_MALFORMED_REPLY: rtnetlink\.test: message 28: attribute 1: the value has 2 bytes, expected at least 16$/,
    });
    const inner = listed(encodeNewLink('br', 'bridge', { bridge: { priority: 1 } }));
    const place = inner.length - 8; // IFLA_BR_PRIORITY in IFLA_INFO_DATA in IFLA_LINKINFO
    new DataView(inner.buffer).setUint16(place, 5, HOST_IS_LITTLE);
    assert.throws(
      () => only(inner, (message) => readLink(message, NAMES)),
      /message 16: attribute 18, 2, 6: the value has 1 bytes/,
    );
  });
});
