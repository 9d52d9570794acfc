// What conntrack lists is deleted by what was listed, and is added again as it was.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Conntrack,
  type Flow,
  type NewFlow,
  newFlowOf,
  throwOnFailure,
} from '../../../src/kernel/conntrack/index.js';

const FAMILIES = [
  { client: '10.0.0.9', service: '10.96.0.10', server: '10.0.0.1', echo: [1, 8] },
  { client: 'fd00::9', service: 'fd00:96::a', server: 'fd00::1', echo: [58, 128] },
] as const;

/** Every kind of flow of both families; each has an address of its own. */
function flows(hasZones: boolean): NewFlow[] {
  return FAMILIES.flatMap(({ client, service, server, echo: [icmp, echo] }): NewFlow[] => {
    const ends = (last: number) => ({ source: client, destination: `${service.slice(0, -1)}${last}` });
    const original = (last: number) => ({ ...ends(last), sourcePort: 4000, destinationPort: 53 });
    const udp = (last: number): NewFlow => ({ protocol: 'udp', original: original(last), timeout: 5000 });
    const tcp = (last: number): NewFlow => ({ ...udp(last), protocol: 'tcp', tcpState: 'ESTABLISHED' });
    return [
      { ...udp(0), mark: 0xffffffff },
      { ...tcp(1), status: ['SEEN_REPLY', 'ASSURED'] },
      { ...udp(2), protocol: 'sctp', sctp: { state: 'ESTABLISHED', originalTag: 1, replyTag: 0xffffffff } },
      { protocol: icmp, original: { ...ends(3), icmp: { type: echo, code: 0, id: 513 } }, timeout: 5000 },
      { protocol: 50, original: ends(4), timeout: 5000 },
      { ...udp(5), destinationNat: { address: server, port: 5353 } },
      { ...tcp(6), sourceNat: { address: server, port: 4444 } },
      { ...udp(7), sourceNat: { address: server }, destinationNat: { address: server, port: 5353 } },
      { ...udp(8), reply: { source: server, destination: client, sourcePort: 53, destinationPort: 4000 } },
      ...(hasZones
        ? [
            { ...udp(9), zone: 7 },
            { ...tcp(9), zone: 0, replyZone: 7 },
          ]
        : []),
      { ...udp(1), master: { protocol: 'udp', original: original(0) } },
    ];
  });
}

/** Registers the tests. `open` returns a conntrack without flows; `witness` is the state in the words of another program. */
export function conntrackRoundTrips(open: () => Promise<Conntrack>, witness: () => unknown = () => ''): void {
  const filled = async (conntrack: Conntrack): Promise<Flow[]> => {
    const { zones } = await conntrack.capabilities();
    for (const flow of flows(zones)) await conntrack.add(flow);
    const listed = await conntrack.list().toArray();
    assert.equal(listed.length, flows(zones).length);
    return listed;
  };

  it('every flow is deleted by what was listed', async () => {
    const conntrack = await open();
    for (const flow of await filled(conntrack)) {
      assert.ok(await conntrack.get(flow));
      // The flow of a master ends with it.
      throwOnFailure(await conntrack.deleteFlows([flow]));
      assert.equal(await conntrack.get(flow), undefined);
    }
    assert.deepEqual(await conntrack.list().toArray(), []);
  });

  it('every flow is added again as it was', async () => {
    const conntrack = await open();
    const before = await filled(conntrack);
    const said = witness();
    await conntrack.flush({ confirm: 'delete every flow' });
    // A master comes before its flows.
    const sorted = [...before].sort((a, b) => Number('master' in a) - Number('master' in b));
    for (const flow of sorted) await conntrack.add(newFlowOf(flow));
    const after = await conntrack.list().toArray();
    assert.deepEqual(after.map(lasting).sort(byName), before.map(lasting).sort(byName));
    assert.deepEqual(witness(), said);
    await conntrack.flush({ confirm: 'delete every flow' });
  });
}

/** Without what the kernel gives each flow, and what passes by itself. */
function lasting({ id: _, use: __, counters: ___, start: ____, timeout, ...flow }: Flow) {
  return { ...flow, timeout: 1000 * Math.ceil(timeout / 1000) };
}

function byName(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
