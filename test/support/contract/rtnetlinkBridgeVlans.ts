// The contract of the VLANs of bridges and their ports: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Rtnetlink } from '../../../src/kernel/rtnetlink/types.js';
import { outcomes } from './refusals.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

/** `10 pvid untagged` for each VLAN of a link. */
async function shown(rtnetlink: Rtnetlink, link: string | number): Promise<string[]> {
  return (await rtnetlink.listBridgeVlans(link)).map(({ vlan, self, pvid, untagged }) =>
    [vlan, self ? ' self' : '', pvid ? ' pvid' : '', untagged ? ' untagged' : ''].join(''),
  );
}

/** Registers the tests. */
export function rtnetlinkBridgeVlansContract(open: Open): void {
  it('adds, changes, lists and deletes VLANs of ports and of the bridge', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('br', 'bridge', { bridge: { vlanFiltering: true } });
    await rtnetlink.addLink('br0', 'bridge', { bridge: { vlanFiltering: true, vlanDefaultPvid: 0 } });
    await rtnetlink.setLink('va', { master: 'br' });
    await rtnetlink.setLink('vb', { master: 'br0' });
    assert.deepEqual(await shown(rtnetlink, 'va'), ['1 pvid untagged']);
    assert.deepEqual(await shown(rtnetlink, 'br'), ['1 self pvid untagged']);
    assert.deepEqual([await shown(rtnetlink, 'vb'), await shown(rtnetlink, 'br0')], [[], []]);
    await rtnetlink.addBridgeVlan({ link: 'va', vlan: 10, lastVlan: 12 });
    await rtnetlink.addBridgeVlan({ link: 'va', vlan: 11, pvid: true, untagged: true });
    const { index } = (await rtnetlink.getLink('va')) ?? assert.fail();
    assert.deepEqual(await shown(rtnetlink, index), ['1 untagged', '10', '11 pvid untagged', '12']);
    await rtnetlink.addBridgeVlan({ link: 'va', vlan: 11, untagged: true });
    await rtnetlink.addBridgeVlan({ link: 'br', vlan: 20, self: true });
    await rtnetlink.deleteBridgeVlan({ link: index, vlan: 12 });
    assert.deepEqual(await shown(rtnetlink, 'va'), ['1 untagged', '10', '11 untagged']);
    assert.deepEqual(await shown(rtnetlink, 'br'), ['1 self pvid untagged', '20 self']);
    assert.equal((await rtnetlink.listBridgeVlans()).length, 5);
    // What was listed is deleted, and is the same when it is written again.
    const listed = await rtnetlink.listBridgeVlans();
    for (const vlan of listed) await rtnetlink.deleteBridgeVlan(vlan);
    assert.deepEqual(await rtnetlink.listBridgeVlans(), []);
    for (const vlan of listed) await rtnetlink.addBridgeVlan(vlan);
    assert.deepEqual(await rtnetlink.listBridgeVlans(), listed);
    await rtnetlink.setLink('va', { master: null });
    await rtnetlink.setLink('va', { master: 'br' });
    assert.deepEqual(await shown(rtnetlink, 'va'), ['1 pvid untagged']);
  });

  it('refuses VLANs as the kernel does', async () => {
    const rtnetlink = await withVeth(open);
    await rtnetlink.addLink('br', 'bridge');
    await rtnetlink.setLink('va', { master: 'br' });
    const results = await rtnetlink.apply([
      { do: 'addBridgeVlan', bridgeVlan: { link: 'vb', vlan: 5 } },
      { do: 'addBridgeVlan', bridgeVlan: { link: 'none', vlan: 5 } },
      { do: 'deleteBridgeVlan', bridgeVlan: { link: 'va', vlan: 5 } },
      { do: 'addBridgeVlan', bridgeVlan: { link: 'va', vlan: 4095 } },
      { do: 'addBridgeVlan', bridgeVlan: { link: 'va', vlan: 5, lastVlan: 4 } },
      { do: 'addBridgeVlan', bridgeVlan: { link: 'va', vlan: 5, lastVlan: 6, pvid: true } },
    ]);
    assert.deepEqual(outcomes(results), [
      'EOPNOTSUPP 95 rtnetlink.addBridgeVlan vlan 5 dev vb',
      'ENODEV 19 rtnetlink.addBridgeVlan vlan 5 dev none',
      // The kernel says nothing of a VLAN that is not there.
      'done',
      'ERR_INVALID_ARGUMENT 0 rtnetlink.addBridgeVlan vlan 4095 dev va',
      'ERR_INVALID_ARGUMENT 0 rtnetlink.addBridgeVlan vlan 5-4 dev va',
      'ERR_INVALID_ARGUMENT 0 rtnetlink.addBridgeVlan vlan 5-6 dev va',
    ]);
    await assert.rejects(rtnetlink.listBridgeVlans('none'), { code: 'ENODEV' });
  });
}
