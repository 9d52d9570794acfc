// How quick the machine is at the kind of work that the demonstration does, to compare an emulated one with the real one.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';

/** Requests in a batch. */
export const BATCH = 25;
/** Batches, and for how long one more may begin, in ms: the first ones warm up, the quickest was disturbed least. */
const [BATCHES, PATIENCE] = [16, 4000];

/** The least time that {@link BATCH} HTTP requests over loopback take in this process, in ms. */
export async function loopbackMs(): Promise<number> {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let least = Number.POSITIVE_INFINITY;
  const deadline = performance.now() + PATIENCE;
  for (let batch = 0; batch < BATCHES && performance.now() < deadline; batch++) {
    const began = performance.now();
    for (let i = 0; i < BATCH; i++) {
      const [response] = (await once(get({ host: '127.0.0.1', port, agent: false }), 'response')) as [
        IncomingMessage,
      ];
      await response.toArray();
    }
    least = Math.min(least, performance.now() - began);
  }
  server.close();
  return least;
}
