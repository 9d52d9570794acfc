// Reads IPVS with our library in the node's namespace.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressId, Ipvs, VirtualServiceState } from '../../src/kernel/ipvs/types.js';
import { PATIENCE } from './patience.js';

/** Interval of {@link realServersBecome}, in ms: its result is late by at most this time and one call. */
const LOOK = 2;

/**
 * Waits until a virtual service has exactly these real servers.
 *
 * @param expected `address:port` each
 * @returns the time when it was read, by performance.now()
 */
export async function realServersBecome(
  ipvs: Ipvs,
  id: AddressId,
  expected: readonly string[],
  milliseconds = PATIENCE,
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

/** The weight of a real server of a virtual service; 0 while it is draining, undefined after its removal. */
export async function weightOf(ipvs: Ipvs, id: AddressId, realServer: string): Promise<number | undefined> {
  const service = await ipvs.get(id);
  return service?.realServers.find(({ address, port }) => `${address}:${port}` === realServer)?.weight;
}

/** Its real servers with a weight above 0, as `address:port`, sorted. */
function realServersOf(service: VirtualServiceState | undefined): string[] {
  const taking = service?.realServers.filter(({ weight }) => weight > 0) ?? [];
  return taking.map(({ address, port }) => `${address}:${port}`).sort();
}
