// Messages about VLANs of bridges, and about entries of forwarding databases.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  encodeBridgeVlan,
  encodeListBridgeVlans,
  readBridgeVlans,
} from '../../../../src/kernel/rtnetlink/bridgeVlans/codec.js';
import {
  encodeForwardingEntry,
  readForwardingEntry,
} from '../../../../src/kernel/rtnetlink/forwarding/codec.js';
import type { MessageWriter } from '../../../../src/kernel/rtnetlink/message.js';
import { listed, only } from '../../../support/tables/rtnetlink/messages.js';
import { CAPTURED_NAMES } from '../../../support/tables/rtnetlink/samples.js';

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
