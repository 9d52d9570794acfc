// The look for tables that another program flushed.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it, mock } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { FakeIptables } from '../../../../../src/kernel/testing/index.js';
import { createIptablesMode, IPTABLES_DEFAULTS } from '../../../../../src/proxy/modes/iptables/index.js';
import { type Item, itemMap } from '../../../../../src/proxy/modes/iptables/plan/items.js';
import { observeRules } from '../../../../../src/proxy/modes/iptables/program/observeRules.js';
import { watchTables } from '../../../../../src/proxy/modes/iptables/program/tampering.js';
import type { DisturbedCheck } from '../../../../../src/proxy/modes/mode.js';
import { edit } from '../../../../support/fakes/tamperRules.js';
import { scenarios } from '../../../../support/oracle/oracle.js';
import { FakeIptablesNode } from '../../../../support/oracle/testNode.js';

const PERIOD = 30_000;

let kernel: FakeIptablesNode['kernel'];
let iptables: FakeIptables;
let known: ReadonlyMap<string, Item>;
let checks: DisturbedCheck<Item>[];
let mark: string | undefined;
let watch: { close(): void };

beforeEach(async () => {
  const [scenario] = scenarios('iptables');
  assert.ok(scenario);
  const node = new FakeIptablesNode(scenario);
  assert.deepEqual((await node.sync()).failures, []);
  kernel = node.kernel;
  iptables = kernel.iptables;
  const items: Item[] = [];
  for (const family of [4, 6] as const)
    for await (const piece of observeRules(family, iptables)) items.push(...piece);
  known = itemMap(items);
  checks = [];
  mock.timers.enable({ apis: ['setInterval'] });
  const options = { ...IPTABLES_DEFAULTS, auditPeriod: PERIOD };
  mark = undefined;
  watch = await watchTables(iptables, async () => mark, options, {
    disturbed: (check) => checks.push(check),
  });
});

afterEach(() => {
  watch.close();
  mock.timers.reset();
});

/** Whether each family is found to be disturbed in the next period. */
async function look(): Promise<boolean[]> {
  checks.length = 0;
  mock.timers.tick(PERIOD);
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.all(checks.map((check) => check(known)));
}

/** Deletes all rules of a table, and with `chains` also its chains. */
function flush(family: 4 | 6, flushed: string, chains: boolean): void {
  let table = '';
  edit(iptables, family, (line) => {
    if (line.startsWith('*')) table = line.slice(1);
    const deleted = line.startsWith('-A ') || (chains && line.startsWith(':KUBE-'));
    return table === flushed && deleted ? [] : [line];
  });
}

it('an untouched node is not disturbed', async () => {
  assert.deepEqual(await look(), [false, false]);
  assert.deepEqual(await look(), [false, false]);
});

for (const table of ['nat', 'filter'])
  for (const chains of [false, true])
    it(`the flush of table ${table}${chains ? ' with its chains' : ''} is found in its family`, async () => {
      flush(6, table, chains);
      assert.deepEqual(await look(), [false, true]);
    });

it('nothing is looked at while the mark of all rules is the same', async () => {
  for (const [now, looks] of [
    ['a', 2],
    ['a', 0],
    ['b', 2],
    [undefined, 2],
    [undefined, 2],
    ['b', 2],
    ['b', 0],
  ] as const) {
    mark = now;
    assert.equal((await look()).length, looks);
  }
});

it('a jump that is not known to exist is not missed', async () => {
  flush(4, 'nat', false);
  known = new Map([...known].filter(([, item]) => item.kind !== 'rule' || item.table !== 'nat'));
  assert.deepEqual(await look(), [false, false]);
});

it('an error of iptables rejects: the caller reads everything', async () => {
  const error = new NetlinkError({ code: 'ERR_PROCESS', operation: 'iptables.listRules' });
  iptables.readFault = (operation) => (operation === 'iptables.listRules' ? error : undefined);
  await assert.rejects(look(), error);
});

it('nothing is looked at after the end', async () => {
  watch.close();
  assert.deepEqual(await look(), []);
});

it('a deleted jump in OUTPUT alone is found', async () => {
  edit(iptables, 4, (line) => (/^-A OUTPUT .*-j KUBE-SERVICES$/.test(line) ? [] : [line]));
  assert.deepEqual(await look(), [true, false]);
});

it('a deletion that fails because its table was flushed starts a look at once', async () => {
  const mode = createIptablesMode(kernel, { ...IPTABLES_DEFAULTS, auditPeriod: PERIOD });
  const looks: DisturbedCheck<Item>[] = [];
  const own = await mode.watch?.({ disturbed: (check) => looks.push(check) });
  const rule = {
    family: 4,
    table: 'nat',
    chain: 'KUBE-SERVICES',
    text: '-d 10.96.0.99/32 -j KUBE-SVC-GONE',
  } as const;
  const call = {
    on: 'iptables',
    family: 4,
    operation: { do: 'deleteRule', rule },
    service: 'demo/gone',
  } as const;
  flush(4, 'nat', false);
  const results = await mode.apply([{ key: 'rule', phase: 'deleteRules', call, becomes: undefined }]);
  own?.close();
  assert.deepEqual(
    results.map((error) => error?.code),
    ['ERR_PROCESS'],
  );
  assert.deepEqual(await Promise.all(looks.map((check) => check(known))), [true]);
});
