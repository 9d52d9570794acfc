// Netlink itself, on the kernel: its contract, and the messages of families that have no client.
// Needs: namespace
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterEach, describe, it } from 'node:test';
import {
  AttributeReader,
  AttributeWriter,
  GENL_ID_CTRL,
  genericCommand,
  genericHeader,
  LINK_HEADER_SIZE,
  linkHeader,
  type NetlinkEvent,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  openNetlink,
  readFamily,
} from '../../src/kernel/netlink/index.js';
import { readMessages } from '../../src/kernel/netlink/messages.js';
import { bytesOf } from '../../src/kernel/netlink/rules.js';
import { loadAddon } from '../../src/kernel/shared/addon.js';
import { netlinkContract } from '../support/contract/netlink.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';

// include/uapi/linux/rtnetlink.h, if_link.h
const RTM = { newLink: 16, newRoute: 24, getLink: 18 } as const;
/** Beyond RTM_MAX: EOPNOTSUPP. */
const UNKNOWN = 0x7000;
const RTNLGRP_LINK = 1;
const CTRL_CMD_GETFAMILY = 3;

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

const open = async (protocol: 'generic' | 'route', netns = namespaces.add()) =>
  namespaces.keep(await openNetlink({ protocol, netns }));

/** `struct rtmsg` of a route of the main table. */
const route = (prefix: number) => Uint8Array.of(2, prefix, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0);

describe('netlink', () => netlinkContract(open));

describe('messages of families without a client', () => {
  it('lists the families of generic netlink', async () => {
    const netlink = await open('generic');
    const request = { type: GENL_ID_CTRL, payload: genericHeader(CTRL_CMD_GETFAMILY) };
    const replies = await netlink.dump(request).toArray();
    assert.ok(replies.every((reply) => genericCommand(reply) === 1));
    const families = replies.map((reply) => readFamily(reply));
    const controller = families.find(({ name }) => name === 'nlctrl') ?? assert.fail();
    assert.equal(controller.id, GENL_ID_CTRL);
    for (const { name, id } of families) assert.equal((await netlink.resolveFamily(name)).id, id, name);
  });

  it('creates, changes and lists what ip(8) sees', async () => {
    const netns = namespaces.add();
    const netlink = await open('route', netns);
    const name = netns.replace('/run/netns/', '');
    const bridge = new AttributeWriter(linkHeader())
      .text(3, 'br0')
      .nested(18, (info) => info.bytes(1, Buffer.from('bridge')))
      .payload();
    const messages = [
      { type: RTM.newLink, flags: NLM_F_CREATE | NLM_F_EXCL, payload: bridge },
      { type: RTM.newLink, flags: NLM_F_CREATE | NLM_F_EXCL, payload: bridge },
    ];
    const [created, again] = await netlink.send(messages);
    assert.equal(created, undefined);
    assert.equal(again?.code, 'EEXIST');
    assert.match(
      execFileSync('ip', ['-n', name, '-d', 'link', 'show', 'br0'], { encoding: 'utf8' }),
      /bridge/,
    );
    const names: string[] = [];
    for await (const { payload } of netlink.dump({ type: RTM.getLink, payload: linkHeader() })) {
      for (const attribute of new AttributeReader(payload, { offset: LINK_HEADER_SIZE })) {
        if (attribute.type === 3) names.push(attribute.text());
      }
    }
    assert.ok(names.includes('br0') && names.includes('lo'), names.join());
  });

  it("has the kernel's text of an error", async () => {
    const netlink = await open('route');
    const payload = new AttributeWriter(route(33)).address(1, '10.0.0.1').payload();
    const [refused] = await netlink.send([{ type: RTM.newRoute, payload }]);
    assert.equal(refused?.code, 'EINVAL');
    assert.match(refused?.kernelMessage ?? '', /[Ii]nvalid prefix/);
  });

  it('sends messages of every length, and more than fit into one buffer', async () => {
    const netlink = await open('route');
    const sizes = [0, 1, 2, 3, 4, 5, 15, 16, 17, 1000, 65_536, 131_072];
    const messages = [...sizes, ...sizes, ...Array.from({ length: 600 }, () => 12)].map((size) => ({
      type: UNKNOWN,
      payload: new Uint8Array(size).fill(0xff),
    }));
    const results = await netlink.send(messages);
    assert.equal(results.length, messages.length);
    assert.deepEqual([...new Set(results.map((result) => result?.code))], ['EOPNOTSUPP']);
    assert.equal(
      (
        await netlink.query({
          type: RTM.getLink,
          payload: linkHeader({ index: 1 }),
        })
      ).length,
      1,
    );
  });

  it('a request that is not a listing ends as one', async () => {
    const netlink = await open('route');
    const payload = new AttributeWriter(route(32)).payload();
    await assert.rejects(netlink.dump({ type: RTM.newRoute, payload }).toArray(), {
      operation: 'netlink.dump',
    });
  });

  it('checks requests strictly, unless it is opened otherwise', async () => {
    const netns = namespaces.add();
    // `struct rtgenmsg`, as programs from before Linux 4.20 send it.
    const old = { type: RTM.getLink, payload: new Uint8Array(4) };
    await assert.rejects((await open('route', netns)).dump(old).toArray(), { code: 'EINVAL' });
    const lenient = namespaces.keep(await openNetlink({ protocol: 'route', netns, strictChecking: false }));
    assert.equal((await lenient.dump(old).toArray()).length, 1);
    await assert.rejects(openNetlink({ protocol: 'route', netns, strictChecking: 1 as never }), {
      name: 'TypeError',
      message: /netlink\.open: strictChecking must be true or false, found 1/,
    });
  });

  it('lists although a listing that a change began is still under way', async () => {
    const netns = namespaces.add();
    const links = Array.from({ length: 200 }, (_, i) => `link add b${i} type bridge\n`).join('');
    execFileSync('ip', ['-n', netns.replace('/run/netns/', ''), '-batch', '-'], { input: links });
    const native = new (loadAddon().NetlinkClient)(0, true);
    await native.open(netns, 5000);
    const list = bytesOf({ type: RTM.getLink, payload: new Uint8Array(16) }, NLM_F_DUMP, 'test');
    const unknown = bytesOf({ type: UNKNOWN }, 0, 'test');
    // Its answer ends the batch before the listing of 200 links has come to its end.
    assert.deepEqual(
      (await native.apply(Buffer.concat([list, unknown]))).map(({ index }) => index),
      [1],
    );
    assert.equal([...readMessages(await native.query(list))].length, 201);
    native.close();
  });

  it('notifies of the messages of its groups', async () => {
    const netns = namespaces.add();
    const netlink = await open('route', netns);
    const name = netns.replace('/run/netns/', '');
    const types: number[] = [];
    for await (const event of netlink.watch([RTNLGRP_LINK])) {
      if (event.kind === 'resync') {
        execFileSync('ip', ['-n', name, 'link', 'add', 'br1', 'type', 'bridge']);
        execFileSync('ip', ['-n', name, 'link', 'del', 'br1']);
        continue;
      }
      types.push(event.message.type);
      if (linkOf(event) === 'br1' && event.message.type === 17) break;
    }
    assert.deepEqual([...new Set(types)], [RTM.newLink, 17]);
  });

  it('names protocols, groups and namespaces that do not exist', async () => {
    await assert.rejects(
      openNetlink({ protocol: 'x' as never }),
      /netlink\.open: protocol must be a number, or one of/,
    );
    await assert.rejects(openNetlink({ protocol: 32 }), RangeError);
    await assert.rejects(openNetlink({ protocol: 31 }), {
      code: 'EPROTONOSUPPORT',
      operation: 'netlink.open',
    });
    await assert.rejects(openNetlink({ protocol: 0, netns: '/run/netns/knp-none' }), { code: 'ENOENT' });
    const netlink = await open('route');
    const iterator = netlink.watch([100_000])[Symbol.asyncIterator]();
    await assert.rejects(iterator.next(), { operation: 'netlink.watch', code: 'EINVAL' });
    await assert.rejects((await open('route')).resolveFamily('nlctrl'), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

function linkOf({ message }: NetlinkEvent): string | undefined {
  for (const attribute of new AttributeReader(message.payload, { offset: 16 })) {
    if (attribute.type === 3) return attribute.text();
  }
  return undefined;
}
