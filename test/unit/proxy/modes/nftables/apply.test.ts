// Operations in transactions: which belong together, what is left out when the kernel refuses some, and which item was refused.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError, ROLLED_BACK } from '../../../../../src/kernel/errors.js';
import type { NftablesOperation } from '../../../../../src/kernel/nftables/types.js';
import { FakeNftables } from '../../../../../src/kernel/testing/nftables.js';
import type { DisturbedCheck } from '../../../../../src/proxy/modes/mode.js';
import { createNftablesMode, NFTABLES_DEFAULTS } from '../../../../../src/proxy/modes/nftables/index.js';
import { compare } from '../../../../../src/proxy/modes/nftables/plan/compare.js';
import { type Item, itemMap } from '../../../../../src/proxy/modes/nftables/plan/items.js';
import type { Operation } from '../../../../../src/proxy/modes/nftables/plan/operations.js';
import type { NftablesLayout } from '../../../../../src/proxy/modes/nftables/plan/options.js';
import { apply, prepare } from '../../../../../src/proxy/modes/nftables/program/apply.js';
import type { NftablesKernel } from '../../../../../src/proxy/modes/nftables/program/kernel.js';
import { refusedBy } from '../../../../../src/proxy/modes/nftables/program/refused.js';
import { ownSets } from '../../../../../src/proxy/modes/nftables/program/takenNames.js';
import { OwnGenerations } from '../../../../../src/proxy/modes/nftablesRules/program/ownGenerations.js';
import type { Result } from '../../../../../src/proxy/modes/shared/program/result.js';
import { planned, service, slice } from '../../../../support/clusters/nftablesPlans.js';

/** Nobody watches the tables. */
const TABLES = { during: <Result>(_elements: number, send: () => Promise<Result>) => send() };

/** A kernel that refuses some operations, and keeps the transactions that it got. */
function kernelThat(refuses: (operation: NftablesOperation) => string | undefined) {
  const sent: (readonly NftablesOperation[])[] = [];
  const nftables = {
    async apply(operations: readonly NftablesOperation[]) {
      sent.push(operations);
      const codes = operations.map(refuses);
      if (codes.every((code) => code === undefined)) return codes.map(() => undefined);
      return codes.map(
        (code) => new NetlinkError({ code: code ?? ROLLED_BACK, operation: 'nftables.apply' }),
      );
    },
  } as unknown as NftablesKernel['nftables'];
  return { kernel: { nftables }, sent };
}

/** The operations between two states. */
function between(
  before: readonly object[],
  after: readonly object[],
  families: readonly (4 | 6)[] = [4],
  layout: NftablesLayout = 'kube-proxy',
): Operation[] {
  const known = planned(before, { families, layout });
  const desired = planned(after, { families, layout });
  const state = new Map([...known.keys()].map((key) => [key, known.get(key) as Item]));
  const comparison = compare(desired, before.length > 0 ? state : new Map());
  for (const key of new Set([...desired.keys(), ...(before.length > 0 ? state.keys() : [])]))
    comparison.look(key);
  return [...comparison.additions(), ...comparison.removals()];
}

const IDLE = service('idle', '10.96.0.2');
const WEB = [service('web', '10.96.0.1'), slice('web', '10.244.0.1')];

const isElement = (operation: NftablesOperation, verb: string, address: string) =>
  operation.do === verb &&
  'elements' in operation &&
  JSON.stringify(operation.elements).includes(`"${address}"`);

const codes = (operations: readonly Operation[], results: readonly (NetlinkError | undefined)[]) =>
  operations.flatMap(({ key }, i) =>
    results[i] ? [`${results[i].code} ${key.replace(/-[A-Z2-7]{8}-/, '-H-')}`] : [],
  );

const number = (i: number) => `${i >> 8}.${i & 255}`;

it('a transaction for each family, in which no operation is divided', async () => {
  const { kernel, sent } = kernelThat(() => undefined);
  const many = Array.from({ length: 600 }, (_, i) => [
    service(`s${i}`, `10.97.${number(i)}`),
    slice(`s${i}`, `10.244.${number(i)}`),
  ]).flat();
  const operations = between([], many, [4, 6]);
  const results = await apply(kernel, TABLES, operations);
  assert.ok(results.length === operations.length && results.every((result) => result === undefined));
  const families = sent.map((some) => new Set(some.map((each) => JSON.stringify(each).includes('"ip6"'))));
  assert.deepEqual(
    families.map((each) => [...each]),
    [[false], [false], [true]],
  );
  for (const some of sent) assert.notEqual(some[0]?.do, 'addRule');
});

it('a refused element fails its Service only, and is named', async () => {
  const { kernel, sent } = kernelThat((each) =>
    isElement(each, 'addElements', '10.96.0.1') ? 'EEXIST' : undefined,
  );
  const operations = between([IDLE], [IDLE, ...WEB, service('new', '10.96.0.3')]);
  const results = await apply(kernel, TABLES, operations);
  assert.deepEqual(codes(operations, results), [
    'EEXIST chain ip kube-proxy service-H-demo/web/tcp/',
    'EEXIST element ip kube-proxy cluster-ips 10.96.0.1',
    'EEXIST element ip kube-proxy service-ips 10.96.0.1 . tcp . 80',
  ]);
  // All with merged elements, all without, and those of the other Services.
  assert.equal(sent.length, 3);
  assert.ok((sent[0]?.length ?? 0) < (sent[1]?.length ?? 0));
  assert.ok(sent[2]?.some((each) => isElement(each, 'addElements', '10.96.0.3')));
  const errors = new Set(results.filter((result) => result !== undefined));
  const refused = operations
    .map(({ item }) => item)
    .filter((item) => [...errors].some((error) => refusedBy(error)?.isIn(item)));
  assert.deepEqual(
    refused.map((item) => item.kind === 'element' && item.text),
    ['10.96.0.1'],
    'the first one',
  );
  assert.equal(refusedBy(new NetlinkError({ code: 'EPERM', operation: 'nftables.apply' })), undefined);
});

it('a chain in use stays, and the elements that lead to it go', async () => {
  const { kernel } = kernelThat((each) => (each.do === 'deleteChain' ? 'EBUSY' : undefined));
  const operations = between([IDLE, ...WEB], [IDLE]);
  const results = await apply(kernel, TABLES, operations);
  assert.deepEqual(codes(operations, results), ['EBUSY chain ip kube-proxy service-H-demo/web/tcp/']);
});

it('an error of the call is the error of each operation', async () => {
  const { kernel } = kernelThat(() => undefined);
  const operations = between([IDLE], [IDLE, ...WEB]);
  const failing = { nftables: { ...kernel.nftables, apply: () => Promise.reject(new TypeError('broken')) } };
  const results = await apply(failing, TABLES, operations);
  assert.ok(results.every((result) => result?.code === 'ERR_UNKNOWN'));
});

it('a transaction has at most 98 304 elements, those of slots included, and the operation that exceeds them', async () => {
  const { kernel, sent } = kernelThat(() => undefined);
  const endpoints = Array.from({ length: 1000 }, (_, i) => `10.244.${number(i)}`);
  const many = Array.from({ length: 250 }, (_, i) => [
    service(`s${i}`, `10.97.${number(i)}`),
    slice(`s${i}`, ...endpoints),
  ]).flat();
  const given: number[] = [];
  const tables = {
    during: <Result>(elements: number, send: () => Promise<Result>) => {
      given.push(elements);
      return send();
    },
  };
  const operations = between([], many, [4], 'scalable');
  await apply(kernel, tables, operations);
  assert.equal(sent.length, 3);
  assert.equal(
    given.reduce((sum, elements) => sum + elements),
    250 * 1002,
  );
  for (const elements of given.slice(0, -1))
    assert.ok(elements >= 98_304 && elements < 98_304 + 1002, `${elements}`);
});

it('the elements of the sets of rules count as those of a transaction, of which nobody is notified if there are many', async () => {
  const { kernel } = kernelThat(() => undefined);
  const given: number[] = [];
  const tables = {
    during: <Result>(elements: number, send: () => Promise<Result>) => {
      given.push(elements);
      return send();
    },
  };
  const endpoints = Array.from({ length: 100 }, (_, i) => `10.244.0.${i}`);
  await apply(
    kernel,
    tables,
    between([IDLE], [IDLE, service('web', '10.96.0.1'), slice('web', ...endpoints)]),
  );
  // Those of the map, and those in cluster-ips and service-ips.
  assert.deepEqual(given, [100 + 2]);
});

it('sends what was prepared, and prepares the rest again if the kernel refuses some of it', async () => {
  const operations = between([IDLE], [IDLE, ...WEB, service('new', '10.96.0.3')]);
  const refuses = (each: NftablesOperation) =>
    isElement(each, 'addElements', '10.96.0.1') ? 'EEXIST' : undefined;
  const [ahead, afterwards] = [kernelThat(refuses), kernelThat(refuses)];
  const prepared = await prepare(operations);
  const results = await apply(ahead.kernel, TABLES, operations, prepared);
  assert.equal(ahead.sent[0], prepared[0]?.merged);
  assert.deepEqual(
    codes(operations, results),
    codes(operations, await apply(afterwards.kernel, TABLES, operations)),
  );
  assert.deepEqual(ahead.sent, afterwards.sent);
});

it('a short name that another set has: the whole one is sent instead, and the others stay short', async () => {
  const operations = between([IDLE], [IDLE, ...WEB, service('new', '10.96.0.3'), slice('new', '10.244.0.2')]);
  const namesIn = (sent: readonly NftablesOperation[] = []) => sent.flatMap(ownSets).map(({ name }) => name);
  const { kernel, sent } = kernelThat((operation) =>
    namesIn([operation]).includes(namesIn(sent[0])[0]) ? 'EEXIST' : undefined,
  );
  const results = await apply(kernel, TABLES, operations);
  assert.ok(results.every((result) => result === undefined));
  const [short = [], whole = [], ...more] = sent.map(namesIn);
  assert.deepEqual([short.map((name) => name?.length), more], [[7, 7], []]);
  assert.equal(whole[0]?.slice(0, 7), short[0]);
  assert.deepEqual([whole[0]?.length, whole[1]], [10, short[1]]);
});

it('a rule with a whole name that is refused all the same fails its Service', async () => {
  const { kernel, sent } = kernelThat(({ do: verb }) => (verb === 'addRule' ? 'EEXIST' : undefined));
  const operations = between([IDLE], [IDLE, ...WEB]);
  const results = await apply(kernel, TABLES, operations);
  assert.deepEqual(
    results.map((result) => result?.code),
    operations.map(() => 'EEXIST'),
  );
  assert.deepEqual(
    sent.map((some) => some.flatMap(ownSets).map(({ name }) => name?.length)),
    [[7], [10], [10]], // the last one without merging, which names the culprit
  );
});

it('generations: those of our transactions, once each', async () => {
  let id = 7;
  const own = new OwnGenerations({ generation: async () => ({ id, pid: 0, program: '' }) });
  const during = (commits: number, ...results: Result[]) =>
    own.during(async () => {
      id += commits;
      return results;
    });
  await during(1, undefined); // ours is 8
  id++; // 9 is of another program
  await during(2, undefined); // of 10 and 11, one is ours
  await during(0); // nothing was changed
  const refused = new NetlinkError({ code: 'ENOENT', operation: 'nftables.apply' });
  await during(1, undefined, refused); // 12 is of another program, which deleted what ours needs
  assert.deepEqual(
    [7, 8, 9, 10, 11, 12, 13].map((generation) => own.isOurs(generation)),
    [false, true, false, true, false, false, false],
  );
  assert.equal(own.isOurs(8), false);
  const areOurs = (after: number, last: number) => own.areOurs({ after, last });
  assert.deepEqual(
    [areOurs(7, 8), areOurs(7, 9), areOurs(8, 9), areOurs(9, 11), areOurs(9, 9), areOurs(11, 12)],
    [true, false, false, false, true, false],
  );
  await assert.rejects(
    own.during(async () => Promise.reject(new Error('refused'))),
    /refused/,
  );
});

it('a generation that cannot be read: the result is that of the transaction, whose generation counts as that of another program', async () => {
  for (const nth of [1, 2]) {
    let id = 7;
    let reads = 0;
    const own = new OwnGenerations({
      async generation() {
        if (++reads === nth) throw new NetlinkError({ code: 'ENOBUFS', operation: 'nftables.generation' });
        return { id, pid: 0, program: '' };
      },
    });
    const results: Result[] = [];
    const send = async () => {
      id++;
      return results;
    };
    assert.equal(await own.during(send), results);
    assert.equal(own.isOurs(8), false);
    await own.during(send);
    assert.equal(own.isOurs(9), true);
  }
});

it('a change that the kernel refuses because its table is gone has the mode look, and ask for a full pass', async () => {
  const nftables = new FakeNftables();
  const mode = createNftablesMode({ nftables }, { ...NFTABLES_DEFAULTS, families: [4] });
  const operations = between([IDLE], [IDLE, ...WEB]);
  const known = itemMap([{ kind: 'table', family: 4 }]);
  await nftables.apply([{ do: 'addTable', table: { family: 'ip', name: 'kube-proxy' } }]);
  const checks: DisturbedCheck<Item>[] = [];
  const watch = await mode.watch?.({ disturbed: (check) => checks.push(check) });
  await nftables.deleteTable({ family: 'ip', name: 'kube-proxy' });
  await new Promise(setImmediate);
  checks.splice(0); // The notification of the deletion, which may be lost.
  const results = await mode.apply(operations);
  watch?.close();
  assert.deepEqual([...new Set(results.map((error) => error?.code))], ['ENOENT']);
  assert.deepEqual(await Promise.all(checks.map((check) => check(known))), [true]);
});
