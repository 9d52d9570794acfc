// Looks at IPVS through our own library, in the node's namespace.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressId, Ipvs, VirtualServiceState } from '../src/kernel/ipvs/types.js';

/** Ms between two looks of {@link realServersBecome}: what it says is late by no more than that and one call. */
const LOOK = 2;

/**
 * Waits until a virtual service has exactly these real servers.
 *
 * @param expected `address:port` each
 * @returns the moment at which it was seen, on performance.now()'s clock
 */
export async function realServersBecome(
  ipvs: Ipvs,
  id: AddressId,
  expected: readonly string[],
  milliseconds = 20_000,
): Promise<number> {
  const wanted = [...expected].sort().join(' ');
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const found = realServersOf(await ipvs.get(id)).join(' ');
    const now = performance.now();
    if (found === wanted) return now;
    if (now > deadline) {
      const [name, late] = [`${id.address}:${id.port}/${id.protocol}`, `${milliseconds} ms`];
      throw new Error(`${name} has the real servers [${found}] and not [${wanted}] after ${late}`);
    }
    await delay(LOOK);
  }
}

/**
 * Waits until the counters of a virtual service tell of so many connections: the kernel adds them up every two seconds.
 * Gives up after a while, and leaves it to the reader to see what is missing.
 */
export async function countersReach(ipvs: Ipvs, id: AddressId, connections: number): Promise<void> {
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await delay(100)) {
    const counted = (await ipvs.get(id))?.counters.connections ?? 0n;
    if (counted >= connections) return;
  }
}

/** Its real servers that take connections, `address:port` each, sorted. */
export function realServersOf(service: VirtualServiceState | undefined): string[] {
  const taking = service?.realServers.filter(({ weight }) => weight > 0) ?? [];
  return taking.map(({ address, port }) => `${address}:${port}`).sort();
}
