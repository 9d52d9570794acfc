// A link whose description is longer than the buffers of the sockets: every call that reads it works, and so do those about
// other links.
// Needs: namespace
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AttributeWriter, openNetlink } from '../../src/kernel/netlink/index.js';
import { openRtnetlink, type RtnetlinkChange, watchRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';

const RTM_GETLINK = 18;
const IFLA_EXT_MASK = 29;
const RTEXT_FILTER_SKIP_STATS = 8;
/** 400 names of 127 bytes: 52 KiB. */
const NAMES = Array.from({ length: 400 }, (_, i) => `knp-${i}-`.padEnd(127, 'n'));

let namespace: Namespace;
const client = () => openRtnetlink({ netns: namespace.path });
const setMtu = (link: string, mtu: number) =>
  execFileSync('ip', ['-n', namespace.name, 'link', 'set', link, 'mtu', String(mtu)]);

describe('a link that is described by 52 KiB', () => {
  before(() => {
    namespace = makeNamespace();
    const lines = NAMES.map((name) => `link property add dev large altname ${name}\n`);
    const input = ['link add large type bridge\n', 'link add small type bridge\n', ...lines].join('');
    execFileSync('ip', ['-n', namespace.name, '-batch', '-'], { input });
  });
  after(() => namespace.remove());

  it('is listed with all of its names', async () => {
    await using rtnetlink = await client();
    const links = await rtnetlink.listLinks();
    assert.deepEqual(
      links.map(({ name }) => name),
      ['lo', 'large', 'small'],
    );
    assert.deepEqual(links[1]?.alternativeNames, NAMES);
    assert.deepEqual((await rtnetlink.getLink('large'))?.alternativeNames, NAMES);
  });

  it('has addresses, as other links', async () => {
    await using rtnetlink = await client();
    for (const link of ['large', 'small'] as const) {
      const address = { link, address: link === 'large' ? '10.0.0.1' : '10.0.0.2', prefix: 32 };
      await rtnetlink.addAddress(address);
      assert.deepEqual(
        (await rtnetlink.listAddresses(link)).map(({ address }) => address),
        [address.address],
      );
      await rtnetlink.deleteAddress(address);
    }
  });

  it('is listed as messages', async () => {
    await using netlink = await openNetlink({ protocol: 'route', netns: namespace.path });
    // Without the mask, the kernel ends the listing before such a link, and reports no error.
    const mask = new AttributeWriter(new Uint8Array(16)).u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    const request = { type: RTM_GETLINK, payload: mask.payload() };
    const lengths = (await netlink.dump(request).toArray()).map(({ payload }) => payload.length);
    assert.equal(lengths.length, 3);
    assert.ok(Math.max(...lengths) > 50_000);
  });

  it('is watched', async () => {
    await using rtnetlink = await client();
    const seen: string[] = [];
    const signal = AbortSignal.timeout(PATIENCE);
    for await (const event of rtnetlink.watch({ kinds: ['link', 'address'], signal })) {
      if (event.kind === 'resync') setMtu('large', 1400);
      if (event.kind !== 'link') continue;
      seen.push(`${event.link.name} ${event.link.mtu}`);
      if (event.link.mtu === 1400) break;
    }
    assert.equal(seen.at(-1), 'large 1400');
  });

  it('is noticed by the watch of the host', async () => {
    const changes: RtnetlinkChange[] = [];
    const watch = await watchRtnetlink({ netns: namespace.path, gather: 0 }, (change) =>
      changes.push(change),
    );
    try {
      setMtu('large', 1300);
      const isThere = () => changes.some(({ lost, events }) => lost || events.length > 0);
      for (const deadline = performance.now() + PATIENCE; !isThere() && performance.now() < deadline; )
        await delay(20);
      assert.deepEqual(
        changes.flatMap(({ events }) => events.map((event) => event.kind === 'link' && event.link.mtu)),
        [1300],
      );
    } finally {
      watch.close();
    }
  });
});
