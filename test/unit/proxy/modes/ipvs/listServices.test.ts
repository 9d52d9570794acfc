// The listing of virtual services, of a kernel in which other network namespaces change theirs.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { VirtualService } from '../../../../../src/kernel/ipvs/types.js';
import { listServices } from '../../../../../src/proxy/modes/ipvs/program/listServices.js';

/** Lists these services one time after the other, by the last bytes of their addresses. */
function kernel(...listings: readonly (readonly number[])[]) {
  let calls = 0;
  const service = (n: number): VirtualService => ({
    ...{ address: `10.96.0.${n}`, port: 80, protocol: 'tcp', scheduler: 'rr' },
    ...{ schedulerFlags: [], onePacket: false },
  });
  return {
    listServices: async () => (listings[Math.min(calls++, listings.length - 1)] ?? []).map(service),
    calls: () => calls,
  };
}

async function listed(...listings: readonly (readonly number[])[]) {
  const ipvs = kernel(...listings);
  const services = await listServices(ipvs);
  const numbers = services.map((service) => ('address' in service ? service.address.slice(8) : ''));
  return { services: numbers.join(' '), calls: ipvs.calls() };
}

it('two listings that agree are believed', async () => {
  assert.deepEqual(await listed([1, 2, 3]), { services: '1 2 3', calls: 2 });
  assert.deepEqual(await listed([]), { services: '', calls: 2 });
});

it('a listing without some, or with some twice, is repeated', async () => {
  assert.deepEqual(await listed([1, 3], [1, 2, 3]), { services: '1 2 3', calls: 3 });
  assert.deepEqual(await listed([1, 1, 2], [1, 2]), { services: '1 2', calls: 3 });
  assert.deepEqual(await listed([1, 2], [1, 3], [1, 2]), { services: '1 2', calls: 4 });
});

it('if no two agree after five listings, all that were listed are there, each once', async () => {
  const found = await listed([1], [2, 2], [3, 1], [4], [5]);
  assert.deepEqual(found, { services: '1 2 3 4 5', calls: 5 });
});
