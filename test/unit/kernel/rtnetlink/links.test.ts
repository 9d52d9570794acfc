// Messages about links of a kind, and about their counters.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  encodeLinkStatistics,
  readLinkStatistics,
} from '../../../../src/kernel/rtnetlink/links/statistics.js';
import {
  encodeAlternativeName,
  encodeNewLink,
  encodeSettings,
} from '../../../../src/kernel/rtnetlink/links/write.js';
import type { Link } from '../../../../src/kernel/rtnetlink/types.js';
import { listed, NAMES, only } from '../../../support/tables/rtnetlink/messages.js';
import { KINDS, readNamed, statistics } from '../../../support/tables/rtnetlink/samples.js';

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

  it('have alternative names, in an attribute that is marked as one with others', () => {
    const bytes = listed(encodeAlternativeName('add', 3, 'uplink'));
    assert.deepEqual(only(bytes, readNamed).alternativeNames, ['uplink']);
    // nlmsghdr, ifinfomsg, then the length and the type of IFLA_PROP_LIST with NLA_F_NESTED.
    assert.deepEqual([...bytes.subarray(32, 36)], [16, 0, 52, 0x80]);
    const faults = [
      encodeAlternativeName('add', 'va', ''),
      encodeAlternativeName('delete', 'va', 'x'.repeat(128)),
      encodeAlternativeName('delete', 0, 'x'),
    ].map(({ check }) => check.invalid?.field);
    assert.deepEqual(faults, ['name', 'name', 'link']);
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
      encodeNewLink('g', 'geneve', { geneve: { remote: '10.0.0.2' } }),
      encodeNewLink('n', 'netkit', { peer: { up: true } }),
      encodeNewLink('n', 'gre', { peer: {} }),
      encodeNewLink('g', 'gre', { gre: { remote: 'fd00::2' } }),
      encodeSettings('va', { ipip: { remote: '10.0.0.2', local: '10.0.0.1' } }),
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
      'settings.geneve.id must be given: a tunnel of Geneve without',
      'settings.peer must have no flags, as up: the kernel ignores ',
      'settings.peer is of the kinds veth and netkit',
      'settings.gre.remote must be an IPv4 address',
      'settings.ipip.ttl must be given: a change sets all settings ',
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
