// Measures the speed of a machine with requests like those of the demo, to compare an emulated machine with the real one.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';

/** Number of requests of a measurement. */
export const REQUESTS = 100;

/**
 * The time that {@link REQUESTS} HTTP requests over loopback take, one after another, in ms. Comparable only between new
 * processes: later measurements in a process are faster, because the code is compiled.
 */
export async function loopbackMs(): Promise<number> {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const began = performance.now();
  for (let i = 0; i < REQUESTS; i++) {
    const request = get({ host: '127.0.0.1', port, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await response.toArray();
  }
  const took = performance.now() - began;
  server.close();
  return took;
}
