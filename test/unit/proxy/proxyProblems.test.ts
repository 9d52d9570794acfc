// What the proxy reports of objects that it serves in part.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import type { ObjectChange } from '../../../src/proxy/objects/types.js';
import { service, setUp } from '../../support/fakes/proxyInMemory.js';

describe('a proxy', () => {
  it('reports an address that an older Service has, and assigns it after that Service is deleted', async () => {
    const { kernel, proxy, pass, tell, told } = setUp();
    const age = (createdAt: string, change: ObjectChange): ObjectChange => ({
      ...change,
      object: { ...change.object, createdAt: Date.parse(createdAt) } as ObjectChange['object'],
    });
    const external = { type: 'ClusterIP', externalIPs: ['192.0.2.1'], ports: [{ port: 80 }] };
    const old = age('2020-01-01', service('old', '10.96.0.1', { ...external, sessionAffinity: 'ClientIP' }));
    await proxy.start();
    tell().changed([age('2026-01-01', service('young', '10.96.0.2', external))]);
    tell().changed([old]);
    tell().synced();
    await pass();
    const conflict = '192.0.2.1:80/tcp is served by Service demo/old, which is older';
    assert.deepEqual(told, [conflict]);
    assert.match(kernel.ipvs.dump(), /-A -t 192\.0\.2\.1:80 -s rr -p/);
    tell().changed([{ ...old, type: 'delete' }]);
    const { services } = await pass();
    assert.equal(services, 2);
    assert.equal(told.at(-1), `mended: ${conflict}`);
    assert.match(kernel.ipvs.dump(), /-A -t 192\.0\.2\.1:80 -s rr\n/);
    await proxy.stop();
  });

  for (const order of ['the winner first', 'the winner last'])
    it(`reports the first of thousands of lost addresses, and the number of the others: ${order}`, async () => {
      const { proxy, pass, tell, told } = setUp();
      const addresses = Array.from({ length: 2000 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);
      const claiming = (name: string, clusterIP: string, createdAt: number): ObjectChange => {
        const { type, object } = service(name, clusterIP, {
          type: 'ClusterIP',
          ports: [{ port: 80 }],
          externalIPs: addresses,
        });
        return { type, object: { ...object, createdAt } as ObjectChange['object'] };
      };
      const old = claiming('old', '10.96.0.1', 1);
      const young = claiming('young', '10.96.0.2', 2);
      await proxy.start();
      for (const change of order === 'the winner first' ? [old, young] : [young, old])
        tell().changed([change]);
      tell().synced();
      await pass();
      const rule = 'is served by Service demo/old, which is older';
      const lines = [
        ...addresses.slice(0, 20).map((address) => `${address}:80/tcp ${rule}`),
        'has 1980 more addresses and ports that others serve',
      ];
      assert.deepEqual(told.splice(0), lines);
      tell().changed([young]);
      await pass();
      assert.deepEqual(told, [], 'nothing has changed');
      tell().changed([{ ...old, type: 'delete' }]);
      await pass();
      assert.deepEqual(
        told,
        lines.map((line) => `mended: ${line}`),
      );
      await proxy.stop();
    });

  it('reports a Service with too many endpoints until it has fewer', async () => {
    const { mode, proxy, pass, tell, told } = setUp();
    // The items of this many endpoints take seconds.
    const plan = mode.planService;
    const planned: (number | undefined)[] = [];
    mode.planService = (input, node) => {
      planned.push(input.ports[0]?.endpoints.size);
      return plan({ ...input, ports: [] }, node);
    };
    const addresses = Array.from({ length: 999 }, (_, i) => `192.0.${i >> 8}.${i & 255}`);
    const slice = (endpoints: number): ObjectChange => {
      const { object } = decodeObject({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { namespace: 'demo', name: 'web', labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        ports: [{ port: 8080 }],
        endpoints: Array.from({ length: endpoints }, (_, i) => ({
          addresses: [`10.0.${i >> 8}.${i & 255}`],
        })),
      });
      assert.ok(object);
      return { type: 'set', object };
    };
    const web = service('web', '10.96.0.1', {
      type: 'ClusterIP',
      ports: [{ port: 80 }],
      externalIPs: addresses,
    });
    await proxy.start();
    tell().changed([web, slice(501)]);
    tell().synced();
    await pass();
    const rule =
      'must have at most 500000 frontends × endpoints: 1 endpoint of its EndpointSlices is not used';
    assert.deepEqual(told.splice(0), [rule]);
    tell().changed([slice(500)]);
    await pass();
    assert.deepEqual(told.splice(0), [`mended: ${rule}`]);
    tell().changed([slice(502)]);
    await pass();
    tell().changed([{ ...web, type: 'delete' }]);
    await pass();
    const two = rule.replace('1 endpoint of', '2 endpoints of').replace('is not', 'are not');
    assert.deepEqual(told, [two, `mended: ${two}`]);
    assert.deepEqual(planned, [500, 500, 500]);
    await proxy.stop();
  });
});
