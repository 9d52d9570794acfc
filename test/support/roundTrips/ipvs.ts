// What IPVS lists is deleted by what was listed, and is written again as it was.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type Ipvs,
  type IpvsOperation,
  type RealServerInput,
  throwOnFailure,
  type VirtualServiceInput,
  type VirtualServiceState,
} from '../../../src/kernel/ipvs/index.js';

const ADDRESSES = ['10.96.0.1', 'fd00:96::1', '::ffff:10.96.0.1'] as const;
const PROTOCOLS = ['tcp', 'udp', 'sctp', 50, 255] as const;

/** Every kind of virtual service of both families. */
const SERVICES: readonly VirtualServiceInput[] = [
  ...ADDRESSES.flatMap((address) => PROTOCOLS.map((protocol) => ({ address, port: 53, protocol }))),
  ...([4, 6] as const).map((family) => ({ firewallMark: 7, family })),
  { address: '10.96.0.2', port: 0, protocol: 'tcp', persistence: { timeout: 0 } },
  { address: '10.96.0.3', port: 80, protocol: 'tcp', persistence: { timeout: 600, netmask: 24 } },
  { address: 'fd00:96::3', port: 80, protocol: 'tcp', persistence: { netmask: 64 } },
  { address: '10.96.0.4', port: 53, protocol: 'udp', onePacket: true },
  { address: '10.96.0.5', port: 80, protocol: 'tcp', scheduler: 'sh', schedulerFlags: ['sh-port', 'flag-3'] },
];

/** Every kind of real server, by the family of its service. */
const SERVERS: readonly RealServerInput[] = [
  { address: '10.0.0.1', port: 8080, forwarding: 'masquerade', weight: 0 },
  { address: '10.0.0.2', port: 8080, forwarding: 'route', upperThreshold: 10, lowerThreshold: 5 },
  { address: '10.0.0.3', port: 8080, forwarding: 'tunnel' },
  ...(
    [
      { type: 'gue', port: 6080, checksum: 'none' },
      { type: 'gue', port: 6080, checksum: 'full' },
      { type: 'gue', port: 6080, checksum: 'remote' },
      { type: 'gre', checksum: 'none' },
      { type: 'gre', checksum: 'full' },
      // Of a newer kernel.
      { type: 7, port: 1, flags: 2 },
      { type: 1, port: 6080, flags: 9 },
    ] as const
  ).map((encapsulation, i) => ({
    ...{ address: `10.0.1.${i}`, port: 80, forwarding: 'tunnel' as const, encapsulation },
  })),
  { address: 'fd00::3', port: 8080, forwarding: 'tunnel' },
];

/** Registers the tests. `witness` is the state in the words of another program, if there is one. */
export function ipvsRoundTrips(open: () => Promise<Ipvs>, witness: () => string = () => ''): void {
  const filled = async (ipvs: Ipvs): Promise<VirtualServiceState[]> => {
    const [first] = SERVICES;
    const operations: IpvsOperation[] = [
      ...SERVICES.map((service): IpvsOperation => ({ do: 'addService', service })),
      ...SERVERS.map((realServer): IpvsOperation => {
        return { do: 'addRealServer', service: first ?? assert.fail(), realServer };
      }),
    ];
    throwOnFailure(await ipvs.apply(operations));
    const listed = await ipvs.list();
    assert.equal(listed.length, SERVICES.length);
    assert.equal(Math.max(...listed.map(({ realServers }) => realServers.length)), SERVERS.length);
    return listed;
  };

  it('every virtual service and real server is deleted by what was listed', async () => {
    const ipvs = await open();
    const listed = await filled(ipvs);
    for (const service of listed) {
      for (const server of service.realServers) await ipvs.deleteRealServer(service, server);
      assert.deepEqual((await ipvs.get(service))?.realServers, []);
      await ipvs.delete(service);
    }
    assert.deepEqual(await ipvs.list(), []);
  });

  it('every virtual service and real server is written again as it was', async () => {
    const ipvs = await open();
    const listed = await filled(ipvs);
    const said = witness();
    for (const service of listed) {
      await ipvs.update(service);
      for (const server of service.realServers) await ipvs.updateRealServer(service, server);
    }
    assert.deepEqual(ordered(await ipvs.list()), ordered(listed));
    assert.equal(witness(), said);
    await ipvs.flush({ confirm: 'delete every virtual service' });
    for (const { realServers, ...service } of listed) {
      await ipvs.add(service);
      for (const server of realServers) await ipvs.addRealServer(service, server);
    }
    assert.deepEqual(ordered(await ipvs.list()), ordered(listed));
    assert.equal(witness(), said);
  });
}

/** The kernel lists what is in a hash table; the order of real servers is that of their additions, newest first. */
function ordered(listed: readonly VirtualServiceState[]): unknown[] {
  const key = (value: object) =>
    JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
  const sorted = <T extends object>(values: readonly T[]) =>
    [...values].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return sorted(listed.map((service) => ({ ...service, realServers: sorted(service.realServers) })));
}
