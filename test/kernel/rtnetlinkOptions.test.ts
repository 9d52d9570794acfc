// Options of ip(8) whose values do not stay, or that need more than one object: set by the library, and read by ip.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Link, openRtnetlink, type Rtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { at, batch, ipJson, prepared } from '../support/tables/rtnetlink/ip.js';

describe('options whose values do not stay', () => {
  let namespace: Namespace;
  let rtnetlink: Rtnetlink;
  before(async () => {
    ({ namespace, rtnetlink } = await prepared());
  });
  after(async () => {
    await rtnetlink.close();
    namespace.remove();
  });

  it('switches of a link', async () => {
    const flagsOf = () => ipJson(namespace, 'link show dev vb')[0]?.['flags'] as string[];
    const all = {
      arp: false,
      dynamic: true,
      multicast: false,
      allMulticast: true,
      promiscuous: true,
      trailers: false,
    };
    await rtnetlink.setLink('vb', { ...all, up: false });
    for (const flag of ['NOARP', 'DYNAMIC', 'ALLMULTI', 'PROMISC', 'NOTRAILERS'])
      assert.ok(flagsOf().includes(flag), flag);
    assert.ok(!flagsOf().includes('MULTICAST') && !flagsOf().includes('UP'));
    batch(namespace, [
      'link set vb arp on dynamic off multicast on allmulticast off promisc off trailers on up',
    ]);
    const { flags = [] } = (await rtnetlink.getLink('vb')) ?? {};
    assert.deepEqual(
      flags.filter((flag) =>
        ['noarp', 'dynamic', 'multicast', 'allmulti', 'promisc', 'notrailers', 'up'].includes(flag),
      ),
      ['up', 'multicast'],
    );
  });

  it('carrier, index, queues and master', async () => {
    await rtnetlink.setLink('dummy1', { up: true });
    await rtnetlink.setLink('dummy1', { carrier: false });
    const [dummy = {}] = ipJson(namespace, 'link show dev dummy1');
    assert.ok(!(dummy['flags'] as string[]).includes('LOWER_UP'));
    await rtnetlink.addLink('vq', 'veth', { index: 777, txQueues: 3, rxQueues: 2, peer: { name: 'vr' } });
    const [shown = {}] = ipJson(namespace, 'link show dev vq');
    assert.deepEqual([shown['ifindex'], shown['num_tx_queues']], [777, 3]);
    // A kernel without CONFIG_RPS, as User Mode Linux, has one queue of each link for receipt, and lists none.
    const listsReceipt = ipJson(namespace, 'link show dev lo')[0]?.['num_rx_queues'] !== undefined;
    assert.equal(shown['num_rx_queues'], listsReceipt ? 2 : undefined);
    batch(namespace, [
      'link add vs numtxqueues 4 numrxqueues 5 type veth peer name vt',
      'link set spare nomaster',
    ]);
    const listed = (await rtnetlink.getLink('vs')) ?? assert.fail();
    assert.deepEqual([listed.txQueues, listed.rxQueues], [4, listsReceipt ? 5 : undefined]);
    assert.equal((await rtnetlink.getLink('spare'))?.master, undefined);
    await assert.rejects(rtnetlink.setLink('vq', { protoDown: true }), { code: 'EOPNOTSUPP' });
  });

  it('the active port and the primary of a bond, which events name too', async () => {
    await rtnetlink.addLink('bd', 'bond', { up: true, bond: { mode: 'active-backup', miiInterval: 100 } });
    for (const name of ['bp1', 'bp2']) await rtnetlink.addLink(name, 'dummy', { master: 'bd' });
    const shown = () => at(ipJson(namespace, 'link show dev bd')[0], 'linkinfo.info_data') as object;
    await rtnetlink.setLink('bd', { bond: { primary: 'bp2' } });
    assert.deepEqual([at(shown(), 'primary'), at(shown(), 'active_slave')], ['bp2', 'bp2']);
    await rtnetlink.setLink('bd', { bond: { primary: null } });
    assert.equal(at(shown(), 'primary'), undefined);
    for await (const event of rtnetlink.watch({ kinds: ['link'], signal: AbortSignal.timeout(PATIENCE) })) {
      if (event.kind === 'resync') await rtnetlink.setLink('bd', { bond: { activePort: 'bp1' } });
      else if (event.kind === 'link' && event.link.name === 'bd' && event.link.bond?.activePort === 'bp1')
        break;
    }
    assert.equal(at(shown(), 'active_slave'), 'bp1');
    assert.equal((await rtnetlink.getLink('bd'))?.bond?.activePort, 'bp1');
    const port = (await rtnetlink.getLink('bp1'))?.bondPort;
    assert.deepEqual([port?.state, port?.miiStatus, port?.linkFailures], ['active', 'up', 0]);
    assert.equal((await rtnetlink.getLink('bp2'))?.bondPort?.state, 'backup');
  });

  it('the sources of a macvlan', async () => {
    const sources = ['02:00:00:00:00:21', '02:00:00:00:00:22'];
    await rtnetlink.addLink('mv', 'macvlan', { link: 'low6', macvlan: { mode: 'source', sources } });
    const shown = () => namespace.run('ip', '-d', 'link', 'show', 'dev', 'mv');
    for (const source of sources) assert.ok(shown().includes(source), shown());
    batch(namespace, ['link set mv type macvlan macaddr add 02:00:00:00:00:23']);
    const listed = (await rtnetlink.getLink('mv'))?.macvlan?.sources;
    assert.deepEqual([...(listed ?? [])].sort(), [...sources, '02:00:00:00:00:23']);
    await rtnetlink.setLink('mv', { macvlan: { sources: [] } });
    assert.equal((await rtnetlink.getLink('mv'))?.macvlan?.sources, undefined);
  });

  it('the TTL of a VXLAN that is that of the inner packet', async () => {
    batch(namespace, ['link add vxt type vxlan id 77 dstport 4799 ttl inherit']);
    assert.equal((await rtnetlink.getLink('vxt'))?.vxlan?.ttl, 'inherit');
    await rtnetlink.deleteLink('vxt');
    await rtnetlink.addLink('vxt', 'vxlan', { vxlan: { id: 77, port: 4799, ttl: 'inherit' } });
    assert.match(namespace.run('ip', '-d', 'link', 'show', 'dev', 'vxt'), /ttl inherit/);
  });

  it('the counters of a link, as ip has them', async () => {
    type Shown = Record<'rx' | 'tx', Record<string, number>>;
    const both = async () => {
      const ours = (await rtnetlink.getLinkStatistics('va')) ?? assert.fail();
      const ip = JSON.parse(namespace.run('ip', '-s', '-s', '-j', 'link', 'show', 'dev', 'va'))[0]
        .stats64 as Shown;
      const { rx, tx } = ip;
      return [
        [ours.rxPackets, ours.rxBytes, ours.rxErrors, ours.rxDropped, ours.multicast, ours.rxMissedErrors],
        [rx['packets'], rx['bytes'], rx['errors'], rx['dropped'], rx['multicast'], rx['missed_errors']],
        [ours.txPackets, ours.txBytes, ours.txErrors, ours.txDropped, ours.collisions, ours.txCarrierErrors],
        [tx['packets'], tx['bytes'], tx['errors'], tx['dropped'], tx['collisions'], tx['carrier_errors']],
      ].map((numbers) => numbers.map(Number));
    };
    let [rx, shownRx, tx, shownTx] = await both();
    // The kernel sends packets of IPv6 by itself; not all the time.
    for (
      const deadline = performance.now() + PATIENCE;
      performance.now() < deadline && (String([rx, tx]) !== String([shownRx, shownTx]) || !tx?.[1]);
    ) {
      await setTimeout(100);
      [rx, shownRx, tx, shownTx] = await both();
    }
    assert.deepEqual([rx, tx], [shownRx, shownTx]);
    assert.ok((tx?.[1] ?? 0) > 0, String(tx));
  });

  it('a device of tun is listed as the process that created it set it', async () => {
    spawnSync('sh', ['-c', 'modprobe tun; mkdir -p /dev/net; mknod -m 600 /dev/net/tun c 10 200']);
    batch(namespace, ['tuntap add tap9 mode tap user 1000 group 1001 multi_queue vnet_hdr']);
    const { kind, tun } = (await rtnetlink.getLink('tap9')) ?? assert.fail();
    assert.equal(kind, 'tun');
    const expected: Link['tun'] = {
      ...{ type: 'tap', owner: 1000, group: 1001, packetHeader: false, vnetHeader: true, persistent: true },
      ...{ multiQueue: true, queues: 0, disabledQueues: 0 },
    };
    assert.deepEqual(tun, expected);
  });

  it('the VLANs of bridges and ports, as bridge(8) has them', async () => {
    batch(namespace, [
      ...[
        'link add vbr type bridge vlan_filtering 1',
        'link add vport type dummy',
        'link set vport master vbr',
      ],
    ]);
    const shown = (link: string) => {
      const all = JSON.parse(namespace.run('bridge', '-j', 'vlan', 'show', 'dev', link)) as {
        readonly vlans: readonly { readonly vlan: number; readonly flags?: readonly string[] }[];
      }[];
      return all[0]?.vlans.map(({ vlan, flags = [] }) => [vlan, ...flags].join(' '));
    };
    await rtnetlink.addBridgeVlan({ link: 'vport', vlan: 10, pvid: true, untagged: true });
    await rtnetlink.addBridgeVlan({ link: 'vport', vlan: 20, lastVlan: 22 });
    await rtnetlink.addBridgeVlan({ link: 'vbr', vlan: 30, self: true });
    assert.deepEqual(shown('vport'), ['1 Egress Untagged', '10 PVID Egress Untagged', '20', '21', '22']);
    assert.deepEqual(shown('vbr'), ['1 PVID Egress Untagged', '30']);
    namespace.run('bridge', 'vlan', 'del', 'dev', 'vport', 'vid', '21-22');
    namespace.run('bridge', 'vlan', 'add', 'dev', 'vbr', 'vid', '31', 'untagged', 'self');
    const list = async (link: string) =>
      (await rtnetlink.listBridgeVlans(link)).map(({ vlan, self, untagged }) => [vlan, self, untagged]);
    assert.deepEqual(await list('vport'), [
      [1, false, true],
      [10, false, true],
      [20, false, false],
    ]);
    assert.deepEqual(await list('vbr'), [
      [1, true, true],
      [30, true, false],
      [31, true, true],
    ]);
  });

  it('entries of forwarding databases, as bridge(8) has them', async () => {
    batch(namespace, [
      'link add fbr type bridge vlan_filtering 1',
      'link add fport type dummy',
      'link set fport master fbr',
      'link set fport up',
      'link set fbr up',
      'link add fvx type vxlan id 7 dstport 4789 local 127.0.0.1',
    ]);
    const ours = (address: string) => /^02:00:00:00:00:0|^00:00:00:00:00:00/.test(address);
    const shown = (link: string) =>
      (JSON.parse(namespace.run('bridge', '-j', 'fdb', 'show', 'dev', link)) as Record<string, unknown>[])
        .filter(({ mac }) => ours(String(mac)))
        .map(({ mac, vlan, flags, state, dst, port, vni }) =>
          [mac, vlan ?? '-', ...((flags as string[]) ?? []), state ?? '-', dst ?? '', port ?? '', vni ?? '']
            .join(' ')
            .trimEnd(),
        )
        .sort();
    const A = '02:00:00:00:00:0a';
    const B = '02:00:00:00:00:0b';
    await rtnetlink.addForwardingEntry({ link: 'fport', hardwareAddress: A, master: true, state: 'static' });
    await rtnetlink.addForwardingEntry({ link: 'fport', hardwareAddress: B, master: true, vlan: 1 });
    await rtnetlink.addForwardingEntry({
      link: 'fvx',
      hardwareAddress: A,
      destination: '127.0.0.2',
      port: 5000,
      vni: 9,
    });
    await rtnetlink.addForwardingEntry({
      link: 'fvx',
      hardwareAddress: '00:00:00:00:00:00',
      destination: '127.0.0.3',
    });
    await rtnetlink.appendForwardingEntry({
      link: 'fvx',
      hardwareAddress: '00:00:00:00:00:00',
      destination: '127.0.0.4',
    });
    assert.deepEqual(shown('fport'), [`${A} - static`, `${A} 1 static`, `${B} 1 permanent`]);
    assert.deepEqual(shown('fvx'), [
      '00:00:00:00:00:00 - self permanent 127.0.0.3',
      '00:00:00:00:00:00 - self permanent 127.0.0.4',
      `${A} - self permanent 127.0.0.2 5000 9`,
    ]);
    const noVlan = { link: 'fport', hardwareAddress: A, master: true, vlan: 77 };
    await assert.rejects(rtnetlink.addForwardingEntry(noVlan), { code: 'EINVAL' });
    // The second is that of later kernels.
    await assert.rejects(rtnetlink.deleteForwardingEntry(noVlan), { code: /^(EINVAL|ENOENT)$/ });
    namespace.run('bridge', 'fdb', 'replace', A, 'dev', 'fport', 'master', 'vlan', '1', 'dynamic');
    namespace.run('bridge', 'fdb', 'del', B, 'dev', 'fport', 'master', 'vlan', '1');
    const listed = async (link: string) =>
      (await rtnetlink.listForwardingEntries(link).toArray()).filter(({ hardwareAddress }) =>
        ours(hardwareAddress),
      );
    assert.deepEqual(
      (await listed('fport'))
        .map(({ hardwareAddress, vlan, state }) => [hardwareAddress, vlan, state])
        .sort(),
      [
        [A, undefined, 'static'],
        [A, 1, 'dynamic'],
      ],
    );
    for (const link of ['fport', 'fvx'])
      for (const entry of await listed(link)) await rtnetlink.deleteForwardingEntry(entry);
    assert.deepEqual([shown('fport'), shown('fvx')], [[], []]);
  });

  it('the state of a port, which the kernel selects', async () => {
    batch(namespace, ['link add idle type dummy', 'link set idle master bridge1']);
    await assert.rejects(rtnetlink.setLink('idle', { bridgePort: { state: 3 } }), { code: 'ENETDOWN' });
  });

  it('a link moves to another network namespace, by path and by process, and a peer is created in one', async () => {
    const other = makeNamespace();
    try {
      await rtnetlink.addLink('m1', 'veth', { peer: { name: 'm2', netns: other.path } });
      await rtnetlink.setLink('m1', { netns: other.path });
      assert.equal(await rtnetlink.getLink('m1'), undefined);
      const names = ipJson(other, 'link show').map((link) => link['ifname']);
      assert.ok(names.includes('m1') && names.includes('m2'), String(names));
      await rtnetlink.addLink('m3', 'dummy');
      await rtnetlink.setLink('m3', { netns: process.pid });
      const here = await openRtnetlink();
      assert.ok(await here.getLink('m3'));
      await here.deleteLink('m3');
      await here.close();
      await assert.rejects(rtnetlink.setLink('vb', { netns: '/run/netns/nowhere' }), {
        code: 'ENOENT',
        kernelMessage: 'cannot open network namespace /run/netns/nowhere',
      });
      await assert.rejects(rtnetlink.setLink('vb', { netns: 4_000_000 }), { code: 'ESRCH' });
    } finally {
      other.remove();
    }
  });

  it('the backup port of a bridge, which null removes', async () => {
    const shown = () => {
      const link = ipJson(namespace, 'link show dev port1')[0];
      return at(link, 'linkinfo.info_slave_data.backup_port');
    };
    await rtnetlink.setLink('spare', { master: 'bridge1' });
    await rtnetlink.setLink('port1', { bridgePort: { backupPort: 'spare' } });
    assert.equal(shown(), 'spare');
    await rtnetlink.setLink('port1', { bridgePort: { backupPort: null } });
    assert.equal(shown(), undefined);
    batch(namespace, ['link set port1 type bridge_slave backup_port spare']);
    assert.equal((await rtnetlink.getLink('port1'))?.bridgePort?.backupPort, 'spare');
    batch(namespace, ['link set port1 type bridge_slave nobackup_port']);
    assert.equal((await rtnetlink.getLink('port1'))?.bridgePort?.backupPort, undefined);
  });

  it('addresses that join their multicast group', async () => {
    await rtnetlink.addAddress({ link: 'va', address: '239.1.2.3', prefix: 32, flags: ['autojoin'] });
    batch(namespace, ['addr add 239.1.2.4/32 dev va autojoin']);
    const shown = ipJson(namespace, 'addr show dev va').find(({ local }) => local === '239.1.2.3');
    assert.equal(shown?.['autojoin'], true);
    const listed = (await rtnetlink.listAddresses('va')).find(({ address }) => address === '239.1.2.4');
    assert.ok(listed?.flags.includes('autojoin'));
  });

  it('a route by the id of a next hop, and one that is pervasive', async () => {
    batch(namespace, ['nexthop add id 7 via 10.1.0.2 dev va', 'route add 10.21.0.0/16 nhid 7']);
    await rtnetlink.addRoute({ destination: '10.20.0.0/16', nextHopId: 7 });
    await rtnetlink.addRoute({ destination: '10.22.0.0/16', gateway: '10.1.0.2', flags: ['pervasive'] });
    const shown = ipJson(namespace, 'route show');
    assert.equal(shown.find(({ dst }) => dst === '10.20.0.0/16')?.['nhid'], 7);
    // The kernel does not list pervasive, and ip has no command that sets it; that it arrives shows in the refusal.
    assert.ok(shown.find(({ dst }) => dst === '10.22.0.0/16'));
    await assert.rejects(
      rtnetlink.addRoute({ destination: '10.23.0.0/16', link: 'va', flags: ['pervasive'] }),
      { code: 'EINVAL', kernelMessage: /PERVASIVE/ },
    );
    const routes = await rtnetlink.listRoutes({ family: 4 }).toArray();
    const find = (destination: string) => routes.find((route) => route.destination === destination);
    assert.equal(find('10.21.0.0/16')?.nextHopId, 7);
  });

  it('a rule for the table of an L3 master device', async () => {
    await rtnetlink.addRule({ priority: 778, l3mdev: true });
    batch(namespace, ['rule add l3mdev pref 779']);
    assert.equal(ipJson(namespace, 'rule show pref 778')[0]?.['l3mdev'], null);
    const listed = (await rtnetlink.listRules(4)).find(({ priority }) => priority === 779);
    assert.equal(listed?.l3mdev, true);
  });

  it('neighbours that the kernel resolves at once, and keeps resolved', async () => {
    const neighbour = { link: 'va', state: 'none' } as const;
    await rtnetlink.addNeighbour({ ...neighbour, address: '10.1.0.97', flags: ['use'] });
    await rtnetlink.addNeighbour({ ...neighbour, address: '10.1.0.98', flags: ['managed'] });
    batch(namespace, ['neigh add 10.1.0.99 dev va managed']);
    const shown = ipJson(namespace, 'neigh show dev va');
    const find = (address: string) => shown.find(({ dst }) => dst === address) ?? assert.fail(address);
    // Use starts the resolution, which fails after 3 s: nobody has the address.
    for (const address of ['10.1.0.97', '10.1.0.98']) {
      assert.match(String(find(address)['state']), /^(INCOMPLETE|FAILED)$/, address);
    }
    assert.equal(find('10.1.0.98')['managed'], null);
    const listed = await rtnetlink.getNeighbour({ link: 'va', address: '10.1.0.99' });
    assert.deepEqual(listed?.flags, ['managed']);
  });

  it('the route of a packet, with every field of the question', async () => {
    const query = {
      from: '10.1.0.1',
      outputLink: 'va',
      mark: 3,
      uid: 0,
      ipProtocol: 17,
      sourcePort: 1000,
      destinationPort: 53,
    };
    const route = await rtnetlink.getRoute('10.1.0.9', query);
    const [shown = {}] = ipJson(
      namespace,
      'route get 10.1.0.9 from 10.1.0.1 oif va mark 3 uid 0 ipproto udp sport 1000 dport 53',
    );
    assert.deepEqual([route.link, route.destination], [shown['dev'], `${shown['dst']}/32`]);
    const whole = await rtnetlink.getRoute('10.1.0.9', { fibMatch: true });
    assert.deepEqual([whole.destination, whole.protocol], ['10.1.0.0/24', 'kernel']);
  });
});
