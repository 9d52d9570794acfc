// Holds a virtual IP on a link while a server on this node accepts connections, as a router of a pair does:
//
//   node vip.js LINK ADDRESS/PREFIX HOST:PORT
//
// The address is added after one good check and removed after three bad ones. It is added again when somebody else removes it.
// Needs CAP_NET_ADMIN. SIGINT and SIGTERM end it, and remove the address.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type LinkAddressId, NetlinkError, openRtnetlink, type Rtnetlink } from 'kube-netlink-proxy/rtnetlink';

/** Bad checks in a row after which the address is removed. */
const MOST_FAILURES = 3;

/** Holds the address while checks are good. Removes it at the end. */
export async function holdAddress(
  rtnetlink: Pick<Rtnetlink, 'addAddress' | 'deleteAddress'>,
  address: LinkAddressId,
  checks: AsyncIterable<boolean>,
): Promise<void> {
  let failures = MOST_FAILURES;
  try {
    for await (const isGood of checks) {
      failures = isGood ? 0 : failures + 1;
      if (isGood) await unless('EEXIST', rtnetlink.addAddress(address));
      else if (failures === MOST_FAILURES) await unless('EADDRNOTAVAIL', rtnetlink.deleteAddress(address));
    }
  } finally {
    await unless('EADDRNOTAVAIL', rtnetlink.deleteAddress(address));
  }
}

/** Waits for a change; one that the kernel has already made is none. */
async function unless(code: string, change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof NetlinkError) || error.code !== code) throw error;
  }
}

/** Whether the server accepts a connection within `limit` ms. */
export function accepts(host: string, port: number, limit = 500): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limit });
    const settle = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
  });
}

/** A check every `interval` ms, until the signal is aborted. */
async function* checksOf(host: string, port: number, signal: AbortSignal, interval = 200): AsyncGenerator<boolean> {
  while (!signal.aborted) {
    yield await accepts(host, port);
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}

async function main([link = '', network = '', server = '']: readonly string[]): Promise<void> {
  const [address = '', prefix = ''] = network.split('/');
  const colon = server.lastIndexOf(':');
  await using rtnetlink = await openRtnetlink();
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort());
  const checks = checksOf(server.slice(0, colon), Number(server.slice(colon + 1)), end.signal);
  await holdAddress(rtnetlink, { link, address, prefix: Number(prefix) }, checks);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
