// Bytes of the heap that a cluster takes: for each Service and for each endpoint, for the decoded objects and for the plans with the
// known state of the kernel. Measured as the difference between two clusters, so that the fixed part does not count.
// Needs: time
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyKernel } from '../../bench/modes.js';
import { createIpvsMode, IPVS_DEFAULTS } from '../../src/proxy/modes/ipvs/index.js';
import { decodeObject } from '../../src/proxy/objects/decode.js';
import type { KubernetesObject } from '../../src/proxy/objects/types.js';
import { Reconciler } from '../../src/proxy/reconcile/reconciler.js';
import { nodeFacts } from '../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../src/proxy/services/serviceCache.js';
import { heapInUse } from '../support/measures/garbage.js';

function objectOf(raw: object): KubernetesObject {
  // As text first: in the agent, every string of an object is from a JSON text of its own.
  const { object, problems } = decodeObject(JSON.parse(JSON.stringify(raw)));
  assert.deepEqual(problems, []);
  return object ?? assert.fail();
}

/** The objects of a cluster. */
function objectsOf(services: number, endpoints: number): KubernetesObject[] {
  return Array.from({ length: services }, (_, n) => {
    const metadata = { namespace: 'demo', name: `service-${n}` };
    const spec = {
      clusterIP: `10.96.${n >> 8}.${n & 255}`,
      ports: [{ name: 'http', port: 80, targetPort: 8080 }],
    };
    return [
      objectOf({ apiVersion: 'v1', kind: 'Service', metadata, spec }),
      objectOf({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: 'demo',
          name: `service-${n}-x`,
          labels: { 'kubernetes.io/service-name': metadata.name },
        },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 8080 }],
        endpoints: Array.from({ length: endpoints }, (_, i) => ({
          addresses: [`10.${128 + (n >> 4)}.${((n & 15) << 4) + (i >> 8)}.${i & 255}`],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: `node-${(n + i) % 500}`,
        })),
      }),
    ];
  }).flat();
}

interface Bytes {
  readonly objects: number;
  readonly state: number;
}

/** Bytes of the objects of a cluster in the cache, and of its plans with the known state. */
async function bytesOf(services: number, endpoints: number): Promise<Bytes> {
  const start = await heapInUse();
  const cache = new ServiceCache();
  for (const object of objectsOf(services, endpoints)) cache.apply({ type: 'set', object });
  const cached = await heapInUse();
  const mode = createIpvsMode(emptyKernel(), { ...IPVS_DEFAULTS, kernelRelease: '6.1.0' });
  const node = nodeFacts('node-a');
  const inputs = {
    totalEndpoints: () => ({ 4: 0, 6: 0 }),
    serviceNames: () => cache.serviceNames(),
    planInput: (service: string) => cache.planInput(service, node),
    node: () => node,
    refresh: async () => {},
    taken: () => {},
    order: (services: Iterable<string>) => cache.order(services),
  };
  const reconciler = new Reconciler(mode, inputs, () => 0);
  reconciler.touchAll();
  const { operations, failures } = await reconciler.sync();
  assert.deepEqual(failures, []);
  assert.ok(operations >= services * (endpoints + 4), `${operations} operations`);
  const planned = await heapInUse();
  assert.equal(reconciler.pending, false); // both are still in use
  assert.equal([...cache.serviceNames()].length, services);
  return { objects: cached - start, state: planned - cached };
}

/** The least of some clusters of this size: what V8 compiles, or frees late on a busy machine, is not part of all. */
async function leastBytesOf(services: number, endpoints: number, clusters: number): Promise<Bytes> {
  const least = { objects: Number.POSITIVE_INFINITY, state: Number.POSITIVE_INFINITY };
  for (let i = 0; i < clusters; i++) {
    const { objects, state } = await bytesOf(services, endpoints);
    least.objects = Math.min(least.objects, objects);
    least.state = Math.min(least.state, state);
  }
  return least;
}

const SERVICES = 1000;
const FEW = 10;
/** So many that the code, which V8 compiles meanwhile, takes less than a byte for each endpoint. */
const MANY = 410;

describe('bytes of the heap', async () => {
  const few = await leastBytesOf(SERVICES, FEW, 5);
  const many = await leastBytesOf(SERVICES, MANY, 2);
  const endpoint = (part: keyof Bytes) => (many[part] - few[part]) / SERVICES / (MANY - FEW);
  const service = (part: keyof Bytes) => few[part] / SERVICES - FEW * endpoint(part);

  const check = (name: string, bytes: number, most: number) =>
    it(`${name}: at most ${most}`, () => {
      assert.ok(bytes <= most, `${bytes.toFixed(1)} bytes`);
    });

  check('an endpoint in the decoded objects', endpoint('objects'), 20);
  // A virtual service has the list of the slice itself.
  check('an endpoint in the plans and the known state', endpoint('state'), 1);
  check('a Service in the decoded objects', service('objects'), 1900);
  check('a Service in the plans and the known state', service('state'), 2000);
});
