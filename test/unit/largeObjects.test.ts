// The largest objects that the API accepts cost as much as the same parts in ordinary objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LeftOut } from '../../src/agent/leftOut.js';
import { EventRecorder } from '../../src/api/events.js';
import type { Problem } from '../../src/errors.js';
import { decodeObject } from '../../src/objects/decode.js';
import { Interning } from '../../src/objects/interning.js';
import type { KubernetesObject } from '../../src/objects/types.js';
import { NodeDependents } from '../../src/services/nodeDependents.js';
import { nodeFacts } from '../../src/services/nodeFacts.js';
import { ServiceCache } from '../../src/services/serviceCache.js';
import { threadTimes } from '../support/threadTimes.js';

/** Number of parts in one large object, and in each ordinary one. */
const PARTS = 10_000;
const ORDINARY = 10;
/** The large object may cost this many times as much, and this much more for noise, in ms. */
const TIMES = 2;
const NOISE = 100;

const list = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const address = (i: number) => `192.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

/** An own cluster IP for each name: Services that share one would compete for it. */
const clusterIP = (name: string) => {
  const number = Number(name.replace(/\D/g, ''));
  return `10.96.${number >> 8}.${number & 255}`;
};

const service = (name: string, spec: object, status = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'demo', name },
  spec: { clusterIP: clusterIP(name), ports: [{ port: 80 }], ...spec },
  status,
});

const slice = (name: string, owner: string, more: object) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'demo', name, labels: { 'kubernetes.io/service-name': owner } },
  addressType: 'IPv4',
  ports: [{ port: 8080 }],
  endpoints: [{ addresses: ['10.0.0.1'] }],
  ...more,
});

/** Objects of one kind of list: `count` parts of the Service of that name, from part `first` on. */
const ROWS: Readonly<Record<string, (name: string, count: number, first: number) => object[]>> = {
  ports: (name, count) => {
    const ports = list(count, (i) => ({ name: `p${i}`, port: i + 1 }));
    return [service(name, { ports }), slice(name, name, { ports })];
  },
  'nil ports': (name, count) => [
    service(name, {}),
    slice(name, name, { ports: list(count, (i) => ({ name: `p${i}` })) }),
  ],
  externalIPs: (name, count, first) => [
    service(name, { externalIPs: list(count, (i) => address(first + i)) }),
  ],
  'load-balancer ingress with source ranges': (name, count, first) => [
    service(
      name,
      { type: 'LoadBalancer', loadBalancerSourceRanges: list(count, (i) => `${address(first + i)}/32`) },
      { loadBalancer: { ingress: list(count, (i) => ({ ip: address(first + i) })) } },
    ),
  ],
  endpoints: (name, count, first) => [
    service(name, {}),
    slice(name, name, { endpoints: list(count, (i) => ({ addresses: [address(first + i)] })) }),
  ],
  'slices of one Service': (name, count, first) => [
    service(name, {}),
    ...list(count, (i) => slice(`${name}-${i}`, name, { endpoints: [{ addresses: [address(first + i)] }] })),
  ],
};

/** Decodes objects, stores and plans them, and changes the first ones once more. Returns the time of the thread, in ms. */
function costOf(raws: readonly object[]): number {
  const cache = new ServiceCache();
  const dependents = new NodeDependents();
  const node = nodeFacts('node-a');
  const interning = new Interning();
  const known = new Map<string, KubernetesObject>();
  const leftOut = new LeftOut({ metrics: { leftOut() {} }, announcer: { leftOut() {} } });
  const before = threadTimes().ran;
  for (let round = 0; round < 2; round++) {
    for (const raw of raws) {
      const { object, problems } = decodeObject(raw, (identity) => known.get(identity), interning);
      leftOut.found(problems);
      assert.ok(object);
      known.set(`${object.kind} demo/${object.name}`, object);
      cache.apply({ type: 'set', object });
    }
    for (const name of cache.serviceNames()) dependents.planned(name, cache.planInput(name, node));
  }
  return threadTimes().ran - before;
}

describe(`${PARTS} parts in one object cost as much as in ${PARTS / ORDINARY} objects`, () => {
  for (const [row, make] of Object.entries(ROWS)) {
    it(row, (t) => {
      const large = make('large', PARTS, 0);
      const ordinary = list(PARTS / ORDINARY, (i) => make(`web-${i}`, ORDINARY, i * ORDINARY)).flat();
      const usual = costOf(ordinary);
      const most = costOf(large);
      t.diagnostic(`${most.toFixed(0)} ms in one object, ${usual.toFixed(0)} ms in ordinary ones`);
      assert.ok(most <= TIMES * usual + NOISE, `${most} ms in one object, ${usual} ms in ordinary ones`);
    });
  }
});

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
    const { problems } = decodeObject(slice('a', 'a', { ports: list(20_000, () => ({})) }));
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
