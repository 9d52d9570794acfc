// The files of /proc/net, as a kernel printed them on a little-endian machine.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { openProcNet } from '../../../../src/command/kernel/procNet/index.js';
import { parseRoutes4, parseRoutes6, parseSockets } from '../../../../src/command/kernel/procNet/text.js';

const ROUTE = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
*\t0000090A\t00000000\t0200\t0\t0\t0\t0000FFFF\t0\t0\t0
`;
const IPV6_ROUTE = `fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0
fd000000000000000000000000000010 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000003 00000000 80200001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
`;
const TCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
`;
const TCP6 = `  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000
   1: 0000000000000000FFFF00000A32A8C0:0051 00000000000000000000000000000000:0000 0A 00000000:00000000
`;

it('routes of IPv4', () => {
  assert.deepEqual(parseRoutes4(ROUTE), [
    { network: '0.0.0.0/0', gateway: '192.0.2.1', link: 'eth0', metric: 100 },
    { network: '192.0.2.0/24', link: 'eth0', metric: 0 },
    { network: '10.9.0.0/16', link: '*', metric: 0, rejects: true },
  ]);
});

it('routes of IPv6, without own addresses', () => {
  assert.deepEqual(parseRoutes6(IPV6_ROUTE), [
    { network: 'fd00::/64', link: 'eth0', metric: 256 },
    { network: '::/0', gateway: 'fd00::1', link: 'eth0', metric: 1024 },
    { network: '::/0', link: 'lo', metric: 0xffff_ffff, rejects: true },
  ]);
});

it('listening sockets, without connections', () => {
  assert.deepEqual(parseSockets(TCP, 'tcp'), [{ protocol: 'tcp', address: '127.0.0.1', port: 8080 }]);
  assert.deepEqual(parseSockets(TCP6, 'tcp'), [
    { protocol: 'tcp', address: '::', port: 80 },
    { protocol: 'tcp', address: '192.168.50.10', port: 81 },
  ]);
});

it('a line without all columns is an error that has the line', () => {
  assert.throws(() => parseRoutes6('fd00 40\n'), /10 columns expected, found: fd00 40/);
});

it('a missing file is empty, and an unreadable one is an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'knp-procnet-'));
  try {
    writeFileSync(join(folder, 'ipv6_route'), IPV6_ROUTE);
    const procNet = openProcNet(folder);
    assert.deepEqual(await procNet.routes(4), []);
    assert.equal((await procNet.routes(6)).length, 3);
    assert.deepEqual(await procNet.listeningSockets(), []);
    await assert.rejects(openProcNet(join(folder, 'ipv6_route')).routes(4), { code: 'ENOTDIR' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
