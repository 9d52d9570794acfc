// Every verb of IPVS on a real kernel, with ipvsadm(8) as witness.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  openIpvs,
  type RealServer,
  type RealServerState,
  type VirtualService,
  type VirtualServiceState,
} from '../../src/kernel/ipvs/index.js';
import { ipvsNamespace } from '../support/namespaces/ipvsNamespace.js';
import { server, service } from '../support/tables/ipvs.js';

const { namespace, ipvs } = await ipvsNamespace();

function saved(): string[] {
  return namespace
    .run('ipvsadm', '-S', '-n')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/** A listed service without counters and connections. */
function settingsOf(listed: VirtualServiceState) {
  const { counters: _, rates: _rates, realServers, ...settings } = listed;
  return { ...settings, realServers: realServers.map(serverSettingsOf) };
}

function serverSettingsOf(listed: RealServerState) {
  const {
    activeConnections: _active,
    inactiveConnections: _inactive,
    persistentConnections: _persistent,
    counters: _counters,
    rates: _rates,
    ...settings
  } = listed;
  return settings;
}

const services: readonly (readonly [string, VirtualService, string])[] = [
  ['tcp', service(), '-A -t 10.96.0.1:443 -s rr'],
  ['udp', service({ protocol: 'udp', port: 53 }), '-A -u 10.96.0.1:53 -s rr'],
  ['sctp', service({ protocol: 'sctp', port: 65535 }), '-A --sctp-service 10.96.0.1:65535 -s rr'],
  ['tcp6', service({ address: 'fd00:10:96::1' }), '-A -t [fd00:10:96::1]:443 -s rr'],
  ['udp6', service({ address: 'fd00:10:96::1', protocol: 'udp' }), '-A -u [fd00:10:96::1]:443 -s rr'],
  ['sctp6', service({ address: '::1', protocol: 'sctp' }), '-A --sctp-service [::1]:443 -s rr'],
  [
    'persistent',
    service({ persistence: { timeout: 10800, netmask: 32 }, scheduler: 'wrr' }),
    '-A -t 10.96.0.1:443 -s wrr -p 10800',
  ],
  [
    'persistent, every port, grouped clients',
    service({ persistence: { timeout: 4294967, netmask: 24 }, port: 0 }),
    '-A -t 10.96.0.1:0 -s rr -p 4294967 -M 255.255.255.0',
  ],
  [
    'persistent IPv6, grouped clients',
    service({ address: 'fd00::1', persistence: { timeout: 1, netmask: 64 } }),
    '-A -t [fd00::1]:443 -s rr -p 1 -M 64',
  ],
  [
    'mh with its flags',
    service({ scheduler: 'mh', schedulerFlags: ['mh-fallback', 'mh-port'] }),
    '-A -t 10.96.0.1:443 -s mh -b mh-fallback,mh-port',
  ],
  [
    'sip, one packet',
    service({
      protocol: 'udp',
      onePacket: true,
      persistence: { timeout: 60, netmask: 32 },
      persistenceEngine: 'sip',
    }),
    '-A -u 10.96.0.1:443 -s rr --pe sip -p 60 -o',
  ],
  [
    'mark',
    { firewallMark: 1, family: 4, scheduler: 'rr', schedulerFlags: [], onePacket: false },
    '-A -f 1 -s rr',
  ],
  [
    'mark6',
    { firewallMark: 4294967295, family: 6, scheduler: 'sh', schedulerFlags: [], onePacket: false },
    '-A -f -1 -6 -s sh', // ipvsadm prints it as a signed number,
  ],
];

for (const [name, added, line] of services) {
  test(`a service: ${name}`, async () => {
    await ipvs.add(added);
    assert.deepEqual(saved().map(normalized), [normalized(line)]);
    assert.deepEqual((await ipvs.list()).map(settingsOf), [{ ...added, realServers: [] }]);
    const got = await ipvs.get(added);
    assert.ok(got);
    assert.deepEqual(settingsOf(got), { ...added, realServers: [] });
    await assert.rejects(ipvs.add(added), { name: 'NetlinkError', code: 'EEXIST', errno: 17 });
    await ipvs.delete(added);
    assert.deepEqual(saved(), []);
    assert.equal(await ipvs.get(added), undefined);
    await assert.rejects(ipvs.delete(added), { code: 'ESRCH' });
  });
}

/** Without the order of options and flags, which ipvsadm chooses. */
function normalized(line: string): string {
  return line
    .split(/ (?=-)/)
    .map((option) => option.split(/[ ,]/).sort().join(' '))
    .sort()
    .join(' ');
}

test('an update changes the settings and keeps the real servers', async () => {
  await ipvs.add(service());
  await ipvs.addRealServer(service(), server());
  await ipvs.update(service({ scheduler: 'wlc', persistence: { timeout: 90, netmask: 16 } }));
  assert.deepEqual(saved(), [
    '-A -t 10.96.0.1:443 -s wlc -p 90 -M 255.255.0.0',
    '-a -t 10.96.0.1:443 -r 10.0.0.4:6443 -m -w 1',
  ]);
  await ipvs.update(service());
  assert.deepEqual(saved()[0], '-A -t 10.96.0.1:443 -s rr');
  await assert.rejects(ipvs.update(service({ port: 1 })), { code: 'ESRCH' });
});

test('a service made without a scheduler gets one later', async () => {
  await ipvs.add(service({ scheduler: 'none', schedulerFlags: ['flag-1'] }));
  assert.equal((await ipvs.get(service()))?.scheduler, 'none');
  await ipvs.addRealServer(service(), server());
  await ipvs.update(service({ scheduler: 'mh', schedulerFlags: ['mh-fallback'] }));
  assert.equal((await ipvs.get(service()))?.scheduler, 'mh');
});

const servers: readonly (readonly [string, VirtualService, RealServer, string])[] = [
  ['plain', service(), server(), '-r 10.0.0.4:6443 -m -w 1'],
  ['weight 0', service(), server({ weight: 0 }), '-r 10.0.0.4:6443 -m -w 0'],
  ['greatest weight', service(), server({ weight: 2147483647 }), '-r 10.0.0.4:6443 -m -w 2147483647'],
  ['IPv6', service({ address: 'fd00::1' }), server({ address: 'fd00::4' }), '-r [fd00::4]:6443 -m -w 1'],
  ['direct', service(), server({ port: 443, forwarding: 'route' }), '-r 10.0.0.4:443 -g -w 1'],
  [
    'tunnel',
    service(),
    server({ port: 443, forwarding: 'tunnel', encapsulation: { type: 'ipip' } }),
    '-r 10.0.0.4:443 -i -w 1 --tun-type ipip',
  ],
  [
    'tunnel to another family',
    service(),
    server({ address: 'fd00::4', port: 443, forwarding: 'tunnel', encapsulation: { type: 'ipip' } }),
    '-r [fd00::4]:443 -i -w 1 --tun-type ipip',
  ],
  [
    'GUE',
    service(),
    server({ port: 443, forwarding: 'tunnel', encapsulation: { type: 'gue', port: 6080, checksum: 'full' } }),
    '-r 10.0.0.4:443 -i -w 1 --tun-type gue --tun-port 6080 --tun-csum',
  ],
  [
    'GRE',
    service(),
    server({ port: 443, forwarding: 'tunnel', encapsulation: { type: 'gre', checksum: 'none' } }),
    '-r 10.0.0.4:443 -i -w 1 --tun-type gre --tun-nocsum',
  ],
  [
    'of a mark',
    { firewallMark: 7, family: 4, scheduler: 'rr', schedulerFlags: [], onePacket: false },
    server({ port: 0 }),
    '-r 10.0.0.4:0 -m -w 1',
  ],
];

for (const [name, parent, added, options] of servers) {
  test(`a real server: ${name}`, async () => {
    await ipvs.add(parent);
    await ipvs.addRealServer(parent, added);
    const lines = saved();
    assert.equal(lines.length, 2);
    assert.equal(lines[1]?.replace(/^-a (-f|-t) \S+ /, ''), options);
    const listed = await ipvs.get(parent);
    assert.deepEqual(listed?.realServers.map(serverSettingsOf), [added]);
    assert.deepEqual(listed?.realServers[0]?.counters, {
      connections: 0n,
      inPackets: 0n,
      outPackets: 0n,
      inBytes: 0n,
      outBytes: 0n,
    });
    await assert.rejects(ipvs.addRealServer(parent, added), { code: 'EEXIST' });
    await ipvs.updateRealServer(parent, { ...added, weight: 42 });
    assert.match(saved()[1] ?? '', / -w 42( |$)/);
    await ipvs.deleteRealServer(parent, added);
    assert.equal(saved().length, 1);
    await assert.rejects(ipvs.deleteRealServer(parent, added), { code: 'ENOENT' });
    await assert.rejects(ipvs.updateRealServer(parent, added), { code: 'ENOENT' });
  });
}

test('thresholds', async () => {
  await ipvs.add(service());
  await ipvs.addRealServer(service(), server({ upperThreshold: 100, lowerThreshold: 50 }));
  const [listed] = (await ipvs.get(service()))?.realServers ?? [];
  assert.deepEqual([listed?.upperThreshold, listed?.lowerThreshold], [100, 50]);
  assert.match(namespace.run('ipvsadm', '-Ln', '--thresholds'), /10\.0\.0\.4:6443\s+100\s+50\s/);
});

test('a service is deleted with its real servers', async () => {
  await ipvs.add(service());
  await ipvs.addRealServer(service(), server());
  await ipvs.delete(service());
  await ipvs.add(service());
  assert.deepEqual((await ipvs.get(service()))?.realServers, []);
});

test('services of another tool with a mask that is not a prefix are listed all the same', async () => {
  namespace.run('ipvsadm', '-A', '-t', '10.96.0.1:443', '-s', 'rr', '-p', '60', '-M', '255.0.255.0');
  assert.equal((await ipvs.get(service()))?.persistence?.netmask, 0);
});

test('flush', async () => {
  await ipvs.apply([
    { do: 'addService', service: service() },
    { do: 'addService', service: service({ address: 'fd00::1' }) },
    { do: 'addRealServer', service: service(), realServer: server() },
  ]);
  await ipvs.flush({ confirm: 'delete every virtual service' });
  assert.deepEqual(await ipvs.list(), []);
  assert.deepEqual(saved(), []);
});

test('info and timeouts', async () => {
  const info = await ipvs.info();
  const header = namespace.run('ipvsadm', '-Ln');
  assert.ok(header.includes(`version ${info.version} (size=${info.connectionTableSize})`), header);
  await ipvs.setTimeouts({ tcp: 100, tcpFin: 20, udp: 2147483 });
  assert.deepEqual(await ipvs.timeouts(), { tcp: 100, tcpFin: 20, udp: 2147483 });
  await ipvs.setTimeouts({ tcp: 0, tcpFin: 0, udp: 7 });
  assert.match(namespace.run('ipvsadm', '-L', '--timeout'), /: 100 20 7$/m);
});

const refused: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
  [
    'port',
    () => ipvs.add(service({ port: 70000 })),
    /^ipvs\.addService: service\.port must be an integer from 0 to 65535, found 70000$/,
  ],
  [
    'port 0 without persistence',
    () => ipvs.add(service({ port: 0 })),
    /service\.port must be 1 to 65535 without persistence/,
  ],
  [
    'address',
    () => ipvs.add(service({ address: '10.0.0.300' })),
    /service\.address must be an IPv4 or IPv6 address/,
  ],
  ['zone', () => ipvs.delete(service({ address: 'fe80::1%eth0' })), /ipvs\.deleteService: service\.address/],
  [
    'scheduler',
    () => ipvs.add(service({ scheduler: 'x'.repeat(16) })),
    /service\.scheduler must be a name of 1 to 15 bytes/,
  ],
  ['empty scheduler', () => ipvs.add(service({ scheduler: '' })), /service\.scheduler/],
  ['engine', () => ipvs.add(service({ persistenceEngine: '' })), /service\.persistenceEngine/],
  [
    'netmask',
    () => ipvs.add({ ...service(), persistence: { netmask: 33 } }),
    /service\.persistence\.netmask must be an integer from 1 to 32/,
  ],
  [
    'netmask 0',
    () => ipvs.add({ ...service({ address: 'fd00::1' }), persistence: { netmask: 0 } }),
    /from 1 to 128/,
  ],
  [
    'persistence',
    () => ipvs.add({ ...service(), persistence: { timeout: 4294968 } }),
    /service\.persistence\.timeout/,
  ],
  [
    'flag of another scheduler',
    () => ipvs.add(service({ schedulerFlags: ['sh-port'] })),
    /service\.schedulerFlags must be of flag-1, flag-2, flag-3 for the scheduler rr, found 'sh-port'/,
  ],
  [
    'one packet with TCP',
    () => ipvs.add(service({ onePacket: true })),
    /service\.onePacket must be false without UDP or a firewall mark/,
  ],
  [
    'mark',
    () => ipvs.get({ firewallMark: 0, family: 4 }),
    /ipvs\.get: service\.firewallMark must be an integer from 1 to/,
  ],
  [
    'weight',
    () => ipvs.addRealServer(service(), server({ weight: -1 })),
    /realServer\.weight must be .* 0 to 2147483647/,
  ],
  ['fraction', () => ipvs.addRealServer(service(), server({ weight: 0.5 })), /realServer\.weight/],
  [
    'lower threshold',
    () => ipvs.addRealServer(service(), server({ upperThreshold: 1, lowerThreshold: 2 })),
    /lowerThreshold must be an integer from 0 to 1/,
  ],
  [
    'family',
    () => ipvs.addRealServer(service(), server({ address: 'fd00::4' })),
    /realServer\.address must be IPv4, as its service is/,
  ],
  [
    'method',
    () => ipvs.addRealServer(service(), server({ forwarding: 'other' })),
    /realServer\.forwarding must be one of masquerade, tunnel, route/,
  ],
  [
    'timeout',
    () => ipvs.setTimeouts({ tcp: 2147484, tcpFin: 0, udp: 0 }),
    /ipvs\.setTimeouts: timeouts\.tcp must be/,
  ],
  ['limit', () => openIpvs({ timeout: 0 }), /ipvs\.open: timeout must be an integer from 1 to 2147483647/],
];

for (const [name, call, message] of refused) {
  test(`refused before it is sent: ${name}`, async () => {
    await assert.rejects(call, { name: 'RangeError', message });
    assert.deepEqual(saved(), []);
  });
}

test('a value of the wrong type is a TypeError', async () => {
  const wrong = service({ port: '443' as unknown as number });
  await assert.rejects(ipvs.add(wrong), { name: 'TypeError', message: /service\.port .* found '443'/ });
  const nothing = undefined as unknown as VirtualService;
  await assert.rejects(ipvs.add(nothing), { name: 'TypeError', message: /service must be an object/ });
});

test('a closed client finishes earlier calls and refuses later ones', async () => {
  const closing = await openIpvs({ netns: namespace.path });
  const asked = closing.add(service());
  closing.close();
  closing.close();
  await asked;
  await assert.rejects(closing.list(), { code: 'ERR_CLOSED', operation: 'ipvs.list', errno: 0 });
  await assert.rejects(closing.apply([]), { code: 'ERR_CLOSED' });
  assert.equal(saved().length, 1);
});
