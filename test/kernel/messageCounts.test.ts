// The system calls for messages, of each family that this machine's kernel has: one change, a batch, a list. Sets are written by
// libipset, which sends with sendto(2).
// Needs: conntrack, ipset
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Conntrack, openConntrack } from '../../src/kernel/conntrack/index.js';
import { type Ipset, openIpset, type SetDefinition } from '../../src/kernel/ipset/index.js';
import { openRtnetlink, type Rtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { CallTrace } from '../support/processes/callTrace.js';
import { temporary } from '../support/tables/ipset.js';

/** Operations of a batch, and objects of a list. */
const MANY = 1000;

let rtnetlink: Rtnetlink;
let ipset: Ipset;
let conntrack: Conntrack;
before(async () => {
  rtnetlink = await openRtnetlink();
  ipset = await openIpset();
  conntrack = await openConntrack();
});
after(() => Promise.all([rtnetlink.close(), ipset.close(), conntrack.close()]));

/** The messages that this process sends and receives while `act` runs, in calls. */
async function callsOf(act: () => Promise<unknown>): Promise<Record<string, number>> {
  await act(); // the first call finds links, loads libraries, opens sessions
  const trace = await CallTrace.attach(process.pid);
  await act();
  return trace.end();
}

const addressOf = (i: number) => `10.1.${i >> 8}.${i & 255}`;
const indexes = Array.from({ length: MANY }, (_, i) => i);

// Sets are written by libipset: libmnl sends with sendto(2).

test('one change of an address, a flow, or an entry of a set', async (t) => {
  const address = { link: 'lo', address: '10.1.0.1', prefix: 32 };
  const one = await callsOf(() => rtnetlink.replaceAddress(address));
  assert.deepEqual(one, { sendmsg: 1, recvmsg: 1 });
  await rtnetlink.deleteAddress(address);
  const flow = {
    family: 4,
    protocol: 'udp',
    original: { source: '10.0.0.1', destination: '10.0.0.2' },
  } as const;
  const gone = { ...flow, original: { ...flow.original, sourcePort: 1, destinationPort: 2 } };
  const deleted = await callsOf(() => conntrack.apply([{ do: 'deleteFlow', flow: gone }]));
  assert.deepEqual(deleted, { sendmsg: 1, recvmsg: 1 });
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'hash:ip', family: 4 };
  await ipset.apply([{ do: 'create', set }]);
  const added = await callsOf(() => ipset.apply([{ do: 'add', set, entry: { address: '10.0.0.1' } }]));
  assert.deepEqual(added, { sendto: 2, recvmsg: 2 }, 'the type of the set, and the entry');
});

test('a batch of a thousand', async (t) => {
  const address = (i: number) => ({ link: 'lo', address: addressOf(i), prefix: 32 });
  const replace = () => rtnetlink.apply(indexes.map((i) => ({ do: 'replaceAddress', address: address(i) })));
  assert.deepEqual(await callsOf(replace), { sendmsg: 4, recvmsg: 4 }, '256 messages in each');
  const list = await callsOf(() => rtnetlink.listAddresses('lo'));
  // The link by its name; then parts of 32 KiB at most, of about 80 bytes for each address, and the end of the list.
  assert.equal(list['sendmsg'], 2);
  assert.ok((list['recvmsg'] ?? 0) <= 6, JSON.stringify(list));
  await rtnetlink.apply(indexes.map((i) => ({ do: 'deleteAddress', address: address(i) })));
  temporary(t, 'knp-a');
  const set: SetDefinition = { name: 'knp-a', type: 'hash:ip', family: 4 };
  await ipset.apply([{ do: 'create', set }]);
  const add = () => ipset.apply(indexes.map((i) => ({ do: 'add', set, entry: { address: addressOf(i) } })));
  assert.deepEqual(await callsOf(add), { sendto: 17, recvmsg: 17 }, 'the type, and 64 entries in each');
});
