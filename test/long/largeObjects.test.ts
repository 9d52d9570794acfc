// The largest objects that the API accepts cost as much as the same parts in ordinary objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LeftOut } from '../../src/agent/leftOut.js';
import { EventRecorder } from '../../src/api/events.js';
import type { RawObject } from '../../src/bench/apiServer/store.js';
import type { Problem } from '../../src/errors.js';
import { decodeObject } from '../../src/objects/decode.js';
import { Interning } from '../../src/objects/interning.js';
import type { KubernetesObject } from '../../src/objects/types.js';
import { NodeDependents } from '../../src/services/nodeDependents.js';
import { nodeFacts } from '../../src/services/nodeFacts.js';
import { ServiceCache } from '../../src/services/serviceCache.js';
import { LARGE_OBJECTS } from '../support/largeObjects.js';
import { FakeIptablesNode, FakeNode } from '../support/testNode.js';
import { threadTimes } from '../support/threadTimes.js';

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Number of parts in one large object, and in each ordinary one. */
const PARTS = 10_000;
const ORDINARY = 10;
/** Lists that cost little, and whose cost only shows with many parts. */
const MORE: Readonly<Record<string, number>> = { 'equal externalIPs': 20_000, 'nil ports': 20_000 };
/** Parts of an unmeasured run. */
const WARM = 100;
/** Changes after the first version. */
const CHANGES = 2;
/** The large object may cost this many times as much, and this much more for noise, in ms. */
const TIMES = 2;
const NOISE = 50;
/** A measurement is repeated if it is over the limit: garbage of the one before may be collected in it. */
const MOST_TRIES = 3;

const MODES: Readonly<Record<string, () => FakeNode | FakeIptablesNode>> = {
  ipvs: () => new FakeNode(HOST),
  iptables: () => new FakeIptablesNode(HOST),
};

const HOST = {
  configuration: { clusterCIDR: '10.128.0.0/9' },
  interfaces: [{ link: 'eth0', address: '192.168.50.10', prefix: 24 }],
};

/** The objects of a row, in one large object or in ordinary ones. */
function objectsOf(row: string, count: number, isLarge: boolean, version: number): RawObject[] {
  const make = LARGE_OBJECTS[row] ?? assert.fail(row);
  if (isLarge) return make('large-1', count, 0, version);
  return list(count / ORDINARY, (i) => make(`web-${i + 1}`, ORDINARY, i * ORDINARY, version)).flat();
}

/** From JSON to the operations on a fake kernel, at first and for each change. Returns the time of the thread, in ms. */
async function costOf(mode: string, row: string, count: number, isLarge: boolean): Promise<number> {
  const node = MODES[mode]?.() ?? assert.fail(mode);
  const dependents = new NodeDependents();
  const cache = new ServiceCache();
  const interning = new Interning();
  const leftOut = new LeftOut({ metrics: { leftOut() {} }, announcer: { leftOut() {} } });
  let known = new Map<string, KubernetesObject>();
  let ran = 0;
  for (let version = 0; version <= CHANGES; version++) {
    const texts = objectsOf(row, count, isLarge, version).map((raw) => JSON.stringify(raw));
    const before = threadTimes().ran;
    const read = new Map<string, KubernetesObject>();
    for (const text of texts) {
      const { object, problems } = decodeObject(
        JSON.parse(text),
        (identity) => known.get(identity),
        interning,
      );
      leftOut.found(problems);
      assert.ok(object);
      read.set(`${object.kind} demo/${object.name}`, object);
      cache.apply({ type: 'set', object });
    }
    for (const name of cache.serviceNames()) {
      dependents.planned(name, cache.planInput(name, nodeFacts('node-a')));
      cache.lostClaims(name);
    }
    node.set(read);
    const { failures } = await node.sync();
    ran += threadTimes().ran - before;
    assert.deepEqual(failures, []);
    known = read;
  }
  return ran;
}

/** The times, in ms, of the first try in which the large object costs little enough, or of the last one. */
async function compared(mode: string, row: string, count: number) {
  // V8 compiles what the row uses: neither measurement pays for it.
  await costOf(mode, row, WARM, false);
  for (let tries = 1; ; tries++) {
    const usual = await costOf(mode, row, count, false);
    const most = await costOf(mode, row, count, true);
    if (most <= TIMES * usual + NOISE || tries === MOST_TRIES) return { most, usual };
  }
}

for (const mode of Object.keys(MODES)) {
  describe(`many parts in one object cost as much as in ordinary objects, in ${mode} mode`, () => {
    for (const row of Object.keys(LARGE_OBJECTS)) {
      const count = MORE[row] ?? PARTS;
      it(`${count} parts: ${row}`, async (t) => {
        const { most, usual } = await compared(mode, row, count);
        t.diagnostic(`${most.toFixed(0)} ms in one object, ${usual.toFixed(0)} ms in ordinary ones`);
        assert.ok(most <= TIMES * usual + NOISE, `${most} ms in one object, ${usual} ms in ordinary ones`);
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
    const { problems } = decodeObject(LARGE_OBJECTS['nil ports']?.('a-1', 20_000, 0)[1]);
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
