// Changes of virtual services with lists of real servers: the same records, results and reports as single operations.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyParts } from '../../../../src/kernel/ipvs/listRecords.js';
import { packOperation } from '../../../../src/kernel/ipvs/operations.js';
import type { IpvsOperation } from '../../../../src/kernel/ipvs/types.js';
import {
  changeName,
  changeOperation,
  changeSize,
  noChange,
  type ServiceChange,
} from '../../../../src/kernel/ipvs/values/serverLists.js';
import { AddressPorts } from '../../../../src/kernel/net/addressPorts.js';
import type { NativeClient, NativeFailure } from '../../../../src/kernel/shared/addon.js';
import { Calls } from '../../../../src/kernel/shared/calls.js';
import type { Batch } from '../../../../src/kernel/shared/types.js';

function list(...texts: string[]): AddressPorts {
  return AddressPorts.ofTexts(texts[0]?.startsWith('[') ? 6 : 4, texts) ?? assert.fail();
}

const SETTINGS = { protocol: 'tcp', scheduler: 'rr', schedulerFlags: [], onePacket: false } as const;
const SERVER = { weight: 0, forwarding: 'masquerade', upperThreshold: 7, lowerThreshold: 1 } as const;

const CHANGES: readonly ServiceChange[] = [
  {
    ...noChange({ ...SETTINGS, address: '10.96.0.1', port: 80 }),
    verb: 'addService',
    added: list('10.0.0.1:8080', '10.0.0.2:8080', '10.0.0.3:65535'),
    order: [2, 0, 1],
  },
  {
    ...noChange({ ...SETTINGS, address: 'fd00::a', port: 443, persistence: { timeout: 10, netmask: 128 } }),
    verb: 'updateService',
    added: list('[fd00::1]:1', '[fd00::2]:2', '[fd00:ffff::3]:2'),
    deleted: list('[fd00::4]:1', '[fd00::5]:2'),
    others: [
      { do: 'updateRealServer', realServer: { ...SERVER, address: 'fd00::6', port: 6 } },
      { do: 'deleteRealServer', realServer: { address: 'fd00::7', port: 7 } },
    ],
  },
  { ...noChange({ ...SETTINGS, address: '10.96.0.3', port: 80 }), verb: 'deleteService' },
];

/** A client of an addon that records what it gets, and fails as it is told. */
function setUp(failures: readonly NativeFailure[] = []) {
  const sent: Uint8Array[] = [];
  const native: NativeClient = {
    open: async () => new Uint8Array(),
    close() {},
    async apply(records) {
      sent.push(records);
      return [...failures];
    },
  };
  return { sent, calls: new Calls<NativeClient, IpvsOperation>(native) };
}

const whole = (change: ServiceChange) => ({ change, from: 0, to: changeSize(change) });

function operations(change: ServiceChange): IpvsOperation[] {
  return Array.from({ length: changeSize(change) }, (_, number) => changeOperation(change, number));
}

describe('changes with lists', () => {
  it('are the same records as their operations, wherever they are split', async () => {
    for (const change of CHANGES) {
      const expected = Buffer.concat(operations(change).map((operation) => packOperation(operation)));
      for (let split = 1; split <= changeSize(change); split++) {
        const { sent, calls } = setUp();
        await applyParts(calls, [{ change, from: 0, to: split }]);
        await applyParts(calls, [{ change, from: split, to: changeSize(change) }]);
        assert.deepEqual(Buffer.concat(sent), expected, `${change.verb} split at ${split}`);
      }
    }
  });

  it('have the errors of their operations', async () => {
    const failed = [3, 4 + 6].map((index) => ({ index, errno: 12, code: '', message: '' }));
    const { calls } = setUp(failed);
    const results = await applyParts(calls, CHANGES.map(whole));
    assert.deepEqual(
      results.map((error) => error && `${error.code} ${error.operation} ${error.target}`),
      [
        ...[undefined, undefined, undefined, 'ENOMEM ipvs.addRealServer tcp 10.96.0.1:80 -> 10.0.0.2:8080'],
        ...new Array(6).fill(undefined),
        'ENOMEM ipvs.updateRealServer tcp [fd00::a]:443 -> [fd00::6]:6',
        ...[undefined, undefined],
      ],
    );
  });

  it('are not sent if they are invalid, and do not stop others', async () => {
    const service = { ...SETTINGS, address: '10.96.0.9', port: 70_000 };
    const invalid = { ...noChange(service), added: list('10.0.0.1:1', '10.0.0.2:1') };
    const [first, , last] = CHANGES.map(whole);
    assert.ok(first && last);
    const { sent, calls } = setUp([{ index: 4, errno: 3, code: '', message: '' }]);
    const results = await applyParts(calls, [first, whole(invalid), last]);
    const codes = results.map((error) => error?.code);
    const rule = 'ERR_INVALID_ARGUMENT';
    assert.deepEqual(codes, [...new Array(4).fill(undefined), rule, rule, 'ESRCH']);
    assert.match(results[5]?.message ?? '', /service\.port must be .* found 70000/);
    assert.equal(sent[0]?.length, 5 * packOperation(operations(last.change)[0] ?? assert.fail()).length);
  });

  it('are reported with their names, results and operations', async () => {
    const { calls } = setUp([{ index: 0, errno: 17, code: '', message: '' }]);
    const batches: Batch<IpvsOperation>[] = [];
    calls.onBatch = (batch) => void batches.push(batch);
    const results = await applyParts(calls, CHANGES.map(whole));
    const [batch] = batches;
    assert.ok(batch && batches.length === 1);
    const expected = CHANGES.flatMap(operations);
    assert.deepEqual(batch.operations, expected);
    assert.deepEqual(
      batch.names,
      expected.map((operation) => operation.do),
    );
    assert.equal(batch.results, results);
    assert.equal(changeName(CHANGES[1] ?? assert.fail(), 7), 'deleteRealServer');
  });

  it('all have the error of a call that fails, also in the report', async () => {
    const { calls } = setUp();
    await calls.close();
    const batches: Batch<IpvsOperation>[] = [];
    calls.onBatch = (batch) => void batches.push(batch);
    await assert.rejects(applyParts(calls, CHANGES.map(whole)), { code: 'ERR_CLOSED' });
    assert.equal(batches[0]?.results.length, 13);
    assert.ok(batches[0]?.results.every((error) => error !== undefined));
  });
});
