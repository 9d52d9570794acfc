// The contract of the ids of network namespaces: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { messageOf, outcomes } from './refusals.js';
import type { Open } from './rtnetlinkVeth.js';

/** The namespace of the process, which is another one than that of the client. */
const OURS = '/proc/self/ns/net';

/** Registers the tests. */
export function rtnetlinkNamespaceIdsContract(open: Open): void {
  it('gives a network namespace an id, which it keeps', async () => {
    const rtnetlink = await open();
    assert.deepEqual(await rtnetlink.listNamespaceIds(), []);
    assert.equal(await rtnetlink.getNamespaceId(OURS), undefined);
    await rtnetlink.setNamespaceId({ netns: OURS, id: 7 });
    assert.equal(await rtnetlink.getNamespaceId(OURS), 7);
    assert.deepEqual(await rtnetlink.listNamespaceIds(), [7]);
    const [again] = await rtnetlink.apply([{ do: 'setNamespaceId', namespaceId: { netns: OURS, id: 8 } }]);
    assert.deepEqual(outcomes([again]), [`EEXIST 17 rtnetlink.setNamespaceId netns ${OURS}`]);
    assert.equal(messageOf(again), 'Peer netns already has a nsid assigned');
  });

  it('selects the first id that is free', async () => {
    const rtnetlink = await open();
    await rtnetlink.setNamespaceId({ netns: process.pid });
    assert.equal(await rtnetlink.getNamespaceId(process.pid), 0);
  });
}
