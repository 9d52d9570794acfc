// Large objects cost as much as the same parts in ordinary objects. The tier `long` has all lists, and the largest objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventRecorder } from '../../src/command/agent/events.js';
import type { Problem } from '../../src/kernel/errors.js';
import { decodeObject } from '../../src/proxy/objects/decode.js';
import { Interning } from '../../src/proxy/objects/interning.js';
import { sample } from '../support/extent.js';
import { compared, MODES } from '../support/largeObjects/largeObjectCosts.js';
import { LARGE_OBJECTS } from '../support/largeObjects/largeObjects.js';

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Parts of a list: so many that their square takes seconds. */
const ROWS: Readonly<Record<string, number>> = {
  ports: 2000,
  externalIPs: 2000,
  'contested externalIPs, the winner first': 2000,
  'contested externalIPs, the winner last': 2000,
  'equal externalIPs': 4000,
  'source ranges': 2000,
  endpoints: 2000,
  'endpoints with invalid node names': 2000,
  'slices of one Service': 2000,
};
/** A difference that says nothing, in ms. */
const NOISE = 30;

for (const mode of Object.keys(MODES)) {
  describe(`many parts in one object cost as much as in ordinary objects, in ${mode} mode`, () => {
    for (const [row, count] of sample(Object.entries(ROWS), 2)) {
      it(`${count} parts: ${row}`, async () => {
        const { most, usual, limit } = await compared(mode, row, count, NOISE);
        assert.ok(most <= limit, `${most} ms in one object, ${usual} ms in ordinary ones`);
      });
    }
  });
}

describe('what is remembered', () => {
  it('shares no list of many values', () => {
    const interning = new Interning();
    const ports = () => list(1000, (i) => ({ port: i }));
    assert.notEqual(interning.list(ports()), interning.list(ports()));
    assert.equal(interning.list([{ port: 1 }]), interning.list([{ port: 1 }]));
  });

  it('shares no long text, and a bounded number of characters', () => {
    const interning = new Interning();
    for (let i = 0; i < 20_000; i++) interning.text(`${i}`.padEnd(1000, 'x'));
    assert.ok(interning.characters <= 4 * 2 ** 20, `${interning.characters} characters`);
    interning.text('y'.repeat(2 ** 23));
    assert.ok(interning.characters <= 4 * 2 ** 20, 'a long text is remembered');
  });

  it('reports the first problems of an object, and the number of the others', () => {
    const [, slice] = LARGE_OBJECTS['nil ports']?.('a-1', 20_000, 0) ?? [];
    assert.deepEqual(decodeObject(slice).problems, [], 'a port without a number is allowed');
    const ports = Array.from({ length: 20_000 }, (_, i) => ({ name: `p${i}`, port: 70_000 }));
    const { problems } = decodeObject({ ...slice, ports });
    assert.ok(problems.length < 50, `${problems.length} problems`);
    assert.match((problems.at(-1) as Problem).rule, /^has \d+ more problems$/);
  });

  it('sends events with notes of at most 1024 bytes, and compares no more of them', async () => {
    const sent: unknown[] = [];
    const client = { create: async (_: string, body: unknown) => void sent.push(body) };
    const recorder = new EventRecorder({ client: client as never, failed: () => {} });
    const note = 'x'.repeat(100_000);
    for (const end of ['a', 'b'])
      recorder.record({
        reason: 'R',
        type: 'Warning',
        action: 'A',
        note: note + end,
        regarding: { kind: 'Service', name: 'a' },
      });
    await recorder.flush(1000);
    await recorder.stop();
    assert.equal(sent.length, 1, 'two events whose notes are cut to the same text are equal');
  });
});
