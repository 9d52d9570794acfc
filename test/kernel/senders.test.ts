// Whose request an event is of: the client's own changes, and those of other programs.
// Needs: nftables
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Nftables, openNftables } from '../../src/kernel/nftables/index.js';
import { openRtnetlink, type Rtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';

let namespace: Namespace;
let nftables: Nftables;
let rtnetlink: Rtnetlink;

before(async () => {
  namespace = makeNamespace();
  nftables = await openNftables({ netns: namespace.path });
  rtnetlink = await openRtnetlink({ netns: namespace.path });
});
after(async () => {
  await nftables.close();
  await rtnetlink.close();
  namespace.remove();
});

it('an event of nftables is of this client, of another one, or of nft', async () => {
  const other = await openNftables({ netns: namespace.path });
  const [own, others] = [await nftables.port(), await other.port()];
  assert.notEqual(own, others);
  const events = nftables.watch()[Symbol.asyncIterator]();
  const next = async () => {
    for (;;) {
      const { value: event } = await events.next();
      assert.ok(event);
      if (event.kind === 'table') return { name: event.table.name, sender: event.sender };
    }
  };
  assert.equal((await events.next()).value?.kind, 'resync');
  await nftables.addTable({ family: 'ip', name: 'ours' });
  await other.addTable({ family: 'ip', name: 'others' });
  namespace.run('nft', 'add', 'table', 'ip', 'theirs');
  assert.deepEqual(await next(), { name: 'ours', sender: own });
  assert.deepEqual(await next(), { name: 'others', sender: others });
  const { name, sender } = await next();
  assert.equal(name, 'theirs');
  assert.ok(sender !== undefined && sender !== own && sender !== others, String(sender));
  await events.return?.();
  await other.close();
});

it('an event of rtnetlink is of this client, of ip, or of the kernel', async () => {
  const own = await rtnetlink.port();
  const events = rtnetlink.watch({ kinds: ['address'] })[Symbol.asyncIterator]();
  const next = async () => {
    for (;;) {
      const { value: event } = await events.next();
      assert.ok(event);
      if (event.kind === 'address') return { ...event.address, deleted: event.deleted, sender: event.sender };
    }
  };
  assert.equal((await events.next()).value?.kind, 'resync');
  await rtnetlink.addAddress({ link: 'lo', address: '10.0.0.1', prefix: 32 });
  namespace.run('ip', 'address', 'add', '10.0.0.2/32', 'dev', 'lo');
  const [first, second] = [await next(), await next()];
  assert.deepEqual([first.address, first.sender], ['10.0.0.1', own]);
  assert.equal(second.address, '10.0.0.2');
  assert.ok(second.sender !== undefined && second.sender !== own, String(second.sender));
  // The kernel itself takes the address of a loopback link that goes down.
  namespace.run('ip', 'link', 'set', 'lo', 'up');
  namespace.run('ip', 'link', 'set', 'lo', 'down');
  for (;;) {
    const { address, deleted, sender } = await next();
    if (address !== '::1' || !deleted) continue;
    assert.equal(sender, undefined);
    break;
  }
  await events.return?.();
});
