// The pieces of a large pass: what is done while the kernel carries out one of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NetlinkError } from '../../../../src/kernel/errors.js';
import type { KeyedOperation, Mode } from '../../../../src/proxy/modes/mode.js';
import { KernelState } from '../../../../src/proxy/reconcile/kernelState.js';
import type { Planner } from '../../../../src/proxy/reconcile/planner.js';
import { PassRecord } from '../../../../src/proxy/reconcile/summary.js';

interface Operation extends KeyedOperation<string> {
  readonly becomes: string;
}

type Results = (NetlinkError | undefined)[];

/** Turns of the event loop for which the kernel carries out a piece. */
const TURNS = 20;

/** A pass of one operation for each piece. @param resultsOf what the kernel answers */
async function pass(pieces: readonly string[], resultsOf: (key: string) => Results = () => [undefined]) {
  const events: string[] = [];
  let compared: Operation[] = [];
  const mode = {
    compare: () => ({
      look(key: string) {
        compared.push({ key, phase: 'add', becomes: key });
      },
      additions() {
        const additions = compared;
        compared = [];
        return additions;
      },
      removals: () => [],
    }),
    async prepare([operation]: readonly Operation[]) {
      events.push(`prepare ${operation?.key}`);
    },
    async apply([operation]: readonly Operation[]) {
      const { key } = operation as Operation;
      events.push(`apply ${key}`);
      for (let i = 0; i < TURNS; i++) await turn();
      events.push(`applied ${key}`);
      return resultsOf(key);
    },
    acknowledged: ({ key }: Operation) => events.push(`record ${key}`),
  } as unknown as Mode<string, Operation>;
  const planner = {
    desired: { get: (key: string) => key },
    isVital: () => false,
    ownersOf: () => ({ services: [], node: false }),
    failureOf: (key: string, error: NetlinkError) => ({ key, error, vital: false }),
  } as unknown as Planner<string, Operation>;
  const state = new KernelState(mode, planner, { tried: () => {}, accepted: () => {} }, () => 0);
  const record = new PassRecord(() => 0);
  const all = pieces.map((key, i) => ({ keys: [key], last: i === pieces.length - 1 }));
  const error = await state.program(all, record).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { events, state, record, error };
}

describe('pieces of a pass', () => {
  it('while the kernel carries out one, that before it is recorded, and the next one is prepared', async () => {
    const { events, state, error } = await pass(['a', 'b', 'c']);
    assert.equal(error, undefined);
    assert.deepEqual(events, [
      ...['prepare a', 'apply a', 'prepare b', 'applied a'],
      ...['apply b', 'record a', 'prepare c', 'applied b'],
      ...['apply c', 'record b', 'applied c', 'record c'],
    ]);
    assert.deepEqual([...state.known.keys()], ['a', 'b', 'c']);
  });

  it('what the kernel refuses is recorded, and the others are made', async () => {
    const refused = new NetlinkError({ code: 'EPERM', operation: 'nftables.apply' });
    const { state, record, error } = await pass(['a', 'b', 'c'], (key) => [
      key === 'b' ? refused : undefined,
    ]);
    assert.equal(error, undefined);
    assert.deepEqual([...state.known.keys()], ['a', 'c']);
    assert.deepEqual([...state.unknown.items.keys()], ['b']);
    assert.deepEqual(
      record.failures.map(({ key }) => key),
      ['b'],
    );
  });

  it('of a call that rejects, the pieces before it are recorded, and none follows', async () => {
    const { events, state, error } = await pass(['a', 'b', 'c'], (key) => {
      if (key === 'b') throw new TypeError('broken');
      return [undefined];
    });
    assert.ok(error instanceof TypeError);
    assert.deepEqual([...state.known.keys()], ['a']);
    assert.equal(events.includes('apply c'), false);
  });
});
