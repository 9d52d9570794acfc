// The reason why a Service has no endpoint, from its EndpointSlices.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { frontendAt, reasonWithoutEndpoints } from '../../../../../src/command/cli/explain/objects.js';
import type { Dialled } from '../../../../../src/command/explain/explanation.js';
import { nodeFacts } from '../../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../../src/proxy/services/serviceCache.js';
import { readManifest } from '../../../../../src/proxy/source/manifestFile.js';

const NODE = nodeFacts('node-a');
const DIALLED: Dialled = { address: '10.96.0.80', port: 80, protocol: 'tcp' };

/** A Service with port http, whose targetPort is `web`, and a slice as the EndpointSlice controller writes it. */
async function reason(ports: string, endpoints: string, addressType = 'IPv4'): Promise<string | undefined> {
  const text = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: demo }
spec:
  clusterIP: 10.96.0.80
  ports: [{ name: http, port: 80, targetPort: web, protocol: TCP }]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-1, namespace: demo, labels: { kubernetes.io/service-name: web } }
addressType: ${addressType}
ports: ${ports}
endpoints: ${endpoints}
`;
  const { objects } = await readManifest('objects.yaml', text);
  assert.equal(objects.size, 2);
  const cache = new ServiceCache();
  for (const object of objects.values()) cache.apply({ type: 'set', object });
  const owner = frontendAt(cache, NODE, DIALLED);
  assert.ok(owner);
  return reasonWithoutEndpoints(owner, cache.slices(owner.service));
}

const TWO =
  '[{ addresses: [10.244.1.11], nodeName: node-a }, { addresses: [10.244.2.11], nodeName: node-b }]';

it('a targetPort name that no pod has: the slices list the pods, and not the port', async () => {
  const start = 'no EndpointSlice of Service demo/web has its port http/tcp: the slices have ';
  const end = '; a targetPort that is a name must be the name of a container port of the pods';
  assert.equal(await reason('[]', TWO), `${start}2 endpoints and no port${end}`);
  const one = '[{ addresses: [10.244.1.11] }]';
  assert.equal(
    await reason('[{ name: metrics, port: 9090, protocol: TCP }]', one),
    `${start}1 endpoint and metrics/tcp${end}`,
  );
  const many = ['a', 'b', 'c', 'd', 'e'].map((name, i) => `{ name: ${name}, port: ${i + 1}, protocol: TCP }`);
  assert.equal(
    await reason(`[${many.join(', ')}]`, one),
    `${start}1 endpoint and a/tcp, b/tcp, c/tcp, 2 more${end}`,
  );
});

it('the name with another protocol is another port', async () => {
  assert.match(
    (await reason('[{ name: http, port: 8080, protocol: UDP }]', TWO)) ?? '',
    /has its port http\/tcp: the slices have 2 endpoints and http\/udp; /,
  );
});

it('no endpoint at all, or of the other family only', async () => {
  const none = 'Service demo/web has no endpoint in this family';
  assert.equal(await reason('[]', '[]'), none);
  assert.equal(await reason('[]', '[{ addresses: ["fd00::1"] }]', 'IPv6'), none);
});

it('endpoints that are not ready, and none of a reason if one is', async () => {
  const ports = '[{ name: http, port: 8080, protocol: TCP }]';
  const waiting = '[{ addresses: [10.244.1.11], conditions: { ready: false, serving: false } }]';
  assert.equal(await reason(ports, waiting), 'none of the 1 endpoints of Service demo/web is ready');
  assert.equal(await reason(ports, TWO), undefined);
});
