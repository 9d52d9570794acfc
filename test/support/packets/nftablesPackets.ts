// The packet tests of nftables mode.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NftablesLayout } from '../../../src/proxy/modes/nftables/plan/options.js';
import { NFTABLES } from './packetModes.js';
import { refusedAtOnce, testPackets, type VIRTUAL } from './packetTests.js';
import { each, HOST_PORT, nameOf, resultOf, SILENCE, targets } from './packetWorld.js';

/** The packet tests of nftables mode with a layout. */
export function testNftablesPackets(layout: NftablesLayout): void {
  const documented = layout === 'kube-proxy';
  testPackets({ ...NFTABLES, documented, flags: ['--nftables-layout', layout] }, (opened) => {
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
}
