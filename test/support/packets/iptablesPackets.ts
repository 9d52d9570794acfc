// The packet tests of iptables mode with one backend of iptables.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { selectBackend } from '../namespaces/iptablesBackend.js';
import { IPTABLES } from './packetModes.js';
import { testPackets, VIRTUAL } from './packetTests.js';
import { each, HOST_PORT, nameOf, resultOf, SILENCE, targets } from './packetWorld.js';

/** The tests of a file. All programs of iptables, of the proxy and of the tests, use the backend. */
export function testIptablesPackets(backend: 'nft' | 'legacy'): void {
  selectBackend(backend);
  testPackets(IPTABLES, (opened) => {
    describe('ports that no Service has leave the node', { concurrency: true }, () => {
      for (const kind of VIRTUAL) {
        test(`an unused port, at the ${kind}`, async () => {
          const world = opened();
          const all = targets('outside', 'open', kind).map((target) => ({ ...target, port: HOST_PORT }));
          const outcomes = await each(all, async (target) => resultOf(await world.dial(target, SILENCE)));
          assert.deepEqual(outcomes, Object.fromEntries(all.map((target) => [nameOf(target), 'no answer'])));
          for (const { verdict, causes } of await world.explain(all)) {
            assert.deepEqual([verdict, causes.map(({ code }) => code)], ['hangs', ['PortNotServed']]);
          }
        });
      }
    });
  });
}
