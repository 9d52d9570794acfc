// What the largest objects of a tenant cost, from JSON to the operations on a fake kernel, and the same parts in ordinary objects.
import assert from 'node:assert/strict';
import type { RawObject } from '../../../bench/apiServer/store.js';
import { LeftOut } from '../../../src/command/agent/leftOut.js';
import { openMetrics } from '../../../src/command/servers/metrics.js';
import { decodeObject } from '../../../src/proxy/objects/decode.js';
import { Interning } from '../../../src/proxy/objects/interning.js';
import type { KubernetesObject } from '../../../src/proxy/objects/types.js';
import { conflictsOf } from '../../../src/proxy/reconcile/serviceProblems.js';
import { NodeDependents } from '../../../src/proxy/services/nodeDependents.js';
import { nodeFacts } from '../../../src/proxy/services/nodeFacts.js';
import { ServiceCache } from '../../../src/proxy/services/serviceCache.js';
import { OpenProblems } from '../../../src/proxy/source/openProblems.js';
import { threadTimes } from '../measures/threadTimes.js';
import { FakeIptablesNode, FakeNode } from '../oracle/testNode.js';
import { LARGE_OBJECTS } from './largeObjects.js';

/** Number of parts in each ordinary object. */
const ORDINARY = 10;
/** Parts of an unmeasured run. */
const WARM = 100;
/** Changes after the first version. */
const CHANGES = 2;
/** The large object may cost this many times as much. */
const TIMES = 2;
/** A measurement is repeated if it is over the limit: garbage of the one before may be collected in it. */
const MOST_TRIES = 3;

/** The modes that are measured. */
export const MODES: Readonly<Record<string, () => FakeNode | FakeIptablesNode>> = {
  ipvs: () => new FakeNode(HOST),
  iptables: () => new FakeIptablesNode(HOST),
};

const HOST = {
  configuration: { clusterCIDR: '10.128.0.0/9' },
  interfaces: [{ link: 'eth0', address: '192.168.50.10', prefix: 24 }],
};

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

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
  const metrics = openMetrics({ version: '0', kubernetesVersion: 'v1.36.0', startedAt: 0 });
  const leftOut = new LeftOut({ metrics, announcer: { leftOut() {} } });
  const problems = new OpenProblems({
    problems: (found) => leftOut.found(found),
    mended: (solved) => leftOut.mended(solved),
  });
  let known = new Map<string, KubernetesObject>();
  let ran = 0;
  for (let version = 0; version <= CHANGES; version++) {
    const texts = objectsOf(row, count, isLarge, version).map((raw) => JSON.stringify(raw));
    const before = threadTimes().ran;
    const read = new Map<string, KubernetesObject>();
    for (const text of texts) {
      const { object, problems: found } = decodeObject(
        JSON.parse(text),
        (identity) => known.get(identity),
        interning,
      );
      assert.ok(object);
      problems.set(`${object.kind} ${object.name}`, found);
      read.set(`${object.kind} demo/${object.name}`, object);
      cache.apply({ type: 'set', object });
    }
    for (const [name, object] of known) if (!read.has(name)) cache.apply({ type: 'delete', object });
    for (const name of cache.serviceNames()) {
      dependents.planned(name, cache.planInput(name, nodeFacts('node-a')));
      problems.set(`claims of ${name}`, conflictsOf(name, cache.lostClaims(name)));
    }
    node.set(read);
    const { failures } = await node.sync();
    ran += threadTimes().ran - before;
    assert.deepEqual(failures, []);
    known = read;
  }
  return ran;
}

/** The cost of one large object, and of the same parts in ordinary ones. */
export interface Compared {
  readonly most: number;
  readonly usual: number;
  /** What the large object may cost. */
  readonly limit: number;
}

/**
 * The times, in ms of CPU time, of the first try in which the large object costs little enough, or of the last one.
 *
 * @param noise a difference that says nothing, in ms
 */
export async function compared(mode: string, row: string, count: number, noise: number): Promise<Compared> {
  // V8 compiles what the row uses: neither measurement pays for it.
  await costOf(mode, row, WARM, false);
  for (let tries = 1; ; tries++) {
    const usual = await costOf(mode, row, count, false);
    const most = await costOf(mode, row, count, true);
    const limit = TIMES * usual + noise;
    if (most <= limit || tries === MOST_TRIES) return { most, usual, limit };
  }
}
