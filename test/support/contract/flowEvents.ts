// The part of the contract of conntrack about events.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Conntrack } from '../../../src/kernel/conntrack/types.js';
import { PATIENCE } from '../../laboratory/patience.js';

/** A flow that no test sends. */
export const NEW = {
  protocol: 'tcp',
  original: { source: '10.0.0.9', destination: '10.0.0.2', sourcePort: 7000, destinationPort: 80 },
  timeout: 600,
} as const;
export const NEW_ID = { protocol: NEW.protocol, original: NEW.original };

/** Registers the tests. */
export function flowEventsContract(opened: () => Promise<Conntrack>): void {
  it('reports flows that begin, change and end, of those selected', async () => {
    const conntrack = await opened();
    const stream = conntrack.watch({
      selection: { family: 4, protocol: 'tcp' },
      signal: AbortSignal.timeout(PATIENCE),
    });
    const seen: string[] = [];
    for await (const event of stream) {
      seen.push(event.kind === 'resync' ? `resync ${event.lost}` : `${event.kind} ${event.flow.mark}`);
      if (event.kind === 'resync') {
        await conntrack.add({ ...NEW, protocol: 'udp', mark: 9 });
        await conntrack.add(NEW);
        await conntrack.update(NEW_ID, { mark: 3 });
        await conntrack.deleteFlows([NEW_ID]);
      } else if (event.kind === 'destroy') {
        assert.ok(event.flow.status.includes('DYING'));
        break;
      }
    }
    assert.deepEqual(seen, ['resync false', 'new 0', 'update 3', 'destroy 3']);
  });

  it('reports only the kinds of events that are asked for, and ends with its signal and with its client', async () => {
    const conntrack = await opened();
    const end = new AbortController();
    const seen: string[] = [];
    await assert.rejects(
      async () => {
        for await (const event of conntrack.watch({ kinds: ['destroy'], signal: end.signal })) {
          seen.push(event.kind);
          if (event.kind === 'destroy') end.abort(new Error('enough'));
          else {
            await conntrack.add(NEW);
            await conntrack.deleteFlows([NEW_ID]);
          }
        }
      },
      { message: 'enough' },
    );
    assert.deepEqual(seen, ['resync', 'destroy']);
    assert.throws(
      () => conntrack.watch({ kinds: ['old'] as never }),
      /kinds\[0\] must be one of new, update, destroy/,
    );
    assert.throws(
      () => conntrack.watch({ selection: { family: 5 } as never }),
      /^RangeError: conntrack.watch: family/,
    );
    for await (const event of conntrack.watch()) {
      assert.equal(event.kind, 'resync');
      await conntrack.close();
    }
  });
}
