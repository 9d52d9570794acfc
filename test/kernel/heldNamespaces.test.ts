// A client and its watches stay in the network namespace in which they were opened, whatever has its name later; and a
// namespace that the process is in already needs no privilege.
// Needs: conntrack, ipset
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterEach, describe, it } from 'node:test';
import { openConntrack } from '../../src/kernel/conntrack/index.js';
import { openNetlink } from '../../src/kernel/netlink/index.js';
import { openRtnetlink } from '../../src/kernel/rtnetlink/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { NEW } from '../support/contract/flowEvents.js';
import { emptyNamespaces } from '../support/namespaces/netns.js';
import { runWithout } from '../support/namespaces/runWithout.js';

const namespaces = emptyNamespaces();
afterEach(() => namespaces.remove());

/** Gives the name of a namespace to a new one. The old one is there as long as a client has it. */
function replace(netns: string): void {
  const name = netns.replace('/run/netns/', '');
  execFileSync('ip', ['netns', 'del', name]);
  execFileSync('ip', ['netns', 'add', name]);
}

/** The kinds of the first events of a watch, until one is not a resync: `act` is called after the first. */
async function firstKinds(stream: AsyncIterable<{ readonly kind: string }>, act: () => Promise<unknown>) {
  const kinds: string[] = [];
  for await (const { kind } of stream) {
    kinds.push(kind);
    if (kind !== 'resync') break;
    await act();
  }
  return kinds;
}

describe('the watches of a client whose namespace has lost its name', () => {
  const signal = () => AbortSignal.timeout(PATIENCE);

  it('notify of its links', async () => {
    const netns = namespaces.add();
    const rtnetlink = namespaces.keep(await openRtnetlink({ netns }));
    replace(netns);
    const stream = rtnetlink.watch({ kinds: ['link'], signal: signal() });
    const kinds = await firstKinds(stream, () => rtnetlink.addLink('br0', 'bridge'));
    assert.deepEqual(kinds, ['resync', 'link']);
    assert.equal((await rtnetlink.listLinks()).length, 2);
  });

  it('notify of its flows', async () => {
    const netns = namespaces.add();
    const conntrack = namespaces.keep(await openConntrack({ netns }));
    replace(netns);
    const kinds = await firstKinds(conntrack.watch({ signal: signal() }), () => conntrack.add(NEW));
    assert.deepEqual(kinds, ['resync', 'new']);
  });

  it('notify of its messages', async () => {
    const netns = namespaces.add();
    const [netlink, rtnetlink] = await Promise.all([
      openNetlink({ protocol: 'route', netns }),
      openRtnetlink({ netns }),
    ]);
    namespaces.keep(netlink);
    namespaces.keep(rtnetlink);
    replace(netns);
    const kinds = await firstKinds(netlink.watch([1], { signal: signal() }), () =>
      rtnetlink.addLink('br0', 'bridge'),
    );
    assert.deepEqual(kinds, ['resync', 'message']);
  });
});

describe('the namespace of the process', () => {
  it('needs no CAP_SYS_ADMIN, by whatever path', () => {
    const report = runWithout(
      'sys_admin',
      [
        'kernel/rtnetlink/index.js',
        'kernel/conntrack/index.js',
        'kernel/ipset/index.js',
        'kernel/netlink/index.js',
      ],
      `const kinds = [];
      for (const netns of [undefined, '/proc/self/ns/net', process.pid]) {
        const rtnetlink = await openRtnetlink({ netns });
        for await (const { kind } of rtnetlink.watch()) { kinds.push(kind); break; }
        await Promise.all([openConntrack({ netns }), openIpset({ netns }), openNetlink({ protocol: 'route', netns })]);
        kinds.push((await rtnetlink.listLinks()).length > 0);
      }
      console.log(JSON.stringify(kinds));
      process.exit();`,
    );
    assert.deepEqual(report, ['resync', true, 'resync', true, 'resync', true]);
  });

  it('needs CAP_SYS_ADMIN to be left', () => {
    const netns = namespaces.add();
    const report = runWithout(
      'sys_admin',
      ['kernel/rtnetlink/index.js'],
      `console.log(JSON.stringify(await openRtnetlink({ netns: '${netns}' }).catch(({ code, hint }) => [code, hint])));`,
    );
    assert.deepEqual(report, [
      'EPERM',
      'needs CAP_SYS_ADMIN to enter another network namespace, which this process lacks',
    ]);
  });
});

it('a name instead of a path has a hint', async () => {
  const netns = namespaces.add();
  const name = netns.replace('/run/netns/', '');
  const { hint } = (await openRtnetlink({ netns: name }).catch((error: unknown) => error)) as {
    hint: string;
  };
  assert.equal(hint, `a network namespace is named by its path: ${netns}`);
});
