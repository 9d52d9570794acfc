// Real packets in nftables mode, compared with test/support/packets/packetTable.ts.
// Needs: nftables, bridge filter
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NFTABLES } from '../support/packets/packetModes.js';
import { refusedAtOnce, testPackets, type VIRTUAL } from '../support/packets/packetTests.js';
import { each, HOST_PORT, nameOf, resultOf, SILENCE, targets } from '../support/packets/packetWorld.js';

testPackets(NFTABLES, (opened) => {
  describe('ports that no Service has', { concurrency: true }, () => {
    const unused = (kind: (typeof VIRTUAL)[number]) =>
      targets('outside', 'open', kind).map((target) => ({ ...target, port: HOST_PORT }));

    test('are rejected at the ClusterIP', () => refusedAtOnce(unused('ClusterIP')));

    for (const kind of ['external IP', 'load-balancer IP'] as const) {
      test(`leave the node at the ${kind}`, async () => {
        const all = unused(kind);
        const outcomes = await each(all, async (target) => resultOf(await opened().dial(target, SILENCE)));
        assert.deepEqual(outcomes, Object.fromEntries(all.map((target) => [nameOf(target), 'no answer'])));
      });
    }
  });
});
