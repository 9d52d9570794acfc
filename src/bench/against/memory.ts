// Memory of this proxy as an agent, with an API server in another process.
import { makeRawCluster } from '../cluster.js';
import type { MemoryFigure, Size } from '../types.js';
import type { ProxyCommand } from './types.js';
import { withProxy } from './withProxy.js';

/** Longest time of a first pass, in ms. */
const TIMEOUT = 1_800_000;

/**
 * Resident memory of a proxy after its first pass: with the node as its only object, and with clusters. Rejects if the proxy
 * ends, or if it finishes no pass in half an hour.
 */
export async function measureMemory(
  command: ProxyCommand,
  sizes: readonly Size[],
  seed: number,
): Promise<MemoryFigure[]> {
  const [node] = makeRawCluster({ services: 1, endpoints: 1 }, seed)
    .objects()
    .filter(({ object }) => object.kind === 'Node');
  const resident = (objects: Parameters<typeof withProxy>[1]) =>
    withProxy(command, objects, async (start) => {
      const proxy = start();
      await proxy.firstPass(TIMEOUT);
      return proxy.memory.resident;
    });
  const idleResident = await resident(node ? [node.object] : []);
  const figures: MemoryFigure[] = [];
  for (const size of sizes) {
    const objects = makeRawCluster(size, seed).objects();
    figures.push({ size, idleResident, resident: await resident(objects.map(({ object }) => object)) });
  }
  return figures;
}
