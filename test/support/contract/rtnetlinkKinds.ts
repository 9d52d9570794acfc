// The contract of kinds of links that not every kernel has: bond, vxlan, macvlan, ipvlan, vrf, tunnels; and of the counters of links.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Link, Rtnetlink, RtnetlinkOperation } from '../../../src/kernel/rtnetlink/types.js';
import { messageOf, outcomes } from './refusals.js';
import { rtnetlinkBridgeVlansContract } from './rtnetlinkBridgeVlans.js';
import { rtnetlinkForwardingContract } from './rtnetlinkForwarding.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

/** Devices that every network namespace gets when a module of tunnels is loaded, as the first tunnel of a kind does. */
const OF_MODULES = ['tunl0', 'gre0', 'gretap0', 'erspan0', 'sit0', 'ip6tnl0', 'ip6gre0'];

/** Registers the tests, and those of the VLANs of bridges, which a kernel may lack too. */
export function rtnetlinkKindsContract(open: Open): void {
  rtnetlinkBridgeVlansContract(open);
  rtnetlinkForwardingContract(open);
  it('lists the defaults of a kind, and the settings that were given', async () => {
    const rtnetlink = await withVeth(open);
    const namesOf = async () => (await rtnetlink.listLinks()).map(({ name }) => name);
    const before = new Set([...(await namesOf()), ...OF_MODULES]);
    assert.deepEqual(
      await rtnetlink.apply(NEW.map(([operation]) => operation)),
      NEW.map(() => undefined),
    );
    assert.deepEqual(
      (await namesOf()).filter((name) => !before.has(name)).sort(),
      NEW.map(([{ name }]) => name).sort(),
    );
    for (const [{ name }, expected] of NEW) {
      const link = (await rtnetlink.getLink(name)) ?? assert.fail(name);
      for (const [kind, settings] of Object.entries(expected)) {
        assert.equal(link.kind, kind);
        assertHas(link[kind as keyof Link] as object, settings as object, name);
      }
    }
  });

  it('refuses new links and changes of their kind', async () => {
    const rtnetlink = await withVeth(open);
    const results = await rtnetlink.apply(REFUSED.map(([operation]) => operation));
    assert.deepEqual(
      outcomes(results).map((outcome, i) => `${outcome.split(' ')[0]} ${messageOf(results[i])}`),
      REFUSED.map(([, code, message]) => `${code} ${message}`),
    );
  });

  it('changes settings, each for itself', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('b', 'bond', { bond: { mode: 'active-backup', miiInterval: 100 } });
    await rtnetlink.setLink('b', { bond: { miiInterval: 200, hashPolicy: 'layer2+3' } });
    await has(rtnetlink, 'b', 'bond', { mode: 'active-backup', miiInterval: 200, hashPolicy: 'layer2+3' });
    await rtnetlink.addLink('x', 'vxlan', { vxlan: { id: 5, remote: '10.1.0.2' } });
    await rtnetlink.setLink('x', { vxlan: { remote: '10.1.0.3', learning: false, id: 5 } });
    await has(rtnetlink, 'x', 'vxlan', { id: 5, remote: '10.1.0.3', learning: false, ageingTime: 300 });
    await rtnetlink.addLink('m', 'macvlan', { link: 'va' });
    await rtnetlink.setLink('m', { macvlan: { mode: 'bridge', broadcastQueueLength: 7 } });
    await has(rtnetlink, 'm', 'macvlan', { mode: 'bridge', flags: [], broadcastQueueLength: 7 });
    await rtnetlink.addLink('i', 'ipvlan', { link: 'vb' });
    await rtnetlink.setLink('i', { ipvlan: { mode: 'l2', flags: ['vepa'] } });
    await has(rtnetlink, 'i', 'ipvlan', { mode: 'l2', flags: ['vepa'] });
    await rtnetlink.setLink('i', { ipvlan: { flags: [] } });
    await has(rtnetlink, 'i', 'ipvlan', { mode: 'l2', flags: [] });
    await rtnetlink.addLink('g', 'geneve', { geneve: { id: 5, remote: '10.1.0.2', tos: 4 } });
    await rtnetlink.setLink('g', { geneve: { ttl: 9 } });
    await has(rtnetlink, 'g', 'geneve', { id: 5, remote: '10.1.0.2', tos: 4, ttl: 9 });
  });

  it('changes all settings of a tunnel at once, and refuses a change that would reset its ends', async () => {
    const rtnetlink = await withVeth(open);
    const given = { remote: '10.1.0.2', local: '10.1.0.1', inputKey: 5, mark: 7, tos: 4 };
    await rtnetlink.addLink('t', 'gretap', { gretap: given });
    const { gretap: listed } = (await rtnetlink.getLink('t')) ?? assert.fail();
    await assert.rejects(rtnetlink.setLink('t', { gretap: { ttl: 9 } }), {
      message: /settings\.gretap\.remote must be given: a change sets all settings of this kind/,
    });
    await rtnetlink.setLink('t', { gretap: { ...listed, ttl: 9 } });
    assert.deepEqual((await rtnetlink.getLink('t'))?.gretap, { ...listed, ttl: 9 });
    await rtnetlink.setLink('t', { gretap: { remote: '10.1.0.3', local: '10.1.0.1', ttl: 9 } });
    const { inputKey: _, ...rest } = listed ?? assert.fail();
    assert.deepEqual((await rtnetlink.getLink('t'))?.gretap, { ...rest, remote: '10.1.0.3', ttl: 9, tos: 0 });
  });

  it('a bond sets its ports up, and gives them its hardware address', async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('va', 'veth', { address: '02:00:00:00:00:aa', peer: { name: 'vb' } });
    await rtnetlink.addLink('vc', 'veth', { address: '02:00:00:00:00:cc', peer: { name: 'vd' } });
    await rtnetlink.addLink('b', 'bond', { bond: { mode: 'active-backup', miiInterval: 100 } });
    await rtnetlink.setLink('va', { up: true });
    await assert.rejects(rtnetlink.setLink('va', { master: 'b' }), { code: 'EPERM' });
    await rtnetlink.setLink('va', { up: false });
    for (const port of ['va', 'vc']) await rtnetlink.setLink(port, { master: 'b' });
    for (const [port, permanentAddress] of [
      ['va', '02:00:00:00:00:aa'],
      ['vc', '02:00:00:00:00:cc'],
    ] as const) {
      const link = (await rtnetlink.getLink(port)) ?? assert.fail(port);
      assert.deepEqual(
        [link.up, link.master, link.address, link.flags.includes('slave')],
        [true, 'b', '02:00:00:00:00:aa', true],
      );
      assertHas(link.bondPort ?? {}, { permanentAddress, linkFailures: 0, queueId: 0 }, port);
    }
    await assert.rejects(rtnetlink.setLink('b', { bond: { mode: 'balance-rr' } }), {
      code: 'ENOTEMPTY',
      kernelMessage: 'unable to set option because the bond device has slaves',
    });
    await rtnetlink.setLink('vc', { bondPort: { queueId: 4 } });
    assert.equal((await rtnetlink.getLink('vc'))?.bondPort?.queueId, 4);
    await rtnetlink.setLink('vc', { master: null });
    const { up, master, address, bondPort } = (await rtnetlink.getLink('vc')) ?? assert.fail();
    assert.deepEqual([up, master, address, bondPort], [false, undefined, '02:00:00:00:00:cc', undefined]);
  });

  it('a VRF has ports, which name its table', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('r', 'vrf', { up: true, vrf: { table: 77 } });
    await rtnetlink.addLink('r2', 'vrf', { vrf: { table: 'main' } });
    await rtnetlink.setLink('va', { master: 'r' });
    const link = (await rtnetlink.getLink('va')) ?? assert.fail();
    assert.deepEqual([link.master, link.vrfPort, link.up], ['r', { table: 77 }, true]);
    const { flags, vrf } = (await rtnetlink.getLink('r')) ?? assert.fail();
    assert.deepEqual([vrf, flags.includes('master'), flags.includes('noarp')], [{ table: 77 }, true, true]);
    assert.deepEqual((await rtnetlink.getLink('r2'))?.vrf, { table: 'main' });
    await rtnetlink.setLink('va', { master: null });
    assert.equal((await rtnetlink.getLink('va'))?.vrfPort, undefined);
  });
}

/** The contract of counters, which every kernel has. */
export function rtnetlinkStatisticsContract(open: Open): void {
  it('lists the counters of links, and reads those of one by name and by index', async () => {
    const rtnetlink = await open();
    await rtnetlink.addLink('br', 'bridge');
    const { index } = (await rtnetlink.getLink('br')) ?? assert.fail();
    const all = await rtnetlink.listLinkStatistics();
    assert.deepEqual(
      all.map(({ link }) => link).sort(),
      (await rtnetlink.listLinks()).map(({ name }) => name).sort(),
    );
    const found = all.find((each) => each.link === 'br') ?? assert.fail();
    assert.equal(found.index, index);
    for (const [name, value] of Object.entries(found)) {
      if (name !== 'link' && name !== 'index') assert.equal(value, 0n, name);
    }
    assert.deepEqual(await rtnetlink.getLinkStatistics('br'), found);
    assert.deepEqual(await rtnetlink.getLinkStatistics(index), found);
    assert.equal(await rtnetlink.getLinkStatistics('none'), undefined);
    assert.equal(await rtnetlink.getLinkStatistics(4_000), undefined);
    await assert.rejects(rtnetlink.getLinkStatistics(''), {
      message: /^rtnetlink.getLinkStatistics: link must/,
    });
  });
}

type Add = Extract<RtnetlinkOperation, { readonly do: 'addLink' }>;
type Settings = { readonly [Kind in keyof Link]?: object };

/** Links, and what is listed of their kinds. */
const NEW: readonly (readonly [Add, Settings])[] = [
  [
    { do: 'addLink', name: 'b', kind: 'bond' },
    {
      bond: {
        ...{ mode: 'balance-rr', miiInterval: 0, upDelay: 0, useCarrier: true, arpInterval: 0 },
        ...{ arpValidation: 'none', arpAllTargets: 'any', arpMissedMax: 2, primaryReselection: 'always' },
        ...{ failOverMac: 'none', hashPolicy: 'layer2', resendIgmp: 1, peerNotifications: 1 },
        ...{ allPortsActive: false, minLinks: 0, learnPacketInterval: 1, packetsPerPort: 1 },
        ...{ lacpActive: true, lacpRate: 'slow', aggregatorSelection: 'stable', dynamicLoadBalancing: true },
      },
    },
  ],
  [
    {
      ...{ do: 'addLink', name: 'b2', kind: 'bond' },
      settings: { bond: { mode: 'active-backup', arpInterval: 100, arpTargets: ['10.0.0.1', '10.0.0.2'] } },
    },
    { bond: { mode: 'active-backup', arpInterval: 100, arpTargets: ['10.0.0.1', '10.0.0.2'] } },
  ],
  [
    { do: 'addLink', name: 'x', kind: 'vxlan', settings: { vxlan: { id: 5 } } },
    {
      vxlan: {
        ...{ id: 5, ttl: 0, tos: 0, flowLabel: 0, learning: true, ageingTime: 300, addressLimit: 0 },
        ...{ sourcePorts: { first: 0, last: 0 }, port: 8472, proxy: false, routeShortCircuit: false },
        ...{ l2Miss: false, l3Miss: false, udpChecksum: true, udp6ZeroChecksumTx: false, external: false },
      },
    },
  ],
  [
    {
      ...{ do: 'addLink', name: 'x2', kind: 'vxlan' },
      settings: {
        vxlan: { id: 5, port: 4789, remote: 'fd01::2', link: 'va', ttl: 'inherit', genericProtocol: false },
      },
    },
    { vxlan: { id: 5, port: 4789, remote: 'fd01::2', link: 'va', ttl: 'inherit' } },
  ],
  [
    { do: 'addLink', name: 'm', kind: 'macvlan', settings: { link: 'va' } },
    { macvlan: { mode: 'vepa', flags: [], broadcastQueueLength: 1000, usedBroadcastQueueLength: 1000 } },
  ],
  [
    {
      ...{ do: 'addLink', name: 'm2', kind: 'macvlan' },
      settings: { link: 'va', macvlan: { mode: 'source', sources: ['02:00:00:00:00:07'], flags: ['nodst'] } },
    },
    { macvlan: { mode: 'source', sources: ['02:00:00:00:00:07'], flags: ['nodst'] } },
  ],
  [
    { do: 'addLink', name: 'm3', kind: 'macvtap', settings: { link: 'va', macvtap: { mode: 'private' } } },
    { macvtap: { mode: 'private' } },
  ],
  [
    { do: 'addLink', name: 'i', kind: 'ipvlan', settings: { link: 'vb', ipvlan: { flags: ['private'] } } },
    { ipvlan: { mode: 'l3', flags: ['private'] } },
  ],
  [{ do: 'addLink', name: 'r', kind: 'vrf', settings: { vrf: { table: 77 } } }, { vrf: { table: 77 } }],
  [
    { do: 'addLink', name: 'g', kind: 'geneve', settings: { geneve: { id: 5, remote: '10.1.0.2' } } },
    {
      geneve: { id: 5, remote: '10.1.0.2', ttl: 0, tos: 0, flowLabel: 0, dontFragment: 'unset', port: 6081 },
    },
  ],
  ...(['gre', 'gretap', 'ipip', 'sit'] as const).map((kind): readonly [Add, Settings] => [
    { do: 'addLink', name: `${kind}9`, kind, settings: { [kind]: { remote: '10.1.0.2' } } } as Add,
    {
      [kind]: {
        ...{ remote: '10.1.0.2', local: '0.0.0.0', ttl: kind === 'sit' ? 64 : 0, tos: 0, mark: 0 },
        ...{ encapsulation: 'none', pathMtuDiscovery: true, external: undefined, inputKey: undefined },
      },
    },
  ]),
  ...(['ip6gre', 'ip6gretap', 'ip6tnl'] as const).map((kind): readonly [Add, Settings] => [
    { do: 'addLink', name: `${kind}9`, kind, settings: { [kind]: { remote: 'fd01::2' } } } as Add,
    { [kind]: { remote: 'fd01::2', local: '::', ttl: 0, encapsulationLimit: 0, flowInfo: 0, flags: [] } },
  ]),
];

/** Operations with the code and the message of their error. */
const REFUSED: readonly (readonly [RtnetlinkOperation, code: string, message: string | undefined])[] = [
  [{ do: 'addLink', name: 'x', kind: 'vxlan', settings: { vxlan: { id: 5 } } }, 'done', undefined],
  [
    { do: 'addLink', name: 'x2', kind: 'vxlan', settings: { vxlan: { id: 5 } } },
    'EEXIST',
    'A VXLAN device with the specified VNI already exists',
  ],
  [
    { do: 'addLink', name: 'x3', kind: 'vxlan', settings: { vxlan: { id: 6, remote: '239.0.0.1' } } },
    'EINVAL',
    'Local interface required for multicast remote destination',
  ],
  [{ do: 'setLink', link: 'x', settings: { vxlan: { port: 4789 } } }, 'EOPNOTSUPP', 'Cannot change port'],
  [{ do: 'setLink', link: 'x', settings: { vxlan: { id: 6 } } }, 'EOPNOTSUPP', 'Cannot change VNI'],
  [
    { do: 'addLink', name: 'r', kind: 'vrf', settings: { vrf: { table: 0 } } },
    'EINVAL',
    'Invalid VRF table id',
  ],
  [{ do: 'addLink', name: 'r', kind: 'vrf', settings: { vrf: { table: 5 } } }, 'done', undefined],
  [{ do: 'addLink', name: 'r2', kind: 'vrf', settings: { vrf: { table: 6 } } }, 'done', undefined],
  [
    { do: 'setLink', link: 'r2', settings: { master: 'r' } },
    'EINVAL',
    'Can not enslave an L3 master device to a VRF',
  ],
  [{ do: 'setLink', link: 'r', settings: { vrf: { table: 7 } } }, 'EOPNOTSUPP', undefined],
  [{ do: 'setLink', link: 'va', settings: { bond: { miiInterval: 5 } } }, 'EOPNOTSUPP', undefined],
  [{ do: 'addLink', name: 'b', kind: 'bond', settings: { up: true } }, 'done', undefined],
  [
    { do: 'setLink', link: 'b', settings: { bond: { mode: 'broadcast' } } },
    'EBUSY',
    'unable to set option because the bond is up',
  ],
  [{ do: 'addLink', name: 'g', kind: 'gre', settings: { gre: { remote: '10.1.0.2' } } }, 'done', undefined],
  [
    { do: 'addLink', name: 'g2', kind: 'gre', settings: { gre: { remote: '10.1.0.2' } } },
    'EEXIST',
    undefined,
  ],
  [{ do: 'addLink', name: 'e', kind: 'geneve', settings: { geneve: { id: 5 } } }, 'done', undefined],
  [{ do: 'addLink', name: 'e2', kind: 'geneve', settings: { geneve: { id: 5 } } }, 'EBUSY', undefined],
  [{ do: 'setLink', link: 'va', settings: { master: 'b' } }, 'EPERM', 'Device can not be enslaved while up'],
  [{ do: 'setLink', link: 'va', settings: { bondPort: { queueId: 1 } } }, 'EOPNOTSUPP', undefined],
];

/** Whether an object has these fields with these values; it may have others. */
function assertHas(found: object, expected: object, name: string): void {
  const known = Object.fromEntries(
    Object.keys(expected).map((field) => [field, found[field as keyof object]]),
  );
  assert.deepEqual(known, expected, name);
}

async function has(
  rtnetlink: Rtnetlink,
  name: string,
  kind: 'bond' | 'vxlan' | 'macvlan' | 'ipvlan' | 'geneve',
  settings: object,
): Promise<void> {
  assertHas((await rtnetlink.getLink(name))?.[kind] ?? {}, settings, name);
}
