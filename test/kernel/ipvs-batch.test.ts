// Batches of IPVS operations: one result for each, in order, whatever happens to the others. Large listings.
// Needs: ipvs, dummy device
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type IpvsOperation, type OperationResult, openIpvs } from '../../src/kernel/ipvs/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { ipvsNamespace } from '../support/namespaces/ipvsNamespace.js';
import { additions, server, service } from '../support/tables/ipvs.js';

const { namespace, ipvs } = await ipvsNamespace();

function codes(results: readonly OperationResult[]): (string | undefined)[] {
  return results.map((result) => result?.code);
}

test('an empty batch', async () => {
  assert.deepEqual(await ipvs.apply([]), []);
});

test('a thousand operations, some of which fail in the middle', async () => {
  const operations: IpvsOperation[] = additions(100, 9);
  const first = service({ address: '10.100.0.0' });
  const stranger = service({ port: 1 });
  // Every 97th place, so that failures fall into each load of 256, its first and its last place too.
  const failing: readonly (readonly [IpvsOperation, string])[] = [
    [{ do: 'addService', service: first }, 'EEXIST'],
    [{ do: 'updateService', service: stranger }, 'ESRCH'],
    [{ do: 'deleteService', service: stranger }, 'ESRCH'],
    [{ do: 'addRealServer', service: stranger, realServer: server() }, 'ESRCH'],
    [
      {
        do: 'deleteRealServer',
        service: first,
        realServer: server({ port: 9 }),
      },
      'ENOENT',
    ],
    [{ do: 'addService', service: service({ port: 70000 }) }, 'ERR_INVALID_ARGUMENT'],
    [{ do: 'addService', service: service({ scheduler: 'nope', port: 2 }) }, 'ENOENT'],
  ];
  const places = [255, 256, 257, 300, 511, 700, 767, 999];
  const expected = new Array<string | undefined>(1000 + places.length).fill(undefined);
  for (const [i, place] of places.entries()) {
    const [operation, code] = failing[i % failing.length] ?? assert.fail();
    operations.splice(place, 0, operation);
    expected[place] = code;
  }
  const results = await ipvs.apply(operations);
  assert.deepEqual(codes(results), expected);
  assert.equal(results[255]?.operation, 'ipvs.addService');
  assert.equal(results[255]?.target, 'tcp 10.100.0.0:443');
  assert.equal(results[511]?.target, 'tcp 10.100.0.0:443 -> 10.0.0.4:9');
  assert.match(
    results[700]?.kernelMessage ?? '',
    /service\.port must be an integer from 0 to 65535, found 70000/,
  );
  const listed = await ipvs.list();
  assert.equal(listed.length, 100);
  assert.ok(listed.every(({ realServers }) => realServers.length === 9));
  assert.equal(namespace.run('ipvsadm', '-S', '-n').trim().split('\n').length, 1000);
});

test('operations keep their order', async () => {
  const toggled = Array.from({ length: 300 }, (): IpvsOperation[] => [
    { do: 'addService', service: service() },
    { do: 'deleteService', service: service() },
  ]).flat();
  assert.deepEqual(codes(await ipvs.apply(toggled)), new Array(600).fill(undefined));
  assert.deepEqual(await ipvs.list(), []);
});

test('calls keep their order, without waiting for each other', async () => {
  const calls = [
    ipvs.apply(additions(50, 5)),
    ipvs.list(),
    ipvs.flush({ confirm: 'delete every virtual service' }),
    ipvs.list(),
    ipvs.add(service()),
    ipvs.get(service()),
  ] as const;
  const [, before, , between, , got] = await Promise.all(calls);
  assert.equal(before.length, 50);
  assert.equal(between.length, 0);
  assert.equal(got?.scheduler, 'rr');
});

test('values that are not operations are refused, each at its place', async () => {
  const nonsense = [
    undefined,
    null,
    7,
    {},
    { do: 'destroy', service: service() },
    { do: 'addService' },
    { do: 'addRealServer', service: service() },
    { do: 'deleteRealServer', service: service(), realServer: null },
  ] as unknown as IpvsOperation[];
  const results = await ipvs.apply([...nonsense, { do: 'addService', service: service() }]);
  assert.deepEqual(codes(results), [...nonsense.map(() => 'ERR_INVALID_ARGUMENT'), undefined]);
  assert.match(results[4]?.message ?? '', /do must be one of addService, .*, found 'destroy'/);
  assert.equal((await ipvs.list()).length, 1);
});

test('five thousand services are listed once each, with their real servers', async () => {
  const results = await ipvs.apply(additions(5000, 1));
  assert.ok(results.every((result) => result === undefined));
  // Linux 7 enlarges the table a moment later, and goes on with a listing that is under way at the same position in the new order.
  let listed = await ipvs.list();
  for (const deadline = performance.now() + PATIENCE; listed.length !== 5000; listed = await ipvs.list())
    assert.ok(performance.now() < deadline, `${listed.length} services`);
  const keys = new Set(listed.map((one) => ('address' in one ? one.address : '')));
  assert.equal(keys.size, 5000);
  assert.ok(listed.every(({ realServers }) => realServers.length === 1));
});

test('a service with many real servers', async () => {
  const results = await ipvs.apply(additions(1, 2000));
  assert.ok(results.every((result) => result === undefined));
  const got = await ipvs.get(service({ address: '10.100.0.0' }));
  assert.equal(new Set(got?.realServers.map(({ address }) => address)).size, 2000);
});

test('a listing while another client writes has no service twice', async () => {
  const writer = await openIpvs({ netns: namespace.path });
  await ipvs.apply(additions(300, 1));
  let lists = 0;
  const writing = (async () => {
    while (lists < 20) {
      const some = additions(300, 1);
      await writer.apply([
        ...some
          .filter((operation) => operation.do === 'addService')
          .map(({ service }) => ({ do: 'deleteService', service }) as const),
        ...some,
      ]);
    }
  })();
  for (; lists < 20; lists++) {
    const listed = await ipvs.list();
    const keys = new Set(listed.map((one) => ('address' in one ? one.address : '')));
    assert.equal(keys.size, listed.length);
  }
  await writing;
  writer.close();
  assert.equal((await ipvs.list()).length, 300);
});
