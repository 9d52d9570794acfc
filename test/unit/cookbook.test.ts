// The programs of the cookbook against the fakes of the kernel.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BalancedService, balance } from '../../examples/cookbook/balancer.js';
import { ban, readBans } from '../../examples/cookbook/banList.js';
import { metricsOf } from '../../examples/cookbook/exporter.js';
import { cleanFlows } from '../../examples/cookbook/flowCleaner.js';
import { FlowCounters } from '../../examples/cookbook/flowExporter.js';
import { linkStates } from '../../examples/cookbook/linkState.js';
import { follow, type Network, reconcile } from '../../examples/cookbook/network.js';
import { holdAddress } from '../../examples/cookbook/vip.js';
import { NetlinkError } from '../../src/kernel/errors.js';
import { AttributeWriter, genericHeader } from '../../src/kernel/netlink/index.js';
import {
  FakeConntrack,
  FakeIpset,
  FakeIpvs,
  FakeNetlink,
  FakeRtnetlink,
} from '../../src/kernel/testing/index.js';

const web: BalancedService = {
  address: '10.96.0.10',
  port: 80,
  protocol: 'tcp',
  scheduler: 'rr',
  servers: [
    { address: '10.0.0.1', port: 8080, weight: 2 },
    { address: '10.0.0.2', port: 8080 },
  ],
};

describe('the static load balancer', () => {
  it('creates the services of its file, and changes them in place', async () => {
    const ipvs = new FakeIpvs();
    await balance(ipvs, [web, { ...web, port: 81, servers: [] }]);
    assert.equal((await ipvs.list()).length, 2);
    const changed = { ...web, servers: [{ address: '10.0.0.2', port: 8080, weight: 5 }] };
    await balance(ipvs, [changed], [web, { ...web, port: 81, servers: [] }]);
    const [service, ...more] = await ipvs.list();
    assert.deepEqual(more, []);
    assert.equal(service?.scheduler, 'rr');
    assert.deepEqual(
      service.realServers.map(({ address, weight }) => [address, weight]),
      [['10.0.0.2', 5]],
    );
  });

  it('keeps services that its file never named, and reports an error', async () => {
    const ipvs = new FakeIpvs();
    await ipvs.add({ address: '10.96.0.99', port: 1, protocol: 'udp' });
    await balance(ipvs, [web]);
    assert.equal((await ipvs.list()).length, 2);
    ipvs.fault = (operation, target) => new NetlinkError({ code: 'ENOMEM', operation, target });
    await assert.rejects(balance(ipvs, [web]), AggregateError);
  });
});

it('the exporter names each virtual service and each real server', async () => {
  const ipvs = new FakeIpvs();
  await balance(ipvs, [web]);
  await ipvs.add({ firewallMark: 7, family: 6 });
  const text = await metricsOf(ipvs);
  for (const line of [
    '# TYPE ipvs_connections_total counter',
    'ipvs_connections_total{service="10.96.0.10:80",protocol="tcp"} 0',
    'ipvs_connections_total{mark="7",family="ipv6"} 0',
    'ipvs_server_outgoing_bytes_total{service="10.96.0.10:80",protocol="tcp",server="10.0.0.2:8080"} 0',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} is missing in\n${text}`);
  }
});

describe('the ban list', () => {
  it('reads networks and times, and names the line that is wrong', () => {
    assert.deepEqual(readBans('10.0.0.1 60 # a minute\n\n# none\n10.1.0.0/16\n'), [
      { network: '10.0.0.1', timeout: 60 },
      { network: '10.1.0.0/16', timeout: 0 },
    ]);
    assert.throws(
      () => readBans('10.0.0.1\n10.0.0.2 soon'),
      /line 2 must be a network and a time in s, found '10.0.0.2 soon'/,
    );
  });

  it('replaces a full set by a larger one', async () => {
    const ipset = new FakeIpset();
    const bans = Array.from({ length: 9 }, (_, i) => ({ network: `10.0.${i}.0/24`, timeout: 600 }));
    assert.equal(await ban(ipset, bans, 4), 9);
    assert.equal(await ban(ipset, bans, 4), 9);
    assert.equal((await ipset.get('banned'))?.set.maxElements, 16);
  });
});

describe('the virtual IP', () => {
  const vip = { link: 'vip0', address: '10.0.0.99', prefix: 32 };
  async function opened() {
    const rtnetlink = new FakeRtnetlink();
    await rtnetlink.addLink('vip0', 'dummy');
    return rtnetlink;
  }
  const holds = async (rtnetlink: FakeRtnetlink) => (await rtnetlink.listAddresses('vip0')).length === 1;

  it('is held while checks are good, after up to two bad ones, and when somebody removes it', async () => {
    const rtnetlink = await opened();
    const seen: boolean[] = [];
    async function* checks() {
      for (const isGood of [false, true, false, false, true, false, false, false, true]) {
        yield isGood;
        seen.push(await holds(rtnetlink));
      }
      await rtnetlink.deleteAddress(vip);
      yield true;
      seen.push(await holds(rtnetlink));
    }
    await holdAddress(rtnetlink, vip, checks());
    assert.deepEqual(seen, [false, true, true, true, true, true, true, false, true, true]);
    assert.equal(await holds(rtnetlink), false, 'removed at the end');
  });

  it('reports an error that is not about the address', async () => {
    async function* checks() {
      yield true;
    }
    await assert.rejects(holdAddress(new FakeRtnetlink(), vip, checks()), { code: 'ENODEV' });
  });
});

it('the flow cleaner deletes flows that exist, flows that begin, and all again after a loss', async () => {
  const conntrack = new FakeConntrack();
  const tuple = (source: string, destination: string, sourcePort: number) => ({
    source,
    destination,
    sourcePort,
    destinationPort: 80,
  });
  const track = (server: string, port: number) =>
    conntrack.track({
      protocol: 'tcp',
      original: tuple('10.0.0.9', '10.96.0.10', port),
      reply: tuple(server, '10.0.0.9', port),
    });
  track('10.0.0.1', 1);
  track('10.0.0.2', 2);
  const end = new AbortController();
  const reports: number[] = [];
  let ready = () => {};
  const cleaning = cleanFlows(conntrack, ['10.0.0.2', '10.0.1.0/24'], end.signal, (deleted) => {
    reports.push(deleted);
    ready();
  });
  const next = (count: number) =>
    new Promise<void>((resolve) => {
      ready = () => void (reports.length >= count && resolve());
      ready();
    });
  await next(2);
  assert.deepEqual(reports, [1, 0]);
  track('10.0.1.7', 3);
  await next(3);
  conntrack.events.lose();
  await next(5);
  assert.deepEqual(reports, [1, 0, 1, 0, 0]);
  end.abort();
  await cleaning;
  assert.deepEqual(
    (await conntrack.list().toArray()).map(({ reply }) => reply.source),
    ['10.0.0.1'],
  );
});

describe('the reconciler of a network', () => {
  const wanted: Network = {
    links: [{ name: 'web0', kind: 'dummy', mtu: 1400 }],
    addresses: [
      { link: 'web0', address: '10.0.9.1', prefix: 24 },
      { link: 'web0', address: 'fd00:9::1', prefix: 64 },
    ],
    routes: [
      { destination: '10.8.0.0/16', gateway: '10.0.9.254', table: 100 },
      { destination: 'default', family: 6, link: 'web0', table: 100 },
    ],
    rules: [
      { priority: 1000, from: '10.0.9.0/24', table: 100 },
      { priority: 1000, from: 'fd00:9::/64', table: 100 },
    ],
  };

  it('makes what is wanted, once, and removes what is not wanted any more', async () => {
    const rtnetlink = new FakeRtnetlink();
    const state = async () => [
      await rtnetlink.listLinks(),
      await rtnetlink.listAddresses(),
      await rtnetlink.listRoutes().toArray(),
      await rtnetlink.listRules(),
    ];
    const empty = await state();
    assert.equal(await reconcile(rtnetlink, wanted), 7);
    assert.equal(await reconcile(rtnetlink, wanted), 0);
    const [route] = await rtnetlink.listRoutes({ family: 4, table: 100 }).toArray();
    assert.deepEqual([route?.destination, route?.gateway], ['10.8.0.0/16', '10.0.9.254']);
    const changed: Network = {
      ...wanted,
      links: [{ name: 'web0', kind: 'dummy', mtu: 1300 }],
      addresses: wanted.addresses?.slice(0, 1) ?? [],
      rules: [{ priority: 1000, from: '10.0.9.0/24', table: 200 }],
    };
    assert.equal(await reconcile(rtnetlink, changed, wanted), 5);
    assert.equal((await rtnetlink.getLink('web0'))?.mtu, 1300);
    assert.equal((await rtnetlink.listRules(4)).find(({ priority }) => priority === 1000)?.table, 200);
    await reconcile(rtnetlink, {}, changed);
    assert.deepEqual(await state(), empty);
  });

  it('repairs what others change, until it is ended', async () => {
    const rtnetlink = new FakeRtnetlink();
    const end = new AbortController();
    const reports: number[] = [];
    await follow(rtnetlink, wanted, {}, end.signal, (changes) => {
      reports.push(changes);
      if (reports.length === 1)
        void rtnetlink.deleteAddress({ link: 'web0', address: '10.0.9.1', prefix: 24 });
      else end.abort();
    });
    assert.equal(reports[0], 7);
    assert.equal(
      (await rtnetlink.listAddresses('web0')).filter(({ address }) => address === '10.0.9.1').length,
      1,
    );
  });
});

it('the exporter of flows counts what begins and ends, and losses', async () => {
  const conntrack = new FakeConntrack();
  const end = new AbortController();
  const counters = new FlowCounters();
  const counting = counters.count(conntrack, end.signal);
  await new Promise(setImmediate);
  const original = { source: '10.0.0.9', destination: '10.96.0.10', sourcePort: 1, destinationPort: 80 };
  const reply = { source: '10.0.0.1', destination: '10.0.0.9', sourcePort: 80, destinationPort: 1 };
  const bytes = { packets: 1n, bytes: 700n };
  const flow = conntrack.track({
    ...{ protocol: 'tcp', original, reply, counters: { original: bytes, reply: bytes } },
  });
  await conntrack.deleteFlows([flow]);
  await new Promise(setImmediate);
  conntrack.events.lose();
  await new Promise(setImmediate);
  const lines = (await counters.metrics(conntrack)).split('\n');
  for (const line of [
    'conntrack_flows 0',
    'conntrack_begun_total{protocol="tcp"} 1',
    'conntrack_ended_total{protocol="tcp"} 1',
    'conntrack_bytes_total{protocol="tcp"} 1400',
    'conntrack_losses_total 1',
  ]) {
    assert.ok(lines.includes(line), `${line} is missing in\n${lines.join('\n')}`);
  }
  end.abort();
  await counting;
});

it('the states of links are read from the messages of a family without a client', async () => {
  const netlink = new FakeNetlink();
  netlink.families.set('ethtool', { name: 'ethtool', id: 21, version: 1, headerSize: 0, groups: new Map() });
  const state = (name: string, link?: number) => {
    const payload = new AttributeWriter(genericHeader(6)).nested(1, (header) =>
      header.u32(1, 7).text(2, name),
    );
    return { type: 21, flags: 0, payload: (link === undefined ? payload : payload.u8(2, link)).payload() };
  };
  netlink.answer = ({ type, flags }) => {
    return type === 21 && flags === 0x300 ? [state('eth0', 1), state('eth1', 0), state('none')] : 95;
  };
  assert.deepEqual(await linkStates(netlink), [
    { name: 'eth0', carrier: true },
    { name: 'eth1', carrier: false },
  ]);
});
