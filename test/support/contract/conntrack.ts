// The contract of conntrack: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Conntrack, FlowFilter, FlowId } from '../../../src/kernel/conntrack/types.js';
import { ends } from '../flows.js';
import { closed, outcomes } from './refusals.js';

const FIRST = '10.0.0.9:4000 10.96.0.10:53';
const SECOND = '10.0.0.9:5001 10.96.0.10:53';
const SIX = '[fd00::9]:4000 [fd00:96::a]:53';

/**
 * Registers the tests. `open` returns a conntrack with three UDP flows with DNAT, as in the namespace of flows.ts: the
 * first two are IPv4, to 10.0.0.1 and 10.0.0.2; the third is IPv6, to fd00::1.
 */
export function conntrackContract(open: (...datagrams: readonly string[]) => Promise<Conntrack>): void {
  const opened = () => open(FIRST, SECOND, SIX);

  it('lists the selected flows, each once', async () => {
    const conntrack = await opened();
    assert.deepEqual(ends(await conntrack.list().toArray()), [FIRST, SECOND, SIX].sort());
    assert.deepEqual(ends(await conntrack.list([]).toArray()), []);
    assert.deepEqual(ends(await conntrack.list({ family: 4 }).toArray()), [FIRST, SECOND]);
    assert.deepEqual(ends(await conntrack.list({ family: 6, protocol: 17 }).toArray()), [SIX]);
    assert.deepEqual(ends(await conntrack.list({ family: 4, reply: { source: '010.0.0.2' } }).toArray()), [SECOND]);
    assert.deepEqual(ends(await conntrack.list([{ family: 4 }, { family: 4, protocol: 'udp' }]).toArray()), [
      FIRST,
      SECOND,
    ]);
    const [flow] = await conntrack.list({ family: 4, original: { sourcePort: 4000 }, protocol: 'udp' }).toArray();
    assert.deepEqual(flow?.reply, {
      source: '10.0.0.1',
      destination: '10.0.0.9',
      sourcePort: 5353,
      destinationPort: 4000,
    });
    assert.equal(flow.protocol, 'udp');
    assert.equal(flow.zone, 0);
  });

  it('deletes by filter, and returns the number', async () => {
    const conntrack = await opened();
    const filter: FlowFilter = { family: 4, protocol: 'udp', original: { destination: '10.96.0.10' } };
    assert.deepEqual(await conntrack.delete(filter), { deleted: 2, failures: [] });
    assert.deepEqual(await conntrack.delete(filter), { deleted: 0, failures: [] });
    assert.deepEqual(ends(await conntrack.list().toArray()), [SIX]);
  });

  it('deletes by name, reports missing flows as deleted, and leaves out invalid flows', async () => {
    const conntrack = await opened();
    const [first, second] = await conntrack.list({ family: 4 }).toArray();
    assert.ok(first && second);
    const { protocol, original } = second;
    const named = [
      first,
      { ...second, id: (second.id ^ 1) >>> 0 },
      { protocol: 'x', original } as never,
      first,
    ];
    assert.deepEqual(outcomes(await conntrack.deleteFlows(named)), [
      'done',
      'done',
      `ERR_INVALID_ARGUMENT 0 conntrack.deleteFlows x ${ends([second])[0]?.replace(' ', ' -> ')}`,
      'done',
    ]);
    assert.deepEqual(ends(await conntrack.list({ family: 4 }).toArray()), ends([second]));
    assert.deepEqual(await conntrack.deleteFlows([{ protocol, original }]), [undefined]);
    assert.deepEqual(await conntrack.list({ family: 4 }).toArray(), []);
  });

  it('rejects invalid arguments, and names the field', async () => {
    const conntrack = await opened();
    const destination = '10.96.0.10';
    const broken: [Promise<unknown>, RegExp][] = [
      [
        conntrack.delete({ family: 4, protocol: 'udp' } as FlowFilter),
        /^conntrack.delete: filter must name an address or a port/,
      ],
      [
        conntrack.delete({ family: 4, original: { destination }, zone: 1 } as never),
        /^conntrack.delete: zone is no field of a filter, found 1$/,
      ],
      [
        conntrack.delete({ family: 4, original: { dst: destination } } as never),
        /original.dst is no field of a filter/,
      ],
      [conntrack.list({ family: 5 } as never).toArray(), /^conntrack.list: family must be 4 or 6, found 5$/],
      [conntrack.list({ family: 4, original: { sourcePort: 1 } }).toArray(), /protocol must be given with a port/],
      [
        conntrack.list({ family: 4 }, { partail: true } as never).toArray(),
        /^conntrack.list: partail is no option, found true$/,
      ],
    ];
    for (const [call, message] of broken) await assert.rejects(call, { message });
    const [flow] = await conntrack.list({ family: 4 }).toArray();
    const [result] = await conntrack.deleteFlows([{ ...(flow as FlowId), label: 'x' } as never]);
    assert.match(result?.message ?? '', /^ERR_INVALID_ARGUMENT: .*: label is no field of a flow, found 'x'$/);
    assert.equal((await conntrack.list().toArray()).length, 3);
  });

  it('rejects every call after close()', async () => {
    const conntrack = await opened();
    await closed(
      conntrack,
      () => conntrack.list().toArray(),
      () => conntrack.deleteFlows([]),
    );
  });
}
