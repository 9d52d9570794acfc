// Nodes that answer are not left, although one packet of a hundred is lost on its way from each node: neighbours, and nodes behind a gateway.
// KNP_MINUTES is the time for which each is watched; default 1.
// Needs: conntrack, nftables, command
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ClusterNetwork } from '../support/failover/clusterNetwork.js';
import { beginConnections } from '../support/failover/unreachableNodeTests.js';

const MINUTES = Number(process.env['KNP_MINUTES'] ?? 1);
const FLAGS = ['--proxy-mode=nftables', '--leave-unreachable-nodes'];

for (const kind of ['neighbours', 'nodes behind a gateway']) {
  it(`${kind} that lose packets are not left`, async (t) => {
    const all = await ClusterNetwork.open();
    t.after(() => all.close());
    all.write({});
    all.writeNodes();
    if (kind !== 'neighbours') all.routeBetweenNodes();
    await all.start(FLAGS);
    all.losePackets();
    beginConnections(all, MINUTES * 60 * 50);
    await delay(MINUTES * 60_000);
    const decisions = ([0, 1, 2] as const).flatMap((node) =>
      all.agent(node).log.filter(({ msg }) => msg.startsWith('the node ')),
    );
    assert.deepEqual(decisions, []);
    const lost = all.lostPackets();
    t.diagnostic(`${lost} packets lost in ${MINUTES} min`);
    assert.ok(lost > 0);
  });
}
