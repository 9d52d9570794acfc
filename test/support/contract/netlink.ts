// The contract of netlink itself: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Netlink, NetlinkRequest } from '../../../src/kernel/netlink/types.js';
import { closed, outcomes } from './refusals.js';

/** `RTM_GETLINK` of lo, which is allowed to everybody. */
const GET_LO: NetlinkRequest = {
  type: 18,
  payload: Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
};
/** `RTM_GETLINK` of a link that is not there: ENODEV. */
export const GET_NONE: NetlinkRequest = {
  type: 18,
  payload: Uint8Array.of(0, 0, 0, 0, 99, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
};
/** `RTM_NEWLINK`: the type of the messages that have a link. */
export const LINK_TYPE = 16;

/** Registers the tests. `open` opens a protocol in a network namespace with only lo, which is down. */
export function netlinkContract(open: (protocol: 'generic' | 'route') => Promise<Netlink>): void {
  it('resolves families of generic netlink', async () => {
    const netlink = await open('generic');
    const { name, id, headerSize, groups } = await netlink.resolveFamily('nlctrl');
    assert.deepEqual(
      { name, id, headerSize, groups: [...groups] },
      {
        name: 'nlctrl',
        id: 16,
        headerSize: 0,
        groups: [['notify', 16]],
      },
    );
    const missing = { code: 'ENOENT', errno: 2, operation: 'netlink.resolveFamily', target: 'nonesuch' };
    await assert.rejects(netlink.resolveFamily('nonesuch'), missing);
    await assert.rejects(
      netlink.resolveFamily(''),
      /netlink\.resolveFamily: name must be a name of 1 to 15 bytes/,
    );
    await assert.rejects(netlink.resolveFamily(5 as never), TypeError);
  });

  it('answers a request, and lists', async () => {
    const netlink = await open('route');
    const [reply, ...others] = await netlink.query(GET_LO);
    assert.deepEqual([reply?.type, reply?.payload[4], others.length], [LINK_TYPE, 1, 0]);
    await assert.rejects(netlink.query(GET_NONE), { code: 'ENODEV', operation: 'netlink.query' });
    const all = { type: 18, payload: new Uint8Array(16) };
    const listed = await netlink.dump(all).toArray();
    assert.ok(listed.some(({ type, payload }) => type === LINK_TYPE && payload[4] === 1));
    let count = 0;
    for await (const message of netlink.dump(all)) count += message.type === LINK_TYPE ? 1 : 0;
    assert.equal(count, listed.length);
  });

  it('has a result for each message, also after one that failed or breaks a rule', async () => {
    const netlink = await open('route');
    const broken = { type: 1 };
    assert.deepEqual(outcomes(await netlink.send([GET_LO, GET_NONE, broken, GET_LO])), [
      'done',
      'ENODEV 19 netlink.send message type 18',
      'ERR_INVALID_ARGUMENT 0 netlink.send message type 1',
      'done',
    ]);
    assert.deepEqual(await netlink.send([]), []);
  });

  it('sends nothing that asks for a listing, which dump() reads', async () => {
    const netlink = await open('route');
    const all = { type: 18, payload: new Uint8Array(16) };
    // Each bit of NLM_F_DUMP alone suffices for a message that gets; the bits of one that changes mean something else.
    const replace = { type: 0x7000, flags: 0x300 };
    const [both, first, second, other] = await netlink.send([
      ...[0x300, 0x100, 0x200].map((flags) => ({ ...all, flags })),
      replace,
    ]);
    for (const refused of [both, first, second]) {
      assert.equal(refused?.code, 'ERR_INVALID_ARGUMENT');
      assert.match(refused.kernelMessage ?? '', /^flags must not ask for a listing \(NLM_F_DUMP\)/);
    }
    assert.notEqual(other?.code, 'ERR_INVALID_ARGUMENT');
    assert.ok((await netlink.dump(all).toArray()).length > 0);
    const generic = await open('generic');
    const families = { type: 16, flags: 0x300, payload: Uint8Array.of(3, 1, 0, 0) };
    assert.equal((await generic.send([families]))[0]?.code, 'ERR_INVALID_ARGUMENT');
    await assert.rejects(
      netlink.resolveFamily('nlctrl'),
      /only the protocol generic has families with names/,
    );
  });

  it('rejects invalid arguments, and names the field', async () => {
    const netlink = await open('route');
    await assert.rejects(
      netlink.query({ type: 1 }),
      /netlink\.query: type must be an integer from 16 to 65535, found 1/,
    );
    await assert.rejects(
      netlink.query({ ...GET_LO, length: 3 } as never),
      /length is not a field of a message/,
    );
    assert.throws(() => netlink.dump({ type: 18, payload: [] as never }), TypeError);
    assert.throws(() => netlink.watch([]), /netlink\.watch: groups must be an array of 1 to 1024 numbers/);
    assert.throws(() => netlink.watch([1, 0]), /groups\[1\] must be an integer from 1 to/);
    assert.throws(() => netlink.watch([1], { gather: -1 }), RangeError);
  });

  it('rejects every call after close()', async () => {
    const netlink = await open('route');
    const iterator = netlink.watch([1])[Symbol.asyncIterator]();
    const start = { kind: 'resync', lost: false, receiveBuffer: 1 << 20 };
    assert.deepEqual((await iterator.next()).value, start);
    await closed(
      netlink,
      () => netlink.query(GET_LO),
      () => netlink.send([GET_LO]),
      () => netlink.dump(GET_LO).toArray(),
      () => netlink.watch([1])[Symbol.asyncIterator]().next(),
    );
    assert.equal((await iterator.next()).done, true);
    const generic = await open('generic');
    await closed(generic, () => generic.resolveFamily('nlctrl'));
  });
}
