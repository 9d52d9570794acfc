// The contract of IPVS: the behaviour that the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatRules } from '../../../src/kernel/ipvs/formatRules.js';
import { parseRules } from '../../../src/kernel/ipvs/rules.js';
import type { Ipvs, IpvsOperation, VirtualServiceState } from '../../../src/kernel/ipvs/types.js';
import { throwOnFailure } from '../../../src/kernel/shared/throwOnFailure.js';
import { server, service } from '../tables/ipvs.js';
import { ipvsStateContract } from './ipvsState.js';
import { closed, outcomes, refused } from './refusals.js';

const WEB = service();
const NAME = 'tcp 10.96.0.1:443';
const MARK = {
  firewallMark: 7,
  family: 6,
  scheduler: 'wrr',
  schedulerFlags: [],
  onePacket: false,
} as const;

/** Without counters, sorted. */
function states(services: readonly VirtualServiceState[]): unknown[] {
  return services
    .map(({ counters: _, rates: _rates, realServers, ...rest }) => ({
      ...rest,
      realServers: realServers
        .map(({ counters: _counters, rates: _serverRates, ...real }) => real)
        .sort((a, b) => `${a.address}:${a.port}`.localeCompare(`${b.address}:${b.port}`)),
    }))
    .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

const idle = { activeConnections: 0, inactiveConnections: 0, persistentConnections: 0 };

/** Registers the tests. `open` returns an empty IPVS, in a namespace with lo up. */
export function ipvsContract(open: () => Promise<Ipvs>): void {
  ipvsStateContract(open);

  it('lists the added objects, as the kernel writes them', async () => {
    const ipvs = await open();
    await assert.rejects(ipvs.add(service({ address: '010.96.0.1' })), { name: 'RangeError' });
    await ipvs.add(service({ address: '10.96.0.1', persistence: { timeout: 600, netmask: 24 } }));
    await ipvs.add(service({ address: 'FD00:0::1', protocol: 'udp' }));
    await ipvs.add(MARK);
    await ipvs.addRealServer(WEB, server({ address: '10.0.0.4' }));
    await ipvs.addRealServer(
      WEB,
      server({ address: '10.0.0.5', weight: 0, upperThreshold: 9, lowerThreshold: 3 }),
    );
    assert.deepEqual(
      states(await ipvs.list()),
      states([
        {
          ...service({ persistence: { timeout: 600, netmask: 24 } }),
          realServers: [
            { ...server(), ...idle },
            { ...server({ address: '10.0.0.5', weight: 0, upperThreshold: 9, lowerThreshold: 3 }), ...idle },
          ],
        },
        { ...service({ address: 'fd00::1', protocol: 'udp' }), realServers: [] },
        { ...MARK, realServers: [] },
      ] as never),
    );
    assert.equal((await ipvs.get(WEB))?.realServers.length, 2);
    assert.deepEqual(
      states([(await ipvs.get({ firewallMark: 7, family: 6 })) as never]),
      states([{ ...MARK, realServers: [] } as never]),
    );
    assert.equal(await ipvs.get({ firewallMark: 7, family: 4 }), undefined);
    for (const options of [undefined, {}, { confirm: 'yes' }, { confirm: true }]) {
      await assert.rejects(ipvs.flush(options as never), {
        name: 'TypeError',
        message: /^ipvs\.flush: confirm must be 'delete every virtual service', found /,
      });
    }
    assert.notDeepEqual(await ipvs.list(), []);
    await ipvs.flush({ confirm: 'delete every virtual service' });
    assert.deepEqual(await ipvs.list(), []);
  });

  it('lists services without their real servers, and the real servers of some', async () => {
    const ipvs = await open();
    const other = service({ address: 'fd00::1', protocol: 'udp' });
    await ipvs.add(WEB);
    await ipvs.add(other);
    await ipvs.addRealServer(WEB, server());
    await ipvs.addRealServer(WEB, server({ address: '10.0.0.5', weight: 0 }));
    const byAddress = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    assert.deepEqual((await ipvs.listServices()).sort(byAddress), [WEB, other].sort(byAddress));
    const [none, realServers, missing] = await ipvs.listRealServers([
      other,
      WEB,
      { ...WEB, address: '10.96.0.99' },
    ]);
    assert.deepEqual([none, missing], [[], []]);
    assert.deepEqual(
      realServers?.sort(byAddress),
      [server(), server({ address: '10.0.0.5', weight: 0 })].sort(byAddress),
    );
    assert.deepEqual(await ipvs.listRealServers([]), []);
    await assert.rejects(ipvs.listRealServers([WEB, { ...WEB, port: -1 }]), {
      message: /^ipvs\.listRealServers: ids\[1\]\.port must be/,
    });
  });

  it("fails with the kernel's error numbers", async () => {
    const ipvs = await open();
    await refused(ipvs.update(WEB), `ESRCH 3 ipvs.updateService ${NAME}`);
    await refused(ipvs.delete(WEB), `ESRCH 3 ipvs.deleteService ${NAME}`);
    await refused(ipvs.addRealServer(WEB, server()), `ESRCH 3 ipvs.addRealServer ${NAME} -> 10.0.0.4:6443`);
    await refused(ipvs.add(service({ scheduler: 'nonesuch' })), `ENOENT 2 ipvs.addService ${NAME}`);
    await ipvs.add(WEB);
    await refused(ipvs.add(WEB), `EEXIST 17 ipvs.addService ${NAME}`);
    await refused(ipvs.update(service({ scheduler: 'nonesuch' })), `ENOENT 2 ipvs.updateService ${NAME}`);
    await refused(
      ipvs.updateRealServer(WEB, server()),
      `ENOENT 2 ipvs.updateRealServer ${NAME} -> 10.0.0.4:6443`,
    );
    await refused(
      ipvs.deleteRealServer(WEB, server()),
      `ENOENT 2 ipvs.deleteRealServer ${NAME} -> 10.0.0.4:6443`,
    );
    await ipvs.addRealServer(WEB, server());
    await refused(ipvs.addRealServer(WEB, server()), `EEXIST 17 ipvs.addRealServer ${NAME} -> 10.0.0.4:6443`);
    assert.equal((await ipvs.get(WEB))?.scheduler, 'rr');
    for (const address of ['0.0.0.0', '224.0.0.1', '255.255.255.255']) {
      const target = `${NAME} -> ${address}:6443`;
      await refused(ipvs.addRealServer(WEB, server({ address })), `EINVAL 22 ipvs.addRealServer ${target}`);
    }
    const six = service({ address: 'fd00::1' });
    await ipvs.add(six);
    for (const address of ['::', 'ff02::1']) {
      const target = `tcp [fd00::1]:443 -> [${address}]:6443`;
      await refused(ipvs.addRealServer(six, server({ address })), `EINVAL 22 ipvs.addRealServer ${target}`);
    }
  });

  it('continues after a failed operation, and leaves out invalid operations', async () => {
    const ipvs = await open();
    const operations: IpvsOperation[] = [
      { do: 'addService', service: WEB },
      { do: 'addService', service: WEB },
      { do: 'addRealServer', service: WEB, realServer: server({ weight: -1 }) },
      { do: 'addRealServer', service: WEB, realServer: server() },
      { do: 'updateRealServer', service: WEB, realServer: server({ weight: 5 }) },
      { do: 'deleteRealServer', service: WEB, realServer: server({ port: 1 }) },
    ];
    assert.deepEqual(outcomes(await ipvs.apply(operations)), [
      'done',
      `EEXIST 17 ipvs.addService ${NAME}`,
      `ERR_INVALID_ARGUMENT 0 ipvs.addRealServer ${NAME} -> 10.0.0.4:6443`,
      'done',
      'done',
      `ENOENT 2 ipvs.deleteRealServer ${NAME} -> 10.0.0.4:1`,
    ]);
    const state = await ipvs.get(WEB);
    assert.deepEqual(
      state?.realServers.map(({ weight }) => weight),
      [5],
    );
    // A listed object can be used as its own name, and can be changed.
    await ipvs.update({ ...(state as VirtualServiceState), scheduler: 'lc' });
    for (const real of state?.realServers ?? []) await ipvs.updateRealServer(WEB, { ...real, weight: 2 });
    assert.equal((await ipvs.get(WEB))?.scheduler, 'lc');
    await ipvs.delete(state as VirtualServiceState);
    assert.deepEqual(await ipvs.list(), []);
  });

  it('rejects invalid arguments, and names the field', async () => {
    const ipvs = await open();
    const broken: [Promise<unknown>, RegExp][] = [
      [
        ipvs.add(service({ port: 70000 })),
        /^ipvs.addService: service.port must be an integer from 0 to 65535, found 70000$/,
      ],
      [
        ipvs.add({ ...WEB, weight: 1 } as never),
        /^ipvs.addService: service.weight is not a field of a virtual service, found 1$/,
      ],
      [ipvs.add({ ...WEB, realServers: [] } as never), /service.realServers must be left out/],
      [
        ipvs.addRealServer(WEB, { ...server(), wieght: 1 } as never),
        /realServer.wieght is not a field of a real server/,
      ],
      [ipvs.addRealServer(WEB, server({ address: 'fd00::1' })), /must be IPv4, as its service is/],
      [ipvs.get({ ...WEB, address: 'x' }), /^ipvs.get: service.address must be an IPv4 or IPv6 address/],
      [
        ipvs.setTimeouts({ tcp: 1, tcpFin: 2, udp: 3, icmp: 4 } as never),
        /^ipvs.setTimeouts: timeouts.icmp is not a field of/,
      ],
      [
        ipvs.setTimeouts({ tcp: -1, tcpFin: 0, udp: 0 }),
        /^ipvs.setTimeouts: timeouts.tcp must be an integer from 0/,
      ],
    ];
    for (const [call, message] of broken) await assert.rejects(call, { message });
    assert.deepEqual(await ipvs.list(), []);
  });

  it('gives the fields that are left out the defaults of ipvsadm', async () => {
    const ipvs = await open();
    const { address, port, protocol } = WEB;
    await ipvs.add({ address, port, protocol, persistence: {} });
    await ipvs.addRealServer(WEB, { address: '10.0.0.4' });
    await ipvs.addRealServer(WEB, { address: '10.0.0.5', forwarding: 'tunnel' });
    const defaults = { scheduler: 'wlc', schedulerFlags: [], onePacket: false };
    const plain = { port: 443, weight: 1, upperThreshold: 0, lowerThreshold: 0, ...idle };
    assert.deepEqual(states(await ipvs.list()), [
      {
        ...{ address, port, protocol, ...defaults, persistence: { timeout: 360, netmask: 32 } },
        realServers: [
          { address: '10.0.0.4', forwarding: 'route', ...plain },
          { address: '10.0.0.5', forwarding: 'tunnel', encapsulation: { type: 'ipip' }, ...plain },
        ],
      },
    ]);
    await ipvs.update({ address, port, protocol });
    await ipvs.updateRealServer(WEB, { address: '10.0.0.4', weight: 7 });
    await ipvs.deleteRealServer(WEB, { address: '10.0.0.5' });
    assert.deepEqual(states(await ipvs.list()), [
      {
        ...{ address, port, protocol, ...defaults },
        realServers: [{ address: '10.0.0.4', forwarding: 'route', ...plain, weight: 7 }],
      },
    ]);
    await ipvs.add({ firewallMark: 9, family: 6, persistence: { timeout: 50 } });
    await ipvs.addRealServer({ firewallMark: 9, family: 6 }, { address: 'fd00::4' });
    const marked = await ipvs.get({ firewallMark: 9, family: 6 });
    assert.deepEqual([marked?.persistence, marked?.realServers[0]?.port], [{ timeout: 50, netmask: 128 }, 0]);
  });

  it('lists the flags of schedulers by their names, and encapsulations', async () => {
    const ipvs = await open();
    for (const [scheduler, given, listed] of [
      ['sh', ['sh-port', 'sh-fallback'], ['sh-fallback', 'sh-port']],
      ['mh', ['flag-1', 'mh-port', 'flag-3'], ['mh-fallback', 'mh-port', 'flag-3']],
      ['rr', ['flag-2'], ['flag-2']],
    ] as const) {
      await ipvs.add(service({ scheduler, schedulerFlags: given }));
      assert.deepEqual((await ipvs.get(WEB))?.schedulerFlags, listed);
      await ipvs.update(service({ scheduler }));
      assert.deepEqual((await ipvs.get(WEB))?.schedulerFlags, []);
      await ipvs.delete(WEB);
    }
    const dns = service({ protocol: 'udp', port: 53, onePacket: true });
    await ipvs.add(dns);
    assert.equal((await ipvs.get(dns))?.onePacket, true);
    const tunnel = { address: '10.0.0.4', forwarding: 'tunnel' } as const;
    await ipvs.addRealServer(dns, { ...tunnel, encapsulation: { type: 'gue', port: 6080 } });
    const encapsulation = async () => (await ipvs.get(dns))?.realServers[0]?.encapsulation;
    assert.deepEqual(await encapsulation(), { type: 'gue', port: 6080, checksum: 'none' });
    for (const wanted of [
      { type: 'gue', port: 1, checksum: 'remote' },
      { type: 'gre', checksum: 'full' },
      { type: 'ipip' },
    ] as const) {
      await ipvs.updateRealServer(dns, { ...tunnel, encapsulation: wanted });
      assert.deepEqual(await encapsulation(), wanted);
    }
  });

  it('carries out every kind of operation in a batch', async () => {
    const ipvs = await open();
    const operations: IpvsOperation[] = [
      { do: 'addService', service: service({ port: 1 }) },
      { do: 'flush', confirm: 'delete every virtual service' },
      { do: 'addService', service: WEB },
      { do: 'zero' },
      { do: 'zero', service: service({ port: 1 }) },
      { do: 'setTimeouts', timeouts: { udp: 77 } },
      { do: 'startDaemon', daemon: { state: 'backup', interface: 'lo' } },
      { do: 'stopDaemon', state: 'backup' },
      { do: 'stopDaemon', state: 'spare' as never },
      { do: 'flush', service: WEB } as never,
    ];
    assert.deepEqual(outcomes(await ipvs.apply(operations)), [
      ...['done', 'done', 'done', 'done', 'ESRCH 3 ipvs.zero tcp 10.96.0.1:1', 'done', 'done', 'done'],
      'ERR_INVALID_ARGUMENT 0 ipvs.stopDaemon spare',
      'ERR_INVALID_ARGUMENT 0 ipvs.flush undefined',
    ]);
    assert.equal((await ipvs.listServices()).length, 1);
    assert.equal((await ipvs.timeouts()).udp, 77);
  });

  it('restores what it saved as rules of ipvsadm', async () => {
    const ipvs = await open();
    const text = `-A -u 10.96.0.1:53 -s sh -p 60 -M 255.255.255.0 --pe sip -o -b sh-fallback,sh-port
-a -u 10.96.0.1:53 -r 10.0.0.4:5353 -m -w 3 -x 9 -y 5
-a -u 10.96.0.1:53 -r 10.0.0.5:53 -i -w 1 --tun-type gue --tun-port 6080 --tun-remcsum
`;
    throwOnFailure(await ipvs.apply(parseRules(text)));
    const [{ realServers, ...saved } = assert.fail()] = await ipvs.list();
    const byAddress = [...realServers].sort((a, b) => (a.address < b.address ? -1 : 1));
    assert.equal(formatRules([{ ...saved, realServers: byAddress }]), text);
  });

  it('sends nothing for an aborted signal', async () => {
    const ipvs = await open();
    const options = { signal: AbortSignal.abort(new Error('enough')) };
    for (const call of [
      ipvs.add(WEB, options),
      ipvs.list(options),
      ipvs.listDaemons(options),
      ipvs.connections({}, options).toArray(),
    ]) {
      await assert.rejects(call, { message: 'enough' });
    }
    assert.deepEqual(await ipvs.list(), []);
  });

  it('rejects every call after close()', async () => {
    const ipvs = await open();
    await closed(
      ipvs,
      () => ipvs.list(),
      () => ipvs.add(WEB),
      () => ipvs.apply([]),
      () => ipvs.flush({ confirm: 'delete every virtual service' }),
      () => ipvs.zero(),
      () => ipvs.listDaemons(),
      () => ipvs.stopDaemon('master'),
      () => ipvs.connections().toArray(),
      () => ipvs.capabilities(),
    );
  });
}
