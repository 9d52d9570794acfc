// The connection table of this process's own namespace: more than one piece, ends of iterations, and descriptors.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type Ipvs, openIpvs } from '../../src/kernel/ipvs/index.js';

const VIP = '198.51.100.7';
const SERVICE = { address: VIP, port: 0, protocol: 'udp' } as const;
/** Their text is longer than a piece, which has 64 KB. */
const CONNECTIONS = 1200;

let ipvs: Ipvs;
before(async () => {
  ipvs = await openIpvs();
  execFileSync('sh', ['-ec', `ip link set lo up; ip addr add ${VIP}/32 dev lo`]);
  await ipvs.add({ ...SERVICE, persistence: {} });
  await ipvs.addRealServer(SERVICE, { address: '127.0.0.1', forwarding: 'masquerade' });
  // The kernel makes one connection for each port.
  const socket = createSocket('udp4').on('error', () => undefined); // refusals by 127.0.0.1
  const send = promisify<string, number, string>(socket.send.bind(socket));
  for (let port = 10_001; port <= 10_000 + CONNECTIONS; port++) await send('x', port, VIP);
  socket.close();
});
after(async () => {
  await ipvs.delete(SERVICE);
  await ipvs.close();
  execFileSync('ip', ['addr', 'del', `${VIP}/32`, 'dev', 'lo']);
});

/** The files of connections that this process has open, once calls that are not awaited have ended. */
async function openFiles(): Promise<number> {
  await ipvs.info();
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith('/ip_vs_conn');
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOENT'); // the descriptor of the folder
      return false;
    }
  }).length;
}

test('every connection is listed once, in several pieces', async () => {
  const all = await ipvs.connections({ virtual: { address: VIP } }).toArray();
  const ports = new Set(all.map(({ virtual }) => virtual.port));
  assert.deepEqual([all.length, ports.size], [CONNECTIONS + 1, CONNECTIONS + 1]);
  assert.equal(all.filter(({ template }) => template).length, 1);
  assert.ok(readFileSync('/proc/net/ip_vs_conn').length > 64 * 1024);
  assert.equal(await openFiles(), 0);
});

test('an iteration that ends early closes its file; two at once do not disturb each other', async () => {
  const listing = ipvs.connections({ virtual: { address: VIP } });
  let first = 0;
  for await (const _ of listing) {
    if (first === 0) assert.equal(await openFiles(), 1);
    if (++first === 10) break;
  }
  const [one, other] = await Promise.all([listing.toArray(), listing.toArray()]);
  assert.deepEqual([one.length, other.length], [CONNECTIONS + 1, CONNECTIONS + 1]);
  assert.equal(await openFiles(), 0);
});

test('an aborted signal ends an iteration, and the client works on', async () => {
  const controller = new AbortController();
  const listing = ipvs.connections({}, { signal: controller.signal });
  await assert.rejects(
    async () => {
      for await (const _ of listing) controller.abort(new Error('enough'));
    },
    { message: 'enough' },
  );
  assert.equal(await openFiles(), 0);
  assert.ok(await ipvs.get(SERVICE));
});
