// Every verb of rtnetlink on a real kernel, with ip(8) as witness.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { NetlinkError } from '../../src/kernel/errors.js';
import {
  type LinkAddressId,
  type OperationResult,
  openRtnetlink,
  type Rtnetlink,
  type RtnetlinkOperation,
} from '../../src/kernel/rtnetlink/index.js';
import { emptyNamespaces, makeNamespace, type Namespace } from '../support/namespaces/netns.js';

const LINK = 'kube-ipvs0';

let namespace: Namespace;
let rtnetlink: Rtnetlink;
/** The names of lo, and of the tunnels of drivers that are built in. */
let first: readonly string[];
before(async () => {
  namespace = makeNamespace();
  rtnetlink = await openRtnetlink({ netns: namespace.path });
  first = (await rtnetlink.listLinks()).map(({ name }) => name);
});
after(() => {
  rtnetlink.close();
  namespace.remove();
});
afterEach(async () => {
  const links = (await rtnetlink.listLinks()).filter(({ name }) => !first.includes(name));
  // Some of these fail: of a pair of veth both go with one.
  await rtnetlink.apply(links.map(({ name }): RtnetlinkOperation => ({ do: 'deleteLink', name })));
  assert.equal((await rtnetlink.listLinks()).length, first.length);
});

interface IpLink {
  readonly ifindex: number;
  readonly ifname: string;
  readonly flags: readonly string[];
  readonly mtu: number;
  readonly linkinfo?: { readonly info_kind?: string };
  readonly addr_info?: readonly IpAddress[];
}
interface IpAddress {
  readonly local: string;
  readonly prefixlen: number;
  readonly scope: string;
}

function ip(...args: readonly string[]): IpLink[] {
  return JSON.parse(namespace.run('ip', '-d', '-j', ...args) || '[]');
}

function addressesOf(link: string): string[] {
  const shown = ip('addr', 'show', 'dev', link)[0]?.addr_info ?? [];
  return shown.map(({ local, prefixlen, scope }) => `${local}/${prefixlen} ${scope}`);
}

function codes(results: readonly OperationResult[]): (string | undefined)[] {
  return results.map((result) => result?.code);
}

test('a dummy link is made, down, listed and deleted', async () => {
  await rtnetlink.addLink(LINK, 'dummy');
  const shown = ip('link', 'show', 'dev', LINK)[0] ?? assert.fail();
  assert.equal(shown.linkinfo?.info_kind, 'dummy');
  assert.ok(!shown.flags.includes('UP'));
  const got = await rtnetlink.getLink(LINK);
  assert.deepEqual(
    [got?.index, got?.name, got?.kind, got?.mtu, got?.up, got?.state],
    [shown.ifindex, LINK, 'dummy', shown.mtu, false, 'down'],
  );
  await assert.rejects(rtnetlink.addLink(LINK, 'dummy'), { name: 'NetlinkError', code: 'EEXIST', errno: 17 });
  await rtnetlink.deleteLink(LINK);
  assert.equal(await rtnetlink.getLink(LINK), undefined);
  await assert.rejects(rtnetlink.deleteLink(LINK), { code: 'ENODEV', target: `dev ${LINK}` });
});

test('links are listed as ip lists them', async () => {
  namespace.run('ip', 'link', 'add', 'knp-bridge', 'type', 'bridge');
  namespace.run('ip', 'link', 'add', 'fifteen-letters', 'type', 'veth', 'peer', 'name', 'knp-peer');
  namespace.run('ip', 'link', 'set', 'fifteen-letters', 'up', 'mtu', '1400');
  const listed = (await rtnetlink.listLinks()).map(({ index, name, kind, mtu, up }) => ({
    index,
    name,
    kind,
    mtu,
    up,
  }));
  const shown = ip('link', 'show').map(({ ifindex, ifname, linkinfo, mtu, flags }) => {
    return { index: ifindex, name: ifname, kind: linkinfo?.info_kind ?? '', mtu, up: flags.includes('UP') };
  });
  assert.equal(shown.length, first.length + 3);
  assert.deepEqual(listed, shown);
});

const addresses: readonly (readonly [LinkAddressId, string])[] = [
  [{ link: LINK, address: '10.96.0.1', prefix: 32 }, '10.96.0.1/32 global'],
  [{ link: LINK, address: '10.96.0.2', prefix: 24 }, '10.96.0.2/24 global'],
  [{ link: LINK, address: '255.255.255.254', prefix: 0 }, '255.255.255.254/0 global'],
  [{ link: LINK, address: 'fd00:10:96::1', prefix: 128 }, 'fd00:10:96::1/128 global'],
  [{ link: LINK, address: 'fd00:10:96::2', prefix: 64 }, 'fd00:10:96::2/64 global'],
];

for (const [address, shown] of addresses) {
  test(`an address: ${address.address}/${address.prefix}`, async () => {
    await rtnetlink.addLink(LINK, 'dummy');
    await rtnetlink.addAddress(address);
    assert.deepEqual(addressesOf(LINK), [shown]);
    const [listed, ...others] = await rtnetlink.listAddresses(LINK);
    assert.deepEqual(others, []);
    const label = address.address.includes(':') ? {} : { label: LINK };
    assert.deepEqual({ ...listed, flags: [] }, { ...address, ...label, scope: 'global', flags: [] });
    await assert.rejects(rtnetlink.addAddress(address), { code: 'EEXIST' });
    const elsewhere = { ...address, prefix: address.prefix + (address.prefix === 0 ? 1 : -1) };
    await assert.rejects(rtnetlink.deleteAddress(elsewhere), { code: 'EADDRNOTAVAIL' });
    await rtnetlink.deleteAddress(address);
    assert.deepEqual(addressesOf(LINK), []);
    await assert.rejects(rtnetlink.deleteAddress(address), {
      code: 'EADDRNOTAVAIL',
      operation: 'rtnetlink.deleteAddress',
      target: `${address.address}/${address.prefix} dev ${LINK}`,
    });
  });
}

test('an address of a link that is not there', async () => {
  const address = { link: 'nowhere', address: '10.0.0.1', prefix: 32 };
  const hint = 'there is no link nowhere';
  const missing = { code: 'ENODEV', hint: undefined, kernelMessage: hint };
  const message = `ENODEV: rtnetlink.addAddress 10.0.0.1/32 dev nowhere: ${hint}`;
  await assert.rejects(rtnetlink.addAddress(address), { ...missing, message });
  await assert.rejects(rtnetlink.deleteAddress(address), { code: 'ENODEV', kernelMessage: hint });
  await assert.rejects(rtnetlink.listAddresses('nowhere'), { code: 'ENODEV' });
});

test('addresses of every link and of one, loopback included', async () => {
  await rtnetlink.addLink(LINK, 'dummy');
  await rtnetlink.addAddress({ link: LINK, address: '10.96.0.1', prefix: 32 });
  const short = (listed: Awaited<ReturnType<Rtnetlink['listAddresses']>>) =>
    listed.map(({ link, address, prefix, scope }) => `${address}/${prefix} ${link} ${scope}`);
  const loopback = ['127.0.0.1/8 lo host', '::1/128 lo host'];
  assert.deepEqual(short(await rtnetlink.listAddresses('lo')), loopback);
  assert.deepEqual(
    short(await rtnetlink.listAddresses()).sort(),
    [`10.96.0.1/32 ${LINK} global`, ...loopback].sort(),
  );
});

test('of a point-to-point address the own end is listed', async () => {
  await rtnetlink.addLink(LINK, 'dummy');
  namespace.run('ip', 'addr', 'add', '10.0.0.1', 'peer', '10.0.0.2/32', 'dev', LINK);
  namespace.run('ip', 'addr', 'add', 'fd00::1', 'peer', 'fd00::2/128', 'dev', LINK);
  assert.deepEqual(
    (await rtnetlink.listAddresses(LINK)).map(({ address }) => address),
    ['10.0.0.1', 'fd00::1'],
  );
});

test('the error has the message of the kernel', async () => {
  await assert.rejects(rtnetlink.addLink('knp0', 'nonsense'), {
    code: 'EOPNOTSUPP',
    kernelMessage: 'Unknown device type',
    hint: undefined,
  });
  await assert.rejects(rtnetlink.deleteLink('lo'), { code: 'EOPNOTSUPP' });
});

test('a setting or a state that the kernel refuses has no hint about modules', async () => {
  // Not every kernel has VLANs in bridges, and it knows the kind.
  const bridge = rtnetlink.addLink('knp0', 'bridge', { bridge: { vlanFiltering: true } });
  const refused = await bridge.then(
    () => rtnetlink.deleteLink('knp0'),
    (error: NetlinkError) => error,
  );
  if (refused) assert.deepEqual([refused.code, refused.hint], ['EOPNOTSUPP', undefined]);
  await assert.rejects(rtnetlink.addLink('knp0', 'veth', { peer: { name: 'knp1', up: true } }), {
    ...{ code: 'ENOTCONN', hint: /^the peer of a veth is not set up while it is created/ },
  });
  await rtnetlink.addLink(LINK, 'dummy', { up: true });
  await rtnetlink.addAddress({ link: LINK, address: '10.1.0.1', prefix: 24 });
  await assert.rejects(
    rtnetlink.addRoute({
      ...{ destination: '10.9.0.0/16', gateway: '10.1.0.2', preferredSource: '10.1.0.1' },
      metrics: { congestionControl: 'nonsense' },
    }),
    { code: 'EINVAL', hint: undefined },
  );
  // There is a route, but none by lo.
  await assert.rejects(rtnetlink.getRoute('10.1.0.9', { from: '10.55.0.1' }), {
    ...{ code: 'ENETUNREACH', hint: undefined },
  });
});

test('IPv6 on a link that has it disabled', async () => {
  await rtnetlink.addLink(LINK, 'dummy');
  namespace.run('sysctl', '-qw', `net.ipv6.conf.${LINK}.disable_ipv6=1`);
  await assert.rejects(rtnetlink.addAddress({ link: LINK, address: 'fd00::1', prefix: 128 }), {
    code: 'EACCES',
    hint: 'IPv6 is disabled on the link: disable_ipv6 in net.ipv6.conf',
  });
});

test('a batch makes a link, fills it, deletes it, and continues after failures', async () => {
  const address = { link: LINK, address: '10.96.0.1', prefix: 32 };
  const elsewhere = { link: 'knp-other', address: '10.96.0.2', prefix: 32 };
  const batch: readonly (readonly [RtnetlinkOperation, string | undefined])[] = [
    [{ do: 'addAddress', address }, 'ENODEV'],
    [{ do: 'addLink', name: LINK, kind: 'dummy' }, undefined],
    [{ do: 'addAddress', address }, undefined],
    [{ do: 'addAddress', address }, 'EEXIST'],
    [{ do: 'addAddress', address: elsewhere }, 'ENODEV'],
    [{ do: 'addLink', name: 'knp-other', kind: 'dummy' }, undefined],
    [{ do: 'addAddress', address: elsewhere }, undefined],
    [{ do: 'deleteAddress', address: { ...address, address: '10.96.0.9' } }, 'EADDRNOTAVAIL'],
    [{ do: 'deleteLink', name: LINK }, undefined],
    [{ do: 'deleteAddress', address }, 'ENODEV'],
    [{ do: 'addLink', name: LINK, kind: 'dummy' }, undefined],
    [{ do: 'addAddress', address: { ...address, prefix: 33 } }, 'ERR_INVALID_ARGUMENT'],
    [{ do: 'addAddress', address }, undefined],
    [{ do: 'addLink', name: LINK, kind: 'dummy' }, 'EEXIST'],
  ];
  const results = await rtnetlink.apply(batch.map(([operation]) => operation));
  assert.deepEqual(
    codes(results),
    batch.map(([, code]) => code),
  );
  assert.match(
    results[11]?.kernelMessage ?? '',
    /^address\.prefix must be an integer from 0 to 32, found 33$/,
  );
  assert.deepEqual(addressesOf(LINK), ['10.96.0.1/32 global']);
  assert.deepEqual(addressesOf('knp-other'), ['10.96.0.2/32 global']);
});

test('a thousand addresses, some of which fail in the middle', async () => {
  await rtnetlink.addLink(LINK, 'dummy');
  const operations = Array.from({ length: 1000 }, (_, i): RtnetlinkOperation => {
    const text = i % 2 === 0 ? `10.97.${i >> 8}.${i & 255}` : `fd00:10:97::${i.toString(16)}`;
    return { do: 'addAddress', address: { link: LINK, address: text, prefix: i % 2 === 0 ? 32 : 128 } };
  });
  const expected = new Array<string | undefined>(1000).fill(undefined);
  for (const place of [255, 256, 511, 600, 999]) {
    operations[place] = operations[0] ?? assert.fail();
    expected[place] = 'EEXIST';
  }
  assert.deepEqual(codes(await rtnetlink.apply(operations)), expected);
  assert.equal(addressesOf(LINK).length, 995);
  const listed = await rtnetlink.listAddresses(LINK);
  assert.deepEqual(
    listed.map(({ address, prefix, scope }) => `${address}/${prefix} ${scope}`).sort(),
    addressesOf(LINK).sort(),
  );
  const deletions = operations.map(
    (operation) => ({ ...operation, do: 'deleteAddress' }) as RtnetlinkOperation,
  );
  const gone = expected.map((code) => (code ? 'EADDRNOTAVAIL' : undefined));
  assert.deepEqual(codes(await rtnetlink.apply(deletions)), gone);
  assert.deepEqual(addressesOf(LINK), []);
});

test('a listing while addresses change is read again until it is whole', async () => {
  await rtnetlink.addLink(LINK, 'dummy');
  const kept = Array.from({ length: 1500 }, (_, i): RtnetlinkOperation => {
    return { do: 'addAddress', address: { link: LINK, address: `10.97.${i >> 8}.${i & 255}`, prefix: 32 } };
  });
  await rtnetlink.apply(kept);
  const writer = await openRtnetlink({ netns: namespace.path });
  const moving = { link: LINK, address: '10.99.0.1', prefix: 32 };
  let running = true;
  const done = (async () => {
    while (running) {
      await writer.addAddress(moving);
      await writer.deleteAddress(moving);
    }
  })();
  let lists = 0;
  let interrupted = 0;
  while (lists < 10) {
    try {
      const listed = await rtnetlink.listAddresses(LINK);
      assert.equal(listed.filter(({ address }) => address !== moving.address).length, 1500);
      lists++;
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'ERR_INTERRUPTED');
      assert.ok(++interrupted < 100);
    }
  }
  running = false;
  await done;
  writer.close();
});

const refused: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
  [
    'a long name',
    () => rtnetlink.addLink('x'.repeat(16), 'dummy'),
    /^rtnetlink\.addLink: name must be a name of 1 to 15 bytes/,
  ],
  ['a long name of few letters', () => rtnetlink.addLink('äöüäöüäö', 'dummy'), /name of 1 to 15 bytes/],
  ['a name longer than any', () => rtnetlink.getLink('x'.repeat(128)), /alternative name of 16 to 127 bytes/],
  ['an empty name', () => rtnetlink.deleteLink(''), /1 to 15 bytes/],
  ['a name with a slash', () => rtnetlink.addLink('a/b', 'dummy'), /without slash/],
  ['a name of dots', () => rtnetlink.listAddresses('..'), /neither \. nor \.\./],
  ['a name with NUL', () => rtnetlink.getLink('lo\0x'), /1 to 15 bytes/],
  ['a long kind', () => rtnetlink.addLink('knp0', 'x'.repeat(32)), /kind must be a text of 1 to 31 bytes/],
  [
    'an address',
    () => rtnetlink.addAddress({ link: 'lo', address: '10.0.0', prefix: 32 }),
    /address\.address must be an IPv4 or IPv6 address/,
  ],
  [
    'a prefix',
    () => rtnetlink.addAddress({ link: 'lo', address: 'fd00::1', prefix: 129 }),
    /address\.prefix must be an integer from 0 to 128/,
  ],
];

for (const [name, call, message] of refused) {
  test(`refused before it is sent: ${name}`, async () => {
    await assert.rejects(call, { name: 'RangeError', message });
    assert.deepEqual(
      ip('link', 'show').map(({ ifname }) => ifname),
      first,
    );
  });
}

test('a value of the wrong type is a TypeError', async () => {
  await assert.rejects(rtnetlink.addAddress(undefined as unknown as LinkAddressId), { name: 'TypeError' });
  await assert.rejects(rtnetlink.getLink({} as unknown as string), { name: 'TypeError' });
  const results = await rtnetlink.apply([null, { do: 'addLink' }] as unknown as RtnetlinkOperation[]);
  assert.deepEqual(codes(results), ['ERR_INVALID_ARGUMENT', 'ERR_INVALID_ARGUMENT']);
});

test('a client is of the namespace it was opened in', async () => {
  const own = await openRtnetlink();
  await rtnetlink.addLink('knp-here', 'dummy');
  assert.equal(await own.getLink('knp-here'), undefined);
  assert.ok(await rtnetlink.getLink('knp-here'));
  own.close();
  await assert.rejects(openRtnetlink({ netns: '/run/netns/nowhere' }), { code: 'ENOENT' });
  await assert.rejects(openRtnetlink({ netns: '/etc/hostname' }), { code: 'EINVAL' });
});

test('a closed client finishes earlier calls and refuses later ones', async () => {
  const closing = await openRtnetlink({ netns: namespace.path });
  const asked = closing.listLinks();
  closing.close();
  assert.equal((await asked).length, first.length);
  await assert.rejects(closing.listLinks(), { code: 'ERR_CLOSED', operation: 'rtnetlink.listLinks' });
  await assert.rejects(closing.addLink(LINK, 'dummy'), { code: 'ERR_CLOSED' });
});

test('an error that lo causes, being down, has the hint; with lo up the same operations succeed', async (t) => {
  const DOWN = 'lo is down in the network namespace: set it up (ip link set lo up)';
  // Once lo was up, its addresses remain those of the host: a namespace where it never was.
  const namespaces = emptyNamespaces();
  t.after(() => namespaces.remove());
  const apart = namespaces.keep(await openRtnetlink({ netns: namespaces.add('down') }));
  await apart.apply([
    { do: 'addLink', name: 'va', kind: 'veth', settings: { up: true, peer: { name: 'vb' } } },
    { do: 'setLink', link: 'vb', settings: { up: true } },
    { do: 'addAddress', address: { link: 'va', address: '10.1.0.1', prefix: 24 } },
  ]);
  const byLoopback: RtnetlinkOperation[] = [
    { do: 'addRoute', route: { destination: '10.10.0.0/16', link: 'lo' } },
    {
      do: 'addRoute',
      route: { destination: '10.13.0.0/16', gateway: '10.1.0.2', preferredSource: '127.0.0.1' },
    },
  ];
  const notLocal: RtnetlinkOperation = {
    do: 'addRoute',
    route: { destination: '10.14.0.0/16', gateway: '10.1.0.2', preferredSource: '10.99.0.1' },
  };
  const results = await apart.apply([...byLoopback, notLocal]);
  assert.deepEqual(
    results.map((result) => result && [result.code, 'hint' in result && result.hint]),
    [
      ['ENETDOWN', DOWN],
      ['EINVAL', DOWN],
      ['EINVAL', '10.99.0.1 must be an address of this host'],
    ],
  );
  const [first] = byLoopback;
  assert.ok(first?.do === 'addRoute');
  await assert.rejects(apart.addRoute(first.route), { code: 'ENETDOWN', hint: DOWN });
  await assert.rejects(apart.getRoute('127.0.0.1'), { code: 'ENETUNREACH', hint: DOWN });
  await assert.rejects(apart.getRoute('192.0.2.1'), {
    code: 'ENETUNREACH',
    hint: /no table/,
  });
  await apart.setLink('lo', { up: true });
  const after = await apart.apply([...byLoopback, notLocal]);
  assert.deepEqual(codes(after), [undefined, undefined, 'EINVAL']);
  assert.equal((await apart.getRoute('127.0.0.1')).link, 'lo');
});
