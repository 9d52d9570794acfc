// The status of Services for health-check ports and metrics.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServiceStatus } from '../../../../src/command/agent/serviceStatus.js';
import { nodeFacts } from '../../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../../src/proxy/services/serviceCache.js';
import { readManifest } from '../../../../src/proxy/source/manifestFile.js';

const NODE = nodeFacts('node-a');

/** A status with the Services of a manifest. */
async function statusOf(text: string): Promise<ServiceStatus> {
  const cache = new ServiceCache();
  const { objects, problems } = await readManifest('test.yaml', text);
  assert.deepEqual(problems, []);
  for (const object of objects.values()) cache.apply({ type: 'set', object });
  const status = new ServiceStatus();
  for (const name of cache.serviceNames()) status.note(name, cache.planInput(name, NODE));
  return status;
}

function loadBalancer(policies: string, endpoints: string): string {
  return `
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: web}
spec:
  type: LoadBalancer
  clusterIPs: [10.96.0.1, "fd00:96::1"]
  ipFamilies: [IPv4, IPv6]
  healthCheckNodePort: 32000
  ${policies}
  ports: [{name: a, port: 80, nodePort: 30080}, {name: b, port: 81, nodePort: 30081}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: a, port: 8080}, {name: b, port: 8081}]
endpoints: [${endpoints}]
`;
}

const LOCAL = 'externalTrafficPolicy: Local';
const HERE = '{addresses: [10.244.1.1], nodeName: node-a}';
const HERE_UNREADY =
  '{addresses: [10.244.1.2], nodeName: node-a, conditions: {ready: false, serving: false}}';
const HERE_TERMINATING =
  '{addresses: [10.244.1.3], nodeName: node-a, conditions: {ready: false, serving: true, terminating: true}}';
const THERE = '{addresses: [10.244.2.1], nodeName: node-b}';

describe('health checks', () => {
  it('count the addresses of ready endpoints on this node, once each, by family', async () => {
    const status = await statusOf(loadBalancer(LOCAL, [HERE, HERE_UNREADY, THERE].join()));
    const changes = [...status.takeHealthCheckChanges()];
    assert.deepEqual(changes, [['demo/web', { port: 32000, localEndpoints: { 4: 1, 6: 0 } }]]);
    assert.equal(status.takeHealthCheckChanges().size, 0, 'each change once');
  });

  it('count no terminating endpoint, also if traffic falls back to it', async () => {
    const status = await statusOf(loadBalancer(LOCAL, [HERE_TERMINATING, THERE].join()));
    assert.deepEqual(
      [...status.takeHealthCheckChanges()],
      [['demo/web', { port: 32000, localEndpoints: { 4: 0, 6: 0 } }]],
    );
  });

  it('do not exist with policy Cluster', async () => {
    const status = await statusOf(loadBalancer('externalTrafficPolicy: Cluster', HERE));
    assert.equal(status.takeHealthCheckChanges().size, 0);
  });

  it('are removed with their Service', async () => {
    const status = await statusOf(loadBalancer(LOCAL, HERE));
    status.takeHealthCheckChanges();
    status.note('demo/web', undefined);
    assert.deepEqual([...status.takeHealthCheckChanges()], [['demo/web', undefined]]);
  });
});

describe('Services without a local endpoint', () => {
  const count = async (policies: string, endpoints: string) => {
    const status = await statusOf(loadBalancer(policies, endpoints));
    const numbers = (['internal', 'external'] as const).map((policy) => status.withoutLocal(policy, 4));
    for (const { services, ports } of numbers) assert.equal(ports, 2 * services, 'each port of the Service');
    return numbers.map(({ services }) => services);
  };

  it('lose the count of a deleted Service', async () => {
    const status = await statusOf(loadBalancer(LOCAL, THERE));
    status.note('demo/web', undefined);
    assert.deepEqual(status.withoutLocal('external', 4), { services: 0, ports: 0 });
  });

  it('are counted by policy, once each, and each of their ports', async () => {
    assert.deepEqual(await count(LOCAL, THERE), [0, 1]);
    assert.deepEqual(await count('internalTrafficPolicy: Local', THERE), [1, 0]);
    assert.deepEqual(await count(`${LOCAL}\n  internalTrafficPolicy: Local`, THERE), [1, 1]);
  });

  it('are not counted if an endpoint is local, if there is none at all, or with policy Cluster', async () => {
    assert.deepEqual(await count(LOCAL, HERE), [0, 0]);
    assert.deepEqual(await count(LOCAL, ''), [0, 0]);
    assert.deepEqual(await count('externalTrafficPolicy: Cluster', THERE), [0, 0]);
  });
});
