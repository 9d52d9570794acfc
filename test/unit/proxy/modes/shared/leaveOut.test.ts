// Refused rules: only their Service is left out, in few restores.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NetlinkError } from '../../../../../src/kernel/errors.js';
import type { IptablesOperation } from '../../../../../src/kernel/iptables/types.js';
import { FakeIptables } from '../../../../../src/kernel/testing/index.js';
import type { OwnedChange } from '../../../../../src/proxy/modes/iptables/plan/operations.js';
import { restore as restoreOf } from '../../../../../src/proxy/modes/iptables/program/apply.js';
import { codesOf } from '../../../../support/contract/iptables.js';

const BAD = '-m knp -j RETURN';

function chain(name: string, ...rules: string[]): IptablesOperation {
  return { do: 'setChain', chain: { family: 4, table: 'nat', name, rules } };
}

function rule(verb: 'insertRule' | 'deleteRule', text: string): IptablesOperation {
  return { do: verb, rule: { family: 4, table: 'nat', chain: 'SHARED', text } };
}

/** A chain and a rule of a Service; the chain is refused if the Service is bad. */
function service(number: number, isBad: boolean): OwnedChange[] {
  const owner = `demo/s${number}`;
  return [
    { operation: chain(`S${number}`, isBad ? BAD : '-j NODE'), service: owner },
    { operation: rule('insertRule', `-d 10.96.0.${number} -j S${number}`), service: owner },
  ];
}

const NODE: readonly OwnedChange[] = [
  { operation: chain('NODE', '-j RETURN'), service: undefined },
  { operation: chain('SHARED'), service: undefined },
];

/** A family with refused rules. Legacy iptables may name only COMMIT: `unnamed`. */
function setUp({ unnamed = false } = {}) {
  const iptables = new FakeIptables();
  iptables.refuse = (_chain, text) => (text === BAD ? 'no such match' : undefined);
  const restore = iptables.restore.bind(iptables);
  if (unnamed) {
    iptables.restore = async (family, operations) => {
      const results = await restore(family, operations);
      const error = results.find((result) => result?.code === 'ERR_PROCESS');
      return error ? operations.map(() => error) : results;
    };
  }
  const apply = (changes: readonly OwnedChange[]) => restoreOf(iptables, 4, changes);
  return { iptables, apply };
}

/** The Services, of so many, with these bad ones. The Services precede the node, which they need. */
const changesOf = (count: number, bad: readonly number[]) => [
  ...Array.from({ length: count }, (_, i) => service(i, bad.includes(i))).flat(),
  ...NODE,
];

/** The Services that failed. All changes of a Service have the same result. */
function failedServices(changes: readonly OwnedChange[], codes: readonly string[]): number[] {
  const failed = new Set<number>();
  for (const [i, { service: owner }] of changes.entries()) {
    if (codes[i] !== 'ok') failed.add(owner === undefined ? -1 : Number(owner.slice('demo/s'.length)));
  }
  for (const [i, { service: owner }] of changes.entries()) {
    if (owner !== undefined && failed.has(Number(owner.slice('demo/s'.length)))) {
      assert.equal(codes[i], 'ERR_PROCESS');
    }
  }
  return [...failed].sort((a, b) => a - b);
}

for (const { title, bad, unnamed, most } of [
  { title: 'nothing refused', bad: [], unnamed: false, most: 1 },
  { title: 'one Service', bad: [7], unnamed: false, most: 2 },
  { title: 'three Services', bad: [0, 7, 99], unnamed: false, most: 4 },
  { title: 'ten Services', bad: [1, 2, 3, 20, 40, 41, 42, 60, 80, 99], unnamed: false, most: 20 },
  { title: 'one Service that is not named', bad: [7], unnamed: true, most: 17 },
  { title: 'three Services that are not named', bad: [0, 7, 99], unnamed: true, most: 45 },
]) {
  it(`${title} of 100: the others are programmed`, async () => {
    const { iptables, apply } = setUp({ unnamed });
    const changes = changesOf(100, bad);
    const codes = codesOf(await apply(changes));
    assert.deepEqual(failedServices(changes, codes), bad);
    assert.ok(iptables.restores <= most, `${iptables.restores} restores`);
    const rules = await iptables.save(4);
    assert.equal(rules.get('nat/SHARED')?.length, 100 - bad.length);
    for (const number of bad) assert.equal(rules.has(`nat/S${number}`), false);
  });
}

it('a refused chain of the node fails alone, and so do the Services that need it', async () => {
  const { iptables, apply } = setUp();
  const changes = [{ operation: chain('OTHER', BAD), service: undefined }, ...changesOf(3, [])];
  assert.deepEqual(codesOf(await apply(changes)), ['ERR_PROCESS', ...Array(8).fill('ok')]);
  assert.equal(iptables.restores, 2);
});

it('a rule that cannot be deleted keeps its chain', async () => {
  const { iptables, apply } = setUp();
  await apply([...NODE, ...service(1, false)]);
  const removal: OwnedChange[] = [
    { operation: rule('deleteRule', '-j NOWHERE'), service: undefined },
    {
      operation: { do: 'deleteChain', chain: { family: 4, table: 'nat', name: 'NODE' } },
      service: undefined,
    },
    ...service(2, false),
  ];
  assert.deepEqual(codesOf(await apply(removal)), ['ERR_PROCESS', 'ERR_PROCESS', 'ok', 'ok']);
  assert.deepEqual((await iptables.save(4)).get('nat/NODE'), ['-j RETURN']);
});

for (const code of ['ERR_UNKNOWN_OUTCOME', 'ENOENT']) {
  it(`makes no second attempt after ${code}, of which no change is the cause`, async () => {
    const { iptables, apply } = setUp();
    iptables.fault = (operation, target) => new NetlinkError({ code, operation, target });
    const codes = codesOf(await apply(changesOf(10, [])));
    assert.ok(codes.every((each) => each === code));
    assert.equal(iptables.restores, 1);
  });
}

it('makes a bounded number of restores if every Service is refused', async () => {
  for (const unnamed of [false, true]) {
    const { iptables, apply } = setUp({ unnamed });
    const all = Array.from({ length: 1000 }, (_, i) => i);
    const changes = changesOf(1000, all);
    const codes = codesOf(await apply(changes));
    assert.deepEqual(failedServices(changes, codes), all);
    assert.ok(iptables.restores <= 64, `${iptables.restores} restores`);
    assert.deepEqual((await iptables.save(4)).get('nat/NODE'), ['-j RETURN']);
  }
});
