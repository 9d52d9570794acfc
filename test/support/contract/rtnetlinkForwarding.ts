// The contract of forwarding databases: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ForwardingEntry, Rtnetlink } from '../../../src/kernel/rtnetlink/types.js';
import { outcomes } from './refusals.js';
import { type Open, withVeth } from './rtnetlinkVeth.js';

const A = '02:00:00:00:00:0a';
const B = '02:00:00:00:00:0b';
const C = '02:00:00:00:00:0c';
const ZERO = '00:00:00:00:00:00';

/** The addresses of the tests. The kernel has others too: those of ports, and of multicast groups. */
const OURS: ReadonlySet<string> = new Set([A, B, C, ZERO]);

/** The entries of the tests, without times, in the order of their texts. */
async function listed(rtnetlink: Rtnetlink, link?: string | number): Promise<ForwardingEntry[]> {
  const all = await rtnetlink.listForwardingEntries(link).toArray();
  return all
    .filter(({ hardwareAddress }) => OURS.has(hardwareAddress))
    .map(({ used, updated, ...entry }) => entry)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Two ports of bridges without VLANs, and a VXLAN. */
async function withDatabases(open: Open): Promise<Rtnetlink> {
  const rtnetlink = await withVeth(open);
  for (const [bridge, port] of [
    ['br', 'va'],
    ['br0', 'vb'],
  ] as const) {
    await rtnetlink.addLink(bridge, 'bridge', { bridge: { vlanDefaultPvid: 0 } });
    await rtnetlink.setLink(port, { master: bridge });
    await rtnetlink.setLink(bridge, { up: bridge === 'br' });
  }
  await rtnetlink.addLink('vx', 'vxlan', { vxlan: { id: 42, port: 4789 } });
  return rtnetlink;
}

const DATABASES: readonly Parameters<Rtnetlink['addForwardingEntry']>[0][] = [
  { link: 'va', hardwareAddress: A, master: true, state: 'static' },
  { link: 'va', hardwareAddress: B, master: true, state: 'dynamic' },
  { link: 'va', hardwareAddress: A },
  { link: 'br', hardwareAddress: '2:0:0:0:0:C' },
  { link: 'vx', hardwareAddress: A, destination: '192.0.2.7' },
  { link: 'vx', hardwareAddress: B, destination: '192.0.2.8', port: 4790, vni: 43, state: 'dynamic' },
];

/** Registers the tests. */
export function rtnetlinkForwardingContract(open: Open): void {
  it('adds, lists and deletes entries of ports, bridges, VXLANs and other links', async () => {
    const rtnetlink = await withDatabases(open);
    for (const entry of DATABASES) await rtnetlink.addForwardingEntry(entry);
    const entry = (link: string, hardwareAddress: string, more: object) => {
      return { link, hardwareAddress, master: false, state: 'permanent', flags: [], ...more };
    };
    const ofPort = [
      entry('va', A, {}),
      entry('va', A, { master: true, state: 'static' }),
      entry('va', B, { master: true, state: 'dynamic' }),
    ];
    const ofVxlan = [
      entry('vx', A, { destination: '192.0.2.7' }),
      entry('vx', B, { state: 'dynamic', destination: '192.0.2.8', port: 4790, vni: 43 }),
    ];
    const { index } = (await rtnetlink.getLink('va')) ?? assert.fail();
    assert.deepEqual(await listed(rtnetlink, index), ofPort);
    assert.deepEqual(await listed(rtnetlink, 'br'), [entry('br', C, {})]);
    assert.deepEqual(await listed(rtnetlink, 'vx'), ofVxlan);
    const all = await listed(rtnetlink);
    assert.deepEqual(all, [entry('br', C, {}), ...ofPort, ...ofVxlan]);
    // What was listed is deleted, and is the same when it is written again.
    for (const each of all) await rtnetlink.deleteForwardingEntry(each);
    assert.deepEqual(await listed(rtnetlink), []);
    for (const each of all) await rtnetlink.addForwardingEntry(each);
    assert.deepEqual(await listed(rtnetlink), all);
    await rtnetlink.setLink('va', { master: null });
    assert.deepEqual(await listed(rtnetlink, 'va'), [entry('va', A, {})]);
  });

  it('appends ends to an entry of a VXLAN, and replaces entries', async () => {
    const rtnetlink = await withDatabases(open);
    const ends = async () =>
      (await listed(rtnetlink, 'vx')).map((entry) => `${entry.hardwareAddress} ${entry.destination}`);
    const end = (destination: string, hardwareAddress = ZERO) => ({
      link: 'vx',
      hardwareAddress,
      destination,
    });
    await rtnetlink.appendForwardingEntry(end('192.0.2.1'));
    await rtnetlink.appendForwardingEntry(end('192.0.2.2'));
    await rtnetlink.appendForwardingEntry(end('192.0.2.2'));
    assert.deepEqual(await ends(), [`${ZERO} 192.0.2.1`, `${ZERO} 192.0.2.2`]);
    await rtnetlink.deleteForwardingEntry(end('192.0.2.1'));
    await rtnetlink.replaceForwardingEntry(end('192.0.2.3', A));
    await rtnetlink.replaceForwardingEntry(end('192.0.2.4', A));
    assert.deepEqual(await ends(), [`${ZERO} 192.0.2.2`, `${A} 192.0.2.4`]);
    await rtnetlink.deleteForwardingEntry({ link: 'vx', hardwareAddress: A });
    const port = { link: 'va', hardwareAddress: A, master: true };
    await rtnetlink.replaceForwardingEntry({ ...port, state: 'static' });
    await rtnetlink.replaceForwardingEntry({ ...port, state: 'dynamic' });
    assert.deepEqual(await listed(rtnetlink, 'va'), [{ ...port, state: 'dynamic', flags: [] }]);
  });

  it('keeps entries that another program learned, in a state of their own', async () => {
    const rtnetlink = await withDatabases(open);
    const external = { master: true, flags: ['extern_learn'] } as const;
    // The port vb does not learn. An entry that exists is no reason to refuse it.
    await rtnetlink.addForwardingEntry({ ...external, link: 'vb', hardwareAddress: A });
    await rtnetlink.addForwardingEntry({ ...external, link: 'vb', hardwareAddress: A, state: 'static' });
    await rtnetlink.addForwardingEntry({ ...external, link: 'vb', hardwareAddress: B, state: 'dynamic' });
    await rtnetlink.addForwardingEntry({ ...external, master: false, link: 'br', hardwareAddress: A });
    const own = { link: 'va', hardwareAddress: C, master: true, state: 'static' } as const;
    await rtnetlink.addForwardingEntry(own);
    await rtnetlink.addForwardingEntry({ ...own, ...external, state: 'dynamic' });
    const entry = (link: string, hardwareAddress: string, state: string, more: object = {}) => {
      return { link, hardwareAddress, master: true, state, flags: ['extern_learn'], ...more };
    };
    const learned = [entry('vb', A, 'dynamic'), entry('vb', B, 'dynamic')];
    assert.deepEqual(await listed(rtnetlink, 'vb'), learned);
    assert.deepEqual(await listed(rtnetlink, 'br'), [entry('br', A, 'permanent', { master: false })]);
    assert.deepEqual(await listed(rtnetlink, 'va'), [entry('va', C, 'static')]);
    // They stay while the link is down, and keep the flag when they are replaced.
    await rtnetlink.setLink('vb', { up: false });
    assert.deepEqual(await listed(rtnetlink, 'vb'), learned);
    await rtnetlink.replaceForwardingEntry({ link: 'vb', hardwareAddress: A, master: true, state: 'static' });
    await rtnetlink.deleteForwardingEntry({ link: 'vb', hardwareAddress: B, master: true });
    assert.deepEqual(await listed(rtnetlink, 'vb'), [entry('vb', A, 'static')]);
  });

  it('refuses entries as the kernel does', async () => {
    const rtnetlink = await withDatabases(open);
    const add = (entry: Parameters<Rtnetlink['addForwardingEntry']>[0]) =>
      ({ do: 'addForwardingEntry', entry }) as const;
    const of = { link: 'va', hardwareAddress: A, master: true };
    const results = await rtnetlink.apply([
      add(of),
      add(of),
      add({ ...of, link: 'vx' }),
      add({ ...of, link: 'none' }),
      add({ ...of, state: 'stale' }),
      add({ ...of, link: 'vb', state: 'dynamic' }),
      add({ ...of, vlan: 7 }),
      add({ link: 'br', hardwareAddress: A, state: 'static' }),
      add({ link: 'vx', hardwareAddress: A, destination: '192.0.2.1', state: 'static' }),
      add({ link: 'va', hardwareAddress: A, state: 'static' }),
      add({ link: 'lo', hardwareAddress: A }),
      add({ link: 'va', hardwareAddress: '02:00:00:00:00' }),
      add({ link: 'vx', hardwareAddress: A, destination: '192.0.2.1', nextHopId: 7 }),
      {
        do: 'replaceForwardingEntry',
        entry: { link: 'vx', hardwareAddress: ZERO, destination: '192.0.2.1' },
      },
      { do: 'deleteForwardingEntry', entry: { ...of, hardwareAddress: B } },
      { do: 'deleteForwardingEntry', entry: { ...of, link: 'vx' } },
    ]);
    const refused = (code: string, target: string, verb = 'add') =>
      `${code} rtnetlink.${verb}ForwardingEntry ${target}`;
    assert.deepEqual(outcomes(results), [
      'done',
      refused('EEXIST 17', `${A} dev va master`),
      refused('EOPNOTSUPP 95', `${A} dev vx master`),
      refused('ENODEV 19', `${A} dev none master`),
      refused('EINVAL 22', `${A} dev va master`),
      refused('EPERM 1', `${A} dev vb master`),
      refused('EINVAL 22', `${A} dev va vlan 7 master`),
      refused('EINVAL 22', `${A} dev br self`),
      refused('EINVAL 22', `${A} dev vx dst 192.0.2.1 self`),
      refused('EINVAL 22', `${A} dev va self`),
      refused('EINVAL 22', `${A} dev lo self`),
      refused('ERR_INVALID_ARGUMENT 0', '02:00:00:00:00 dev va self'),
      refused('ERR_INVALID_ARGUMENT 0', `${A} dev vx dst 192.0.2.1 self`),
      refused('EOPNOTSUPP 95', `${ZERO} dev vx dst 192.0.2.1 self`, 'replace'),
      refused('ENOENT 2', `${B} dev va master`, 'delete'),
      refused('EOPNOTSUPP 95', `${A} dev vx master`, 'delete'),
    ]);
  });

  it('notifies of entries', async () => {
    const rtnetlink = await withDatabases(open);
    const port = { link: 'va', hardwareAddress: A, master: true };
    const seen: string[] = [];
    for await (const event of rtnetlink.watch({ kinds: ['forwardingEntry'], gather: 1 })) {
      if (event.kind === 'resync') {
        await rtnetlink.addForwardingEntry(port);
        await rtnetlink.deleteForwardingEntry(port);
      } else if (event.kind === 'forwardingEntry' && event.entry.hardwareAddress === A) {
        seen.push(`${event.deleted ? 'deleted' : 'new'} ${event.entry.link} ${event.entry.master}`);
        if (event.deleted) break;
      }
    }
    assert.deepEqual(seen, ['new va true', 'deleted va true']);
  });
}
