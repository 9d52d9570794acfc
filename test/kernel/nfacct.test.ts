// Counters of nfacct in the kernel: they are created once, and rules of iptables increase them.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openNfacct } from '../../src/command/kernel/nfacct/index.js';
import { openNetlink } from '../../src/kernel/netlink/index.js';
import { closeAfter } from '../support/closeAfter.js';
import { tools } from '../support/namespaces/tools.js';

/** The discard service, on loopback of the test's own namespace. */
const PORT = 9;
const NAME = 'knp-test-counter';
const RULE = `OUTPUT -d 127.0.0.1 -p udp --dport ${PORT} -m nfacct --nfacct-name ${NAME}`;

test('a counter is created once, counts the packets of a rule, and keeps its number', async () => {
  const nfacct = closeAfter(await openNfacct());
  assert.equal(await nfacct.get(NAME), undefined);
  assert.equal(await nfacct.add(NAME), undefined);
  assert.deepEqual(await nfacct.get(NAME), { name: NAME, packets: 0n, bytes: 0n });
  tools('ip link set lo up', `iptables -A ${RULE}`);
  closeAfter({ close: () => void tools(`iptables -D ${RULE}`) });
  const socket = closeAfter(createSocket('udp4'));
  const send = promisify((text: string, done: (error: Error | null) => void) =>
    socket.send(text, PORT, '127.0.0.1', done),
  );
  await send('12345');
  await send('12345');
  // IPv4 and UDP have headers of 28 bytes.
  assert.deepEqual(await nfacct.get(NAME), { name: NAME, packets: 2n, bytes: 66n });
  assert.equal(await nfacct.add(NAME), undefined);
  assert.equal((await nfacct.get(NAME))?.packets, 2n);
});

test('one bit of NLM_F_DUMP makes the kernel list, and send() refuses it', async () => {
  const netlink = closeAfter(await openNetlink({ protocol: 'netfilter' }));
  const nfacct = closeAfter(await openNfacct());
  for (const name of ['knp-list-a', 'knp-list-b']) assert.equal(await nfacct.add(name), undefined);
  for (const flags of [0x100, 0x200, 0x300]) {
    // NFNL_MSG_ACCT_GET without the name of a counter.
    const get = { type: 0x701, flags, payload: new Uint8Array(4) };
    assert.ok((await netlink.query(get)).length >= 2, String(flags));
    assert.equal((await netlink.send([get]))[0]?.code, 'ERR_INVALID_ARGUMENT', String(flags));
  }
});
