// The contract of the lists of real servers, which the kernel and the fake share.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Ipvs, OperationResult } from '../../../src/kernel/ipvs/index.js';
import {
  noChange,
  realServersOf,
  type ServerLists,
  type ServiceChange,
} from '../../../src/kernel/ipvs/values/serverLists.js';
import { familyOf } from '../../../src/kernel/net/address.js';
import { AddressPorts } from '../../../src/kernel/net/addressPorts.js';
import { server, service } from '../tables/ipvs.js';
import { closed, outcomes } from './refusals.js';

function codes(results: readonly OperationResult[]): (string | undefined)[] {
  return results.map((result) => result?.code);
}

/** Registers the tests. `open` returns an empty IPVS. */
export function serverListsContract(open: () => Promise<Ipvs & ServerLists>): void {
  it('lists of real servers have what the verbs list, and change what the verbs change', async () => {
    const ipvs = await open();
    const ids = [
      { address: '10.101.0.1', port: 80, protocol: 'tcp' },
      { address: 'fd00::101', port: 80, protocol: 'tcp' },
    ] as const;
    for (const id of ids) {
      const four = id.address === '10.101.0.1';
      const texts = Array.from({ length: 300 }, (_, i) =>
        four ? `10.0.${i >> 8}.${i & 255}:80` : `[fd00::${i}]:80`,
      );
      const added = AddressPorts.ofTexts(four ? 4 : 6, texts) ?? assert.fail();
      const settings = { ...id, scheduler: 'rr', schedulerFlags: [], onePacket: false };
      const address = four ? '10.9.0.1' : 'fd00:9::1';
      const draining = { ...server({ address, port: 7 }), weight: 0, upperThreshold: 0, lowerThreshold: 0 };
      const others = [
        { do: 'addRealServer', realServer: { ...draining, forwarding: 'masquerade' } },
      ] as const;
      const change: ServiceChange = { ...noChange(settings), verb: 'addService', added, others };
      const parts = [
        { change, from: 0, to: 100 },
        { change, from: 100, to: 302 },
      ];
      assert.deepEqual(codes(await ipvs.applyChanges(parts)), new Array(302).fill(undefined));
      await ipvs.addRealServer(id, { address: 'fd00:8::1', port: 8, forwarding: 'tunnel' });
      await ipvs.addRealServer(id, { address: '10.8.0.1', port: 8, forwarding: 'tunnel' });
    }
    const missing = { ...ids[0], port: 81 };
    const [four, six, none] = await ipvs.listServers([...ids, missing]);
    assert.deepEqual([four?.realServers.size, six?.realServers.size, none?.realServers.size], [300, 300, 0]);
    assert.deepEqual([...(four?.others?.keys() ?? [])].sort(), ['10.8.0.1:8', '10.9.0.1:7', '[fd00:8::1]:8']);
    assert.equal(six?.others?.get('[fd00:9::1]:7')?.weight, 0);
    const listed = await ipvs.listRealServers(ids);
    assert.deepEqual(
      [four, six],
      ids.map(({ address }, i) => realServersOf(familyOf(address), listed[i] ?? [])),
    );
    const deleted = four?.realServers ?? assert.fail();
    const settings = { ...ids[0], scheduler: 'rr', schedulerFlags: [], onePacket: false };
    const change = { ...noChange(settings), deleted };
    assert.deepEqual(
      codes(await ipvs.applyChanges([{ change, from: 0, to: 300 }])),
      new Array(300).fill(undefined),
    );
    const again = await ipvs.applyChanges([{ change, from: 298, to: 300 }]);
    assert.deepEqual(codes(again), ['ENOENT', 'ENOENT']);
    assert.equal((await ipvs.listRealServers([ids[0]]))[0]?.length, 3);
  });

  it('has the error of each operation in its place, and sends none that is invalid', async () => {
    const ipvs = await open();
    const added = AddressPorts.ofTexts(4, ['10.0.0.4:80', '10.0.0.5:80', '224.0.0.1:80']) ?? assert.fail();
    const realServer = server({ weight: -1 });
    const others = [
      { do: 'addRealServer', realServer },
      { do: 'deleteRealServer', realServer: { address: '10.0.0.9', port: 80 } },
    ] as const;
    const order = [0, 2, 1];
    const change: ServiceChange = { ...noChange(service()), verb: 'addService', added, order, others };
    const name = 'tcp 10.96.0.1:443';
    assert.deepEqual(outcomes(await ipvs.applyChanges([{ change, from: 0, to: 6 }])), [
      ...['done', 'done'],
      `EINVAL 22 ipvs.addRealServer ${name} -> 224.0.0.1:80`,
      'done',
      `ERR_INVALID_ARGUMENT 0 ipvs.addRealServer ${name} -> 10.0.0.4:6443`,
      `ENOENT 2 ipvs.deleteRealServer ${name} -> 10.0.0.9:80`,
    ]);
    assert.deepEqual(await ipvs.applyChanges([]), []);
    const [listed] = await ipvs.listServers([service()]);
    assert.deepEqual([...(listed?.realServers ?? [])].sort(), ['10.0.0.4:80', '10.0.0.5:80']);
  });

  it('rejects every call after close()', async () => {
    const ipvs = await open();
    await closed(
      ipvs,
      () => ipvs.listServers([service()]),
      () => ipvs.applyChanges([]),
    );
  });
}
