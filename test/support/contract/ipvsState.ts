// The contract of IPVS, beside its objects: timeouts, counters, sync daemons, connections and capabilities.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Ipvs, SyncDaemon } from '../../../src/kernel/ipvs/types.js';
import { server, service } from '../tables/ipvs.js';
import { refused } from './refusals.js';

const WEB = service();
const NAME = 'tcp 10.96.0.1:443';

/** Registers the tests. `open` returns an empty IPVS, in a namespace with lo up. */
export function ipvsStateContract(open: () => Promise<Ipvs>): void {
  it('keeps the timeouts that are set to 0', async () => {
    const ipvs = await open();
    await ipvs.setTimeouts({ tcp: 1000, tcpFin: 100, udp: 200 });
    await ipvs.setTimeouts({ tcp: 0, tcpFin: 0, udp: 250 });
    assert.deepEqual(await ipvs.timeouts(), { tcp: 1000, tcpFin: 100, udp: 250 });
    assert.match((await ipvs.info()).version, /^1\.2\.\d+$/);
  });

  it('sets counters to zero, of one service or of all', async () => {
    const ipvs = await open();
    await refused(ipvs.zero(WEB), `ESRCH 3 ipvs.zero ${NAME}`);
    await ipvs.add(WEB);
    await ipvs.addRealServer(WEB, server());
    await ipvs.zero(WEB);
    await ipvs.zero();
    const state = await ipvs.get(WEB);
    const none = { connections: 0n, inPackets: 0n, outPackets: 0n, inBytes: 0n, outBytes: 0n };
    const still = { connections: 0, inPackets: 0, outPackets: 0, inBytes: 0, outBytes: 0 };
    assert.deepEqual([state?.counters, state?.rates], [none, still]);
    assert.deepEqual([state?.realServers[0]?.counters, state?.realServers[0]?.rates], [none, still]);
  });

  it('starts, lists and stops sync daemons', async () => {
    const ipvs = await open();
    assert.deepEqual(await ipvs.listDaemons(), []);
    await ipvs.startDaemon({ state: 'master', interface: 'lo', syncId: 7 });
    await ipvs.startDaemon({
      ...{ state: 'backup', interface: 'lo', maxLength: 5, group: 'ff01::51', port: 9000, ttl: 3 },
    });
    const byState = (a: SyncDaemon, b: SyncDaemon) => (a.state < b.state ? -1 : 1);
    assert.deepEqual((await ipvs.listDaemons()).sort(byState), [
      {
        ...{ state: 'backup', interface: 'lo', syncId: 0 },
        ...{ maxLength: 1024, group: 'ff01::51', port: 9000, ttl: 3 },
      },
      {
        ...{ state: 'master', interface: 'lo', syncId: 7 },
        ...{ maxLength: 1472, group: '224.0.0.81', port: 8848, ttl: 1 },
      },
    ]);
    await refused(
      ipvs.startDaemon({ state: 'master', interface: 'lo' }),
      'EEXIST 17 ipvs.startDaemon master on lo',
    );
    await ipvs.add(WEB);
    await refused(
      ipvs.addRealServer(WEB, { address: 'fd00::4', forwarding: 'tunnel' }),
      `EINVAL 22 ipvs.addRealServer ${NAME} -> [fd00::4]:443`,
    );
    await ipvs.stopDaemon('master');
    await refused(ipvs.stopDaemon('master'), 'ESRCH 3 ipvs.stopDaemon master');
    await ipvs.stopDaemon('backup');
    assert.deepEqual(await ipvs.listDaemons(), []);
    await refused(
      ipvs.startDaemon({ state: 'master', interface: 'nowhere' }),
      'ENODEV 19 ipvs.startDaemon master on nowhere',
    );
    await refused(
      ipvs.startDaemon({ state: 'master', interface: 'lo', group: '10.0.0.1' }),
      'EINVAL 22 ipvs.startDaemon master on lo',
    );
    await ipvs.addRealServer(WEB, { address: 'fd00::4', forwarding: 'tunnel' });
    await refused(
      ipvs.startDaemon({ state: 'backup', interface: 'lo' }),
      'EINVAL 22 ipvs.startDaemon backup on lo',
    );
  });

  it('lists connections, none at first', async () => {
    const ipvs = await open();
    await ipvs.add(WEB);
    assert.deepEqual(await ipvs.connections().toArray(), []);
    const filter = { protocol: 'tcp', virtual: { address: '10.96.0.1', port: 443 }, template: false };
    for await (const connection of ipvs.connections(filter)) assert.fail(connection.state);
    assert.throws(() => ipvs.connections({ vip: 1 } as never), {
      name: 'TypeError',
      message: 'ipvs.connections: vip is not a field of a filter, found 1',
    });
    assert.throws(() => ipvs.connections({ client: { address: 'x' } }), {
      message: "ipvs.connections: client.address must be an IPv4 or IPv6 address, found 'x'",
    });
  });

  it('describes its capabilities', async () => {
    const ipvs = await open();
    const capabilities = await ipvs.capabilities();
    assert.match(capabilities.version, /^1\.2\.\d+$/);
    const { loaded, loadable } = capabilities.schedulers;
    for (const name of ['rr', 'wlc', 'mh', 'sh']) assert.ok([...loaded, ...loadable].includes(name), name);
    assert.ok(!loaded.includes('ftp') && !loadable.includes('ftp'));
    const engines = capabilities.persistenceEngines;
    assert.deepEqual([...engines.loaded, ...engines.loadable], ['sip']);
    assert.deepEqual(capabilities.encapsulations, ['ipip', 'gue', 'gre']);
    assert.deepEqual(
      [capabilities.modulesKnown, capabilities.counters64, capabilities.daemonAttributes],
      [true, true, true],
    );
  });
}
