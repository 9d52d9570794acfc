// The contract of conntrack: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { natOf } from '../../../src/kernel/conntrack/nat.js';
import type {
  Conntrack,
  Flow,
  FlowFilter,
  FlowId,
  FlowSelection,
  FlowTuple,
  TupleName,
} from '../../../src/kernel/conntrack/types.js';
import type { IpProtocol } from '../../../src/kernel/net/protocol.js';
import { ends } from '../namespaces/flows.js';
import { flowEventsContract, NEW, NEW_ID } from './flowEvents.js';
import { closed, outcomes } from './refusals.js';

const NONE_DELETED = { deleted: 0, failures: [] };

const FIRST = '10.0.0.9:4000 10.96.0.10:53';
const SECOND = '10.0.0.9:5001 10.96.0.10:53';
const SIX = '[fd00::9]:4000 [fd00:96::a]:53';

function turned({ source, destination, sourcePort, destinationPort }: FlowTuple): FlowTuple {
  return {
    source: destination,
    destination: source,
    sourcePort: destinationPort,
    destinationPort: sourcePort,
  };
}

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
    assert.deepEqual(ends(await conntrack.list({ family: 4, reply: { source: '10.0.0.2' } }).toArray()), [
      SECOND,
    ]);
    assert.deepEqual(ends(await conntrack.list([{ family: 4 }, { family: 4, protocol: 'udp' }]).toArray()), [
      FIRST,
      SECOND,
    ]);
    const [flow] = await conntrack
      .list({ family: 4, original: { sourcePort: 4000 }, protocol: 'udp' })
      .toArray();
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
      `ERR_INVALID_ARGUMENT 0 conntrack.deleteFlow x ${ends([second])[0]?.replace(' ', ' -> ')}`,
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
        /^conntrack.delete: filter must name an address, a port, a mark, a zone or a label/,
      ],
      [
        conntrack.delete({ family: 4, original: { destination }, label: 1 } as never),
        /^conntrack.delete: label is not a field of a filter, found 1$/,
      ],
      [
        conntrack.delete({ family: 4, original: { dst: destination } } as never),
        /original.dst is not a field of a filter/,
      ],
      [conntrack.list({ family: 5 } as never).toArray(), /^conntrack.list: family must be 4 or 6, found 5$/],
      [
        conntrack.list({ family: 4, original: { sourcePort: 1 } }).toArray(),
        /protocol must be given with a port/,
      ],
      [
        conntrack.list({ family: 4 }, { partail: true } as never).toArray(),
        /^conntrack.list: partail is not an option, found true$/,
      ],
      [
        conntrack.list({ family: 4 }, { zeroCounters: true }).toArray(),
        /zeroCounters must be false with a selection/,
      ],
      [conntrack.list(undefined, { table: 'x' } as never).toArray(), /table must be one of conntrack, dying/],
      [conntrack.get({ protocol: 'udp' } as never), /^conntrack.get: original must be an object/],
      [conntrack.add({ ...NEW, timeout: -1 }), /^conntrack.addFlow: timeout must be an integer/],
      [conntrack.update(NEW_ID, {}), /^conntrack.updateFlow: changes must name a field to change/],
      [
        conntrack.flush({} as never),
        /^conntrack.flush: confirm must be 'delete every flow', found undefined$/,
      ],
      [conntrack.flush(undefined as never), /^conntrack.flush: confirm must be/],
      [conntrack.flush({ confirm: 'delete every flow', now: 1 } as never), /now is not an option/],
    ];
    for (const [call, message] of broken) await assert.rejects(call, { message });
    const [flow] = await conntrack.list({ family: 4 }).toArray();
    const [result] = await conntrack.deleteFlows([{ ...(flow as FlowId), label: 'x' } as never]);
    assert.match(
      result?.message ?? '',
      /^ERR_INVALID_ARGUMENT: .*: label is not a field of a flow, found 'x'$/,
    );
    assert.equal((await conntrack.list().toArray()).length, 3);
  });

  it('adds a flow, reads it, changes it and deletes it', async () => {
    const conntrack = await opened();
    await conntrack.add({ ...NEW, mark: 6, status: ['SEEN_REPLY', 'ASSURED'], tcpState: 'ESTABLISHED' });
    const flow = (await conntrack.get(NEW_ID)) as Flow;
    const { id, timeout, use, secctx, counters, labels, ...rest } = flow;
    assert.ok(id > 0 && timeout > 590 && timeout <= 600 && use > 0);
    assert.deepEqual(rest, {
      family: 4,
      protocol: 'tcp',
      original: NEW.original,
      reply: turned(NEW.original),
      zone: 0,
      replyZone: 0,
      status: ['SEEN_REPLY', 'ASSURED', 'CONFIRMED'],
      mark: 6,
      tcpState: 'ESTABLISHED',
    });
    await conntrack.update(flow, { mark: { value: 1, mask: 3 }, tcpState: 'TIME_WAIT', timeout: 30 });
    const changed = await conntrack.get(flow);
    assert.deepEqual(
      [changed?.mark, changed?.tcpState, (changed?.timeout ?? 0) <= 30],
      [5, 'TIME_WAIT', true],
    );
    assert.deepEqual(await conntrack.deleteFlows([flow]), [undefined]);
    assert.equal(await conntrack.get(NEW_ID), undefined);
  });

  it('adds flows with NAT, with types of ICMP, of SCTP, and without ports', async () => {
    const conntrack = await opened();
    const { original } = NEW;
    const ping = { source: 'fd00::9', destination: 'fd00::2', icmp: { type: 128, code: 0, id: 7 } };
    const results = await conntrack.apply([
      { do: 'addFlow', flow: { ...NEW, sourceNat: { address: '10.0.0.2', port: 4444 } } },
      {
        do: 'addFlow',
        flow: { ...NEW, protocol: 'udp', destinationNat: { address: '10.0.0.2', port: 4445 } },
      },
      { do: 'addFlow', flow: { protocol: 58, original: ping, timeout: 60 } },
      {
        do: 'addFlow',
        flow: { ...NEW, protocol: 'sctp', sctp: { state: 'ESTABLISHED', originalTag: 1, replyTag: 2 } },
      },
      {
        do: 'addFlow',
        flow: { protocol: 4, original: { source: '10.0.0.9', destination: '10.0.0.2' }, timeout: 60 },
      },
    ]);
    assert.deepEqual(outcomes(results), ['done', 'done', 'done', 'done', 'done']);
    const get = async (protocol: IpProtocol, tuple: TupleName) =>
      (await conntrack.get({ protocol, original: tuple })) as Flow;
    assert.deepEqual(natOf(await get('tcp', original)), { source: { address: '10.0.0.2', port: 4444 } });
    const translated = await get('udp', original);
    assert.deepEqual(natOf(translated), { destination: { address: '10.0.0.2', port: 4445 } });
    assert.deepEqual(translated.status, ['CONFIRMED', 'DST_NAT', 'SRC_NAT_DONE', 'DST_NAT_DONE']);
    const six = await get(58, ping);
    assert.deepEqual(six.reply.icmp, { type: 129, code: 0, id: 7 });
    assert.deepEqual([six.reply.sourcePort, six.reply.destinationPort], [0, 0]);
    assert.deepEqual((await get('sctp', original)).sctp, {
      state: 'ESTABLISHED',
      originalTag: 1,
      replyTag: 2,
    });
    assert.equal((await get(4, { source: '10.0.0.9', destination: '10.0.0.2' })).reply.source, '10.0.0.2');
    const echo = { family: 6, protocol: 58, original: { icmp: { type: 128 } } } as const;
    assert.equal((await conntrack.list(echo).toArray()).length, 1);
    assert.deepEqual(await conntrack.delete({ ...echo, original: { icmp: { id: 8 } } }), NONE_DELETED);
    assert.equal((await conntrack.delete(echo)).deleted, 1);
  });

  it('refuses to add a flow twice, and to change one that is not there', async () => {
    const conntrack = await opened();
    await conntrack.add(NEW);
    const name = 'tcp 10.0.0.9:7000 -> 10.0.0.2:80';
    await assert.rejects(conntrack.add(NEW), {
      code: 'EEXIST',
      operation: 'conntrack.addFlow',
      target: name,
    });
    // Of its reply, too.
    await assert.rejects(conntrack.add({ ...NEW, original: turned(NEW.original) }), { code: 'EEXIST' });
    const flow = (await conntrack.get(NEW_ID)) as Flow;
    const other = { ...flow, id: (flow.id ^ 1) >>> 0 };
    assert.equal(await conntrack.get(other), undefined);
    const missing = { code: 'ENOENT', operation: 'conntrack.updateFlow', target: name };
    await assert.rejects(conntrack.update(other, { mark: 1 }), missing);
    await assert.rejects(conntrack.update({ ...NEW_ID, protocol: 'udp' }, { mark: 1 }), { code: 'ENOENT' });
    const master = { protocol: 'udp', original: NEW.original } as const;
    const stray = { ...NEW, original: { ...NEW.original, sourcePort: 7001 }, master };
    await assert.rejects(conntrack.add(stray), { code: 'ENOENT' });
    await conntrack.add({ ...stray, master: NEW_ID });
    const belongs = await conntrack.get({ protocol: 'tcp', original: stray.original });
    assert.deepEqual(belongs?.master, { protocol: 'tcp', original: NEW.original });
    assert.deepEqual(belongs.status, ['EXPECTED', 'CONFIRMED']);
  });

  it('does each operation of a batch in order, whatever happens to the others', async () => {
    const conntrack = await opened();
    const results = await conntrack.apply([
      { do: 'updateFlow', flow: NEW_ID, changes: { mark: 1 } },
      { do: 'addFlow', flow: NEW },
      { do: 'addFlow', flow: NEW },
      { do: 'addFlow', flow: { ...NEW, zone: -1 } },
      { do: 'updateFlow', flow: NEW_ID, changes: { status: ['ASSURED'] } },
      { do: 'updateFlow', flow: NEW_ID, changes: { mark: 2 } },
      { do: 'deleteFlow', flow: { ...NEW_ID, protocol: 'udp' } },
      { do: 'rename', flow: NEW_ID } as never,
    ]);
    const name = 'tcp 10.0.0.9:7000 -> 10.0.0.2:80';
    assert.deepEqual(outcomes(results), [
      `ENOENT 2 conntrack.updateFlow ${name}`,
      'done',
      `EEXIST 17 conntrack.addFlow ${name}`,
      `ERR_INVALID_ARGUMENT 0 conntrack.addFlow ${name}`,
      'done',
      'done',
      'done',
      `ERR_INVALID_ARGUMENT 0 conntrack.rename ${name}`,
    ]);
    const flow = await conntrack.get(NEW_ID);
    assert.deepEqual([flow?.mark, flow?.status], [2, ['ASSURED', 'CONFIRMED']]);
  });

  it('selects by network, mark and flags, and deletes by them', async () => {
    const conntrack = await opened();
    await conntrack.add({ ...NEW, mark: 6, status: ['SEEN_REPLY'] });
    const count = async (selection: FlowSelection) => (await conntrack.list(selection).toArray()).length;
    assert.equal(await count({ family: 4, original: { source: '10.0.0.0/24' } }), 3);
    assert.equal(await count({ family: 4, original: { destination: '10.96.0.0/12' } }), 2);
    assert.equal(await count({ family: 4, reply: { source: '10.0.0.2/31' } }), 2);
    assert.equal(await count({ family: 6, original: { source: 'fd00::/16' } }), 1);
    assert.equal(await count({ mark: 6 }), 1);
    assert.equal(await count({ mark: { value: 2, mask: 3 } }), 1);
    assert.equal(await count({ mark: { value: 0, mask: 2 } }), 3);
    assert.equal(await count({ status: ['SEEN_REPLY'] }), 1);
    assert.equal(await count({ notStatus: ['SEEN_REPLY'] }), 3);
    assert.equal(await count({ status: ['DST_NAT'], notStatus: ['SEEN_REPLY'] }), 3);
    assert.equal(await count({ zone: 0, replyZone: 0 }), 4);
    assert.equal(await count({ labels: [1] }), 0);
    assert.deepEqual(await conntrack.delete({ mark: { value: 4, mask: 4 } }), { deleted: 1, failures: [] });
    assert.equal(await count({}), 3);
    assert.deepEqual(await conntrack.delete({ family: 4, original: { source: '10.0.0.0/8' } }), {
      deleted: 2,
      failures: [],
    });
    assert.equal(await count({}), 1);
  });

  it('deletes every flow, once that is confirmed', async () => {
    const conntrack = await opened();
    await conntrack.flush({ confirm: 'delete every flow' });
    assert.deepEqual(await conntrack.list().toArray(), []);
  });

  it('lists lazily, anew for each iteration, and other tables', async () => {
    const conntrack = await opened();
    const listing = conntrack.list();
    assert.equal((await listing.toArray()).length, 3);
    await conntrack.flush({ confirm: 'delete every flow' });
    let count = 0;
    for await (const flow of listing) count += flow.id;
    assert.equal(count, 0);
    assert.deepEqual(await conntrack.list(undefined, { table: 'unconfirmed' }).toArray(), []);
    assert.deepEqual(await conntrack.expectations().toArray(), []);
    assert.deepEqual(await conntrack.list(undefined, { zeroCounters: true }).toArray(), []);
  });

  it('reports statistics and capabilities', async () => {
    const conntrack = await opened();
    const { entries, maxEntries, cpus } = await conntrack.statistics();
    assert.equal(entries, 3);
    assert.ok(maxEntries === undefined || maxEntries > 0);
    assert.equal(cpus[0]?.cpu, 0);
    assert.ok(
      cpus.every((cpu) => Object.values(cpu).every(Number.isInteger) && Object.keys(cpu).length === 11),
    );
    const capabilities = await conntrack.capabilities();
    assert.deepEqual(Object.keys(capabilities).sort(), [
      ...['accounting', 'deleteByFilter', 'events', 'timestamps', 'zones'],
    ]);
    assert.ok(Object.values(capabilities).every((value) => typeof value === 'boolean'));
    assert.equal((await conntrack.list().toArray()).length, 3, 'they change nothing');
  });

  flowEventsContract(opened);

  it('sends nothing when its signal is aborted already', async () => {
    const conntrack = await opened();
    const signal = AbortSignal.abort(new Error('too late'));
    const flow = { family: 4, original: { destination: '10.96.0.10' } } as const;
    for (const call of [
      conntrack.list(undefined, { signal }).toArray(),
      conntrack.get(NEW_ID, { signal }),
      conntrack.add(NEW, { signal }),
      conntrack.update(NEW_ID, { mark: 1 }, { signal }),
      conntrack.delete(flow, { signal }),
      conntrack.deleteFlows([NEW_ID], { signal }),
      conntrack.flush({ confirm: 'delete every flow', signal }),
      conntrack.statistics({ signal }),
      conntrack.expectations({ signal }).toArray(),
      conntrack.capabilities({ signal }),
    ]) {
      await assert.rejects(call, { message: 'too late' });
    }
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
